// Compares a kernel's output with its reference: every element within what rounding explains, and the error as a whole.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "support/attention_reference.hpp"

namespace tbench::kernels {

/// How far from the reference is close enough. An element's standard deviation is the root of its variance.
struct Allowance {
  /// Deviations for one element. Of normally distributed errors, one in 4e11 is further off than 7.
  double deviations{7};
  /// Root mean square of all elements' errors over their deviations. 1 is what is expected of the error model's upper
  /// bounds; correct kernels are below it, a systematic error of one deviation is not.
  double root_mean_square{1.5};
  /// Relative to the element, besides: for inputs that are all equal, whose rounding errors are equal, too, and add up.
  double relative{0};
};

struct Comparison {
  double worst{};             // largest error of an element over what was allowed
  double root_mean_square{};  // of all errors over their deviations, over what was allowed
  /// Empty if all is well, else what is wrong: the first bad element, its index, how many there are.
  std::string failure;
};

/// @param extents  of [batch, heads, seq, head_dim]: to name an index, and because elements of a row share errors
/// @param actual, expected  as many elements as `extents` says. An actual value that is not finite is a failure.
[[nodiscard]] Comparison compare_outputs(std::string_view name, const std::array<std::int64_t, 4>& extents,
                                         std::span<const double> actual, std::span<const Uncertain> expected,
                                         const Allowance& allowance = {});

}  // namespace tbench::kernels
