// Compares a kernel's output with its reference. Every element must be within the error that rounding explains, and so
// must the error as a whole.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "support/attention_reference.hpp"

namespace tbench::kernels {

/// Allowed distance from the reference. An element's standard deviation is the root of its variance.
struct Allowance {
  /// Allowed deviations of one element. One in 4e11 normally distributed errors is further off than 7.
  double deviations{7};
  /// Allowed root mean square of all elements' errors over their deviations. 1 is the expectation for the error model's
  /// upper bounds. Correct kernels are below it; a systematic error of one deviation is not.
  double root_mean_square{1.5};
  /// Additional allowance relative to the element, for inputs that are all equal: their rounding errors are equal, too,
  /// and add up.
  double relative{0};
};

struct Comparison {
  double worst{};             // largest error of an element, divided by its allowance
  double root_mean_square{};  // root mean square of all errors over their deviations, divided by its allowance
  /// Empty if all elements are right. If not, it names the first bad element, its index and the number of bad elements.
  std::string failure;
};

/// @param extents  [batch, heads, seq, head_dim]: to name an index, and because elements of a row share errors
/// @param actual, expected  as many elements as `extents` gives; an actual value that is not finite is a failure
[[nodiscard]] Comparison compare_outputs(std::string_view name, const std::array<std::int64_t, 4>& extents,
                                         std::span<const double> actual, std::span<const Uncertain> expected,
                                         const Allowance& allowance = {});

}  // namespace tbench::kernels
