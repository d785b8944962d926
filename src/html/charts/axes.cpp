#include "html/charts/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <stdexcept>

#include "html/charts/charts.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::html {
namespace {

constexpr double kRounding = 1e-9;
constexpr double kMargin = 0.05;  // share of the range beyond the values

std::string label_of(double value, int digits) {
  constexpr double kThousands = 1e4;
  if (std::abs(value) >= kThousands && std::abs(value) < 1e15 && std::abs(value - std::round(value)) < kRounding) {
    return render::format_thousands(value);
  }
  return fmt::format("{:.{}g}", value, digits);
}

}  // namespace

double AxisScale::operator()(double value) const {
  const double share = is_log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return from + (to - from) * share;
}

AxisScale log_scale(double low, double high, double from, double to) {
  const double room = std::max(1.08, std::pow(high / low, kMargin));
  return {.low = low / room, .high = high * room, .from = from, .to = to, .is_log = true};
}

AxisScale linear_scale(double low, double high, double from, double to) {
  const double room = kMargin * (high - low);
  const bool begins_at_zero = 2 * low <= high || room <= 0;
  const double begin = begins_at_zero ? 0 : low - room;
  const double end = high + kMargin * (high - begin);
  return {.low = begin, .high = end > begin ? end : begin + 1, .from = from, .to = to, .is_log = false};
}

std::vector<double> steps_between(double low, double high, int most) {
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high)) {
    throw std::invalid_argument{fmt::format("steps_between: {} to {} in {} steps", low, high, most)};
  }
  const std::vector<double> whole = steps_from_zero(high - low, most);
  if (whole.size() < 2) throw std::invalid_argument{"steps_between: no step"};
  const double step = whole[1];
  std::vector<double> steps;
  for (double number = std::ceil(low / step - kRounding); number * step <= high + kRounding * step; ++number) {
    steps.push_back(number * step + 0.0);  // 0 instead of -0
  }
  return steps;
}

std::vector<double> log_steps(double low, double high) {
  const auto values = [&](auto keeps) {
    std::vector<double> found;
    for (int decade = static_cast<int>(std::floor(std::log10(low))); std::pow(10.0, decade) <= high; ++decade) {
      for (int digit = 1; digit < 10; ++digit) {
        const double value = digit * std::pow(10.0, decade);
        if (keeps(digit) && value >= low && value <= high) found.push_back(value);
      }
    }
    return found;
  };
  constexpr std::size_t kMin = 3;
  constexpr int kSteps = 5;
  std::vector<double> steps = values([](int digit) { return digit == 1 || digit == 2 || digit == 5; });
  if (steps.size() < kMin) steps = values([](int) { return true; });
  return steps.empty() ? steps_between(low, high, kSteps) : steps;
}

std::vector<std::string> tick_labels(const std::vector<double>& values) {
  constexpr int kFewest = 6;
  constexpr int kMost = 15;
  std::vector<std::string> labels;
  for (int digits = kFewest; digits <= kMost; ++digits) {
    labels.clear();
    for (const double value : values) labels.push_back(label_of(value, digits));
    if (std::set<std::string>{labels.begin(), labels.end()}.size() == labels.size()) break;
  }
  return labels;
}

std::string origin_note(const AxisScale& scale) {
  if (scale.is_log) return ", log";
  return scale.low == 0 ? "" : fmt::format(", from {}", render::format_number(scale.low));
}

}  // namespace tbench::html
