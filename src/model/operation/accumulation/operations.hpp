// What the operations of this folder share: a file each, one function to make it.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "tbench/model/operation/accumulation.hpp"

namespace tbench::model {

[[nodiscard]] std::unique_ptr<Operation> make_repeated_sum(const AccumulationConfig& config);
[[nodiscard]] std::unique_ptr<Operation> make_vector_sum(const AccumulationConfig& config);
[[nodiscard]] std::unique_ptr<Operation> make_long_matmul(const AccumulationConfig& config);

/// Why the device has no numbers of the config's formats, or nothing. A CPU has them all.
[[nodiscard]] std::optional<std::string> format_unsupported_reason(const AccumulationConfig& config);
/// The dtype that stores numbers of a format.
[[nodiscard]] at::ScalarType storage_dtype(Precision format);

/// A sum that has to be `expected` to the last bit. Two NaN are not the same.
[[nodiscard]] Verification exact_verdict(double actual, double expected, std::string reference);

}  // namespace tbench::model
