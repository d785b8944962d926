// The subjects of the Autocast family, a file each.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>
#include <string>

#include "model/operations/operation_case.hpp"
#include "tbench/model/autocast_case.hpp"

namespace tbench::model {

[[nodiscard]] std::unique_ptr<Case> make_toy_autocast(const AutocastConfig& config);
[[nodiscard]] std::unique_ptr<Case> make_transformer_autocast(const AutocastConfig& config);

/// Why the device has no autocast in the config's precision, or nothing. A CPU has both.
[[nodiscard]] std::optional<std::string> autocast_unsupported_reason(const AutocastConfig& config);

/// The dtypes of tensors, each once; `none` for one that is not there.
[[nodiscard]] std::string dtypes_of_tensors(std::span<const at::Tensor> tensors);
[[nodiscard]] std::string dtypes_of_gradients(std::span<const at::Tensor> parameters);

}  // namespace tbench::model
