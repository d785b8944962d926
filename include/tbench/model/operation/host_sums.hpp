// Sums of known order on the host, rounded to a number format after every operation: what the device's sums have to be,
// bit by bit. Shares no code with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tbench/core/precision.hpp"

namespace tbench::model {

/// `x` rounded to the nearest number of `format` (kFp32, kFp16, kBf16), ties to even; infinite beyond the largest.
[[nodiscard]] float rounded_to(float x, Precision format);

/// `times` additions of `addend` to 0.
[[nodiscard]] float repeated_sum(float addend, std::int64_t times, Precision accumulator);

/// The orders are those of kernels::SumOrder. Terms are rounded to the accumulator's format first.
[[nodiscard]] float sequential_sum(std::span<const float> terms, Precision accumulator);
[[nodiscard]] float kahan_sum(std::span<const float> terms, Precision accumulator);
/// @param lanes  a power of two
[[nodiscard]] float pairwise_sum(std::span<const float> terms, std::size_t lanes, Precision accumulator);

}  // namespace tbench::model
