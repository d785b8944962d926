// The least traffic of a case, for its position in a roofline.
#pragma once

#include <optional>

#include "tbench/core/record.hpp"

namespace tbench::html {

/// Returns the minimum of bytes that any implementation of a case moves between memory and the GPU: the bytes that its
/// family counts, or the inputs and outputs once for matrix products and for attention's forward and backward passes.
/// Returns nullopt for other cases.
[[nodiscard]] std::optional<double> least_bytes(const Record& record);

}  // namespace tbench::html
