// The registry of the model's implementations: which variant of every layer each one takes, or its own passes. A new
// one is a file in implementations/, which registers it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/layers/parameters.hpp"
#include "model/layers/transformer.hpp"
#include "model/torch/registry.hpp"
#include "model/training/model_passes.hpp"
#include "model/training/optimizer.hpp"
#include "tbench/core/registration.hpp"
#include "tbench/model/model_case.hpp"

namespace tbench::model {

/// An implementation has `ops`, and autograd makes its backward pass, or else `make_passes`.
struct ModelImpl {
  std::string name;
  int order{};  // of model_impl_names(), and so of cases
  LayerOps ops{};
  std::unique_ptr<ModelPasses> (*make_passes)(const PassesInputs& inputs){};
  ParameterLayout layout;
  AdamWVariant optimizer{};
  /// Returns why the implementation does not support `config` on a device that exists and knows the precision. May be
  /// null.
  std::optional<std::string> (*unsupported_reason)(const ModelConfig& config);
};

/// All of them, in the order of model_impl_names().
[[nodiscard]] Registry<ModelImpl>& model_impls();

/// Returns the implementation that the case names.
/// @throws  UsageError  as make_model_case()
[[nodiscard]] const ModelImpl& checked_model_impl(const ModelConfig& config);

/// Returns why our attention kernels do not support the model, or nothing: for implementations that call them.
[[nodiscard]] std::optional<std::string> flash_attention_refusal(const ModelConfig& config);

}  // namespace tbench::model
