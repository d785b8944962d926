// The bytes of a roofline.
#pragma once

#include <optional>

#include "tbench/core/record.hpp"

namespace tbench::html {

/// Bytes that a case moves between memory and the GPU at the very least, whoever computes it: those that its family
/// counts; of matrix products, and of attention's forward and backward, inputs and outputs once. Nothing for other
/// cases.
[[nodiscard]] std::optional<double> least_bytes(const Record& record);

}  // namespace tbench::html
