#include "model/operations/accumulation/sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace tbench::model {
namespace {

/// A 16-bit format: IEEE 754 binary16, or bfloat16, which has binary32's exponent and fewer significand bits.
struct ShortFormat {
  int significand_bits;  // including the hidden bit
  int min_exponent;      // smallest exponent of a normal number
  double largest;
};
constexpr ShortFormat kBinary16{.significand_bits = 11, .min_exponent = -14, .largest = 65504.0};
constexpr ShortFormat kBfloat16{.significand_bits = 8, .min_exponent = -126, .largest = 0x1.fep127};

/// Adds the `count` terms first, first + step, ... in pairs: the sum of the first 2^k terms, with the largest 2^k below
/// `count`, plus the sum of the other terms.
float lane_sum(std::span<const float> terms, std::size_t first, std::size_t step, std::size_t count,
               Precision accumulator) {
  if (count == 1) return rounded_to(terms[first], accumulator);
  const std::size_t half = std::bit_floor(count - 1);
  return rounded_to(lane_sum(terms, first, step, half, accumulator) +
                        lane_sum(terms, first + half * step, step, count - half, accumulator),
                    accumulator);
}

}  // namespace

float rounded_to(float x, Precision format) {
  if (format == Precision::kFp32 || x == 0.0F || !std::isfinite(x)) return x;
  const ShortFormat& target = format == Precision::kFp16 ? kBinary16 : kBfloat16;
  const int exponent = std::max(std::ilogb(x), target.min_exponent);
  const double gap = std::ldexp(1.0, exponent - (target.significand_bits - 1));
  const double nearest = std::nearbyint(static_cast<double>(x) / gap) * gap;  // exact except for the rounding itself
  if (std::abs(nearest) <= target.largest) return static_cast<float>(nearest);
  return std::copysign(std::numeric_limits<float>::infinity(), x);
}

float repeated_sum(float addend, std::int64_t times, Precision accumulator) {
  float sum = 0.0F;
  for (std::int64_t i = 0; i < times; ++i) sum = rounded_to(sum + addend, accumulator);
  return sum;
}

float sequential_sum(std::span<const float> terms, Precision accumulator) {
  float sum = 0.0F;
  for (const float term : terms) sum = rounded_to(sum + rounded_to(term, accumulator), accumulator);
  return sum;
}

float kahan_sum(std::span<const float> terms, Precision accumulator) {
  float sum = 0.0F, lost = 0.0F;
  for (const float term : terms) {
    const float corrected = rounded_to(rounded_to(term, accumulator) - lost, accumulator);
    const float next = rounded_to(sum + corrected, accumulator);
    lost = rounded_to(rounded_to(next - sum, accumulator) - corrected, accumulator);
    sum = next;
  }
  return sum;
}

float pairwise_sum(std::span<const float> terms, std::size_t lanes, Precision accumulator) {
  std::vector<float> sums(lanes, 0.0F);
  for (std::size_t lane = 0; lane < lanes && lane < terms.size(); ++lane) {
    const std::size_t count = (terms.size() - lane + lanes - 1) / lanes;
    sums[lane] = lane_sum(terms, lane, lanes, count, accumulator);
  }
  for (std::size_t stride = lanes / 2; stride > 0; stride /= 2) {
    for (std::size_t lane = 0; lane < stride; ++lane) {
      sums[lane] = rounded_to(sums[lane] + sums[lane + stride], accumulator);
    }
  }
  return sums.front();
}

}  // namespace tbench::model
