// Comparison of what only moves data, which leaves no room for an error.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "tbench/core/record.hpp"

namespace tbench::model {

/// Passes if all elements are equal, and none is NaN. The same shape, dtype and device; needs a byte an element.
/// Synchronises.
/// @param reference  what Verification::reference says
[[nodiscard]] Verification verify_equal(const std::string& name, const at::Tensor& actual, const at::Tensor& expected,
                                        std::string reference);

}  // namespace tbench::model
