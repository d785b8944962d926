// The subjects of the Autocast family, one file per subject.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <memory>
#include <span>
#include <string>

#include "model/operations/operation_case.hpp"
#include "model/torch/dtype_observer.hpp"
#include "tbench/model/autocast_case.hpp"

namespace tbench::model {

[[nodiscard]] std::unique_ptr<Case> make_toy_autocast(const AutocastConfig& config);
[[nodiscard]] std::unique_ptr<Case> make_transformer_autocast(const AutocastConfig& config);

/// Returns why the device does not support autocast in the config's precision, or nullopt. A CPU supports both
/// precisions.
[[nodiscard]] std::optional<std::string> autocast_unsupported_reason(const AutocastConfig& config);

/// Returns the dtypes of the tensors, each once; `none` for an undefined tensor.
[[nodiscard]] std::string dtypes_of_tensors(std::span<const at::Tensor> tensors);
[[nodiscard]] std::string dtypes_of_gradients(std::span<const at::Tensor> parameters);

/// The matrix products of a backward pass, which run outside of all layer marks.
inline constexpr std::array kBackwardRoles{OperationRole{"", "aten::mm", 0, "backward products"},
                                           OperationRole{"", "aten::bmm", 0, "backward products"}};

}  // namespace tbench::model
