// Axes of the charts: positions of values, ticks and their labels.
#pragma once

#include <string>
#include <vector>

namespace tbench::html {

/// The positions of values on one axis. A logarithmic scale takes values above 0.
struct AxisScale {
  double low{};   // value at `from`
  double high{};  // value at `to`
  double from{};  // position in units of the picture
  double to{};
  bool is_log{};
  [[nodiscard]] double operator()(double value) const;
};

/// Returns a logarithmic scale that extends beyond the values at both ends, by 5 % of their logarithmic range, but at
/// least by a factor of 1.08. No point is then on the frame.
/// @param low  above 0
[[nodiscard]] AxisScale log_scale(double low, double high, double from, double to);

/// Returns a linear scale. It begins at 0 if the lowest value is at most half of the highest value, or if all values
/// are equal. Otherwise it begins below the lowest value, by 5 % of the range.
/// @param low  at least 0
[[nodiscard]] AxisScale linear_scale(double low, double high, double from, double to);

/// Returns the multiples between `low` and `high` of the smallest step that makes `most` steps or fewer. Steps are 1, 2
/// or 5 times a power of ten.
/// @throws  std::invalid_argument  unless low < high, both are finite, and most is at least 2
[[nodiscard]] std::vector<double> steps_between(double low, double high, int most);

/// Returns 1, 2 and 5 of every decade, or all digits if these are fewer than three values. If there is still no value,
/// returns steps_between().
/// @param low  above 0, and below `high`
[[nodiscard]] std::vector<double> log_steps(double low, double high);

/// Returns a label per value: the fewest digits, but at least six, that tell all values apart.
[[nodiscard]] std::vector<std::string> tick_labels(const std::vector<double>& values);

/// Returns the addition to an axis title for an axis that does not begin at 0: `, from 330.8`. Returns an empty text
/// for an axis from 0, and `, log` for a logarithmic scale.
[[nodiscard]] std::string origin_note(const AxisScale& scale);

}  // namespace tbench::html
