#include "model/torch/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tbench::model {

double sum_bound(double count, double budget) { return std::sqrt(2.0 * std::log(2.0 * count / budget)); }

double walk_bound(double count, double budget) {
  constexpr double kOffset = 0.73;  // 1/2 from the optimal x, plus ln(pi / 2) / 2 from sin(x) >= 2 x / pi
  constexpr int kIterations = 5;    // of a fixed-point iteration whose slope is 1 / (pi t)
  const double logarithm = std::log(2.0 * count / budget);
  double t = logarithm;
  for (int i = 0; i < kIterations; ++i) t = (logarithm + kOffset + std::log(2.0 * t) / 2.0) * 2.0 / std::numbers::pi;
  return t;
}

double walk_roundoffs(double terms) { return kRoundingRms * (terms + 1.0) / std::sqrt(terms); }

double product_spread(double terms, double count, double budget) {
  constexpr double kVariance = 8.0;
  const double z = sum_bound(count, budget), largest = z * z / 2.0;
  return std::sqrt(1.0 + z * std::sqrt(kVariance / terms) + largest * largest / terms);
}

double norm_fluctuation(double degrees, double budget) {
  const double x = -std::log(budget);
  return std::sqrt(1.0 + 2.0 * std::sqrt(x / degrees) + 2.0 * x / degrees);
}

double norm_shortfall(double degrees, double budget) {
  return std::sqrt(std::max(0.0, 1.0 - 2.0 * std::sqrt(-std::log(budget) / degrees)));
}

double student_bound(double deviations, double degrees) {
  return std::sqrt(degrees * std::expm1(deviations * deviations / degrees));
}

}  // namespace tbench::model
