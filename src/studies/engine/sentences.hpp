// Numbers in sentences: the extremes of a figure over model sizes, and the growth of a figure along an axis.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// The smallest and the largest value of a figure, each with the name of its case.
struct NamedRange {
  std::size_t count{};
  double low{};
  double high{};
  std::string of_low;
  std::string of_high;

  /// Adds a value of the case with this name.
  void add(double value, const std::string& of);
  /// Returns `1.97 (small) to 2.08 (xl)`, or `1.97 (small)` for a single value.
  /// @param unit  follows each number after a blank; may be empty
  [[nodiscard]] std::string text(const std::string& unit = "") const;
};

/// Returns the extremes of a figure over the sizes of the cases that have all the parameters. The result has count 0 if
/// no such case has the figure.
[[nodiscard]] NamedRange range_over_sizes(const StudyMeasurements& all,
                                          const std::vector<CaseId::Parameter>& parameters,
                                          const std::function<std::optional<double>(const CaseId&)>& figure);

/// The exponent of a figure between two values of an axis: log(y2 / y1) / log(x2 / x1).
struct Growth {
  std::string from;  // the two values of the axis
  std::string to;
  double exponent{};
};

/// Returns the growth between the two largest values of `key` among the cases with all the parameters that have the
/// figure, or nullopt if there are fewer than two.
[[nodiscard]] std::optional<Growth> growth_over(const StudyMeasurements& all, const std::string& key,
                                                const std::vector<CaseId::Parameter>& parameters,
                                                const std::function<std::optional<double>(const CaseId&)>& figure);

/// Returns a counter's median with another value of one parameter over the case's own; nullopt without both.
/// @param base  the other value of `key`
[[nodiscard]] std::optional<double> factor_over(const StudyMeasurements& all, const CaseId& id, const std::string& key,
                                                const std::string& base, const std::string& counter);

/// Returns how many times as fast the case is as with another value of one parameter, by the GPU's own time; nullopt
/// without both times.
/// @param base  the other value of `key`
[[nodiscard]] std::optional<double> gain_over(const StudyMeasurements& all, const CaseId& id, const std::string& key,
                                              const std::string& base);

/// Returns whether the host limits one of the case's times on a GPU.
[[nodiscard]] bool is_limited_by_host(const StudyMeasurements& all, const CaseId& id);

/// Returns whether the case has all the parameters.
[[nodiscard]] bool has_all(const CaseId& id, const std::vector<CaseId::Parameter>& parameters);

}  // namespace tbench::studies
