// The registry of the model's implementations: each has a variant of every layer, or its own passes. A new
// implementation is a file in implementations/ that registers itself.
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

/// An implementation of the model. It has either `ops`, for which autograd makes the backward pass, or `make_passes`.
struct ModelImpl {
  std::string name;
  int order{};  // sort key in model_impl_names(), and so of cases
  LayerOps ops{};
  std::unique_ptr<ModelPasses> (*make_passes)(const PassesInputs& inputs){};
  ParameterLayout layout;
  AdamWVariant optimizer{};
  /// Returns why the implementation does not support `config`, on a device that exists and supports the precision. May
  /// be null.
  std::optional<std::string> (*unsupported_reason)(const ModelConfig& config);
};

/// Returns all implementations, in the order of model_impl_names().
[[nodiscard]] Registry<ModelImpl>& model_impls();

/// Returns the implementation `config.impl`.
/// @throws  UsageError  as make_model_case()
[[nodiscard]] const ModelImpl& checked_model_impl(const ModelConfig& config);

/// Returns which form of the size's layers the implementation lacks, or nullopt for plain layers
/// (ModelSize::has_plain_layers()). For implementations that have plain layers alone.
[[nodiscard]] std::optional<std::string> layers_refusal(const ModelConfig& config);

/// Returns why our attention kernels do not support the model, or nullopt if they do. For implementations that call
/// these kernels.
[[nodiscard]] std::optional<std::string> flash_attention_refusal(const ModelConfig& config);

}  // namespace tbench::model
