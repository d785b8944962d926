// The shared parts of this folder's operations, each of which has a file and one function that makes it. Also sums of a
// known order on the host, rounded to a number format after every operation: the device's sums must equal them bit by
// bit. They share no code with the device's sums.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "model/operations/operation_case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/model/accumulation_case.hpp"

namespace tbench::model {

[[nodiscard]] std::unique_ptr<Case> make_repeated_sum(const AccumulationConfig& config);
[[nodiscard]] std::unique_ptr<Case> make_vector_sum(const AccumulationConfig& config);
[[nodiscard]] std::unique_ptr<Case> make_long_matmul(const AccumulationConfig& config);

/// Returns why the device does not support the config's formats, or nullopt. A CPU supports all of them.
[[nodiscard]] std::optional<std::string> format_unsupported_reason(const AccumulationConfig& config);
/// Returns the dtype that stores numbers of a format.
[[nodiscard]] at::ScalarType storage_dtype(Precision format);

/// Passes if the sum equals `expected` to the last bit. NaN equals nothing.
[[nodiscard]] Verification exact_verdict(double actual, double expected, std::string reference);

/// Returns `x` rounded to the nearest number of `format` (kFp32, kFp16, kBf16), ties to even; infinity beyond the
/// largest.
[[nodiscard]] float rounded_to(float x, Precision format);

/// Returns the result of adding `addend` to 0 `times` times.
[[nodiscard]] float repeated_sum(float addend, std::int64_t times, Precision accumulator);

/// Return the sum in one of the orders of kernels::SumOrder. Terms are rounded to the accumulator's format first.
[[nodiscard]] float sequential_sum(std::span<const float> terms, Precision accumulator);
[[nodiscard]] float kahan_sum(std::span<const float> terms, Precision accumulator);
/// Returns the pairwise sum.
/// @param lanes  number of lanes, a power of two
[[nodiscard]] float pairwise_sum(std::span<const float> terms, std::size_t lanes, Precision accumulator);

}  // namespace tbench::model
