// The registry of implementations: which variant of every layer each one takes. A new one is a file in src/model/impl/
// and a line in model_impl.cpp.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <string_view>

#include "tbench/model/adamw.hpp"
#include "tbench/model/attention.hpp"
#include "tbench/model/model_step.hpp"
#include "tbench/model/weights.hpp"

namespace tbench::model {

/// One function a layer; their shapes are those of the layers' headers. None synchronises.
struct LayerOps {
  at::Tensor (*embedding)(const at::Tensor& weight, const at::Tensor& tokens);
  at::Tensor (*rms_norm)(const at::Tensor& x, const at::Tensor& weight);
  at::Tensor (*attention)(const at::Tensor& x, const AttentionWeights& weights, const AttentionTables& tables);
  at::Tensor (*feed_forward)(const at::Tensor& x, const FeedForwardWeights& weights);
  at::Tensor (*cross_entropy)(const at::Tensor& logits, const at::Tensor& targets);
  AttentionTables (*make_attention_tables)(const AttentionTableConfig& config);
};

struct ModelImpl {
  std::string name;
  LayerOps ops;
  bool fused_qkv{};  // AttentionWeights::qkv instead of q, k, v
  AdamWVariant optimizer{};
  /// What this implementation cannot run on a device that exists and knows the precision. May be null.
  std::optional<std::string> (*unsupported_reason)(const ModelStepConfig& config);
};

[[nodiscard]] ModelImpl eager_impl();
[[nodiscard]] ModelImpl sdpa_impl();
[[nodiscard]] ModelImpl flash_impl();

/// @return  null if there is none of that name
[[nodiscard]] const ModelImpl* find_model_impl(std::string_view name);
/// Adds an implementation for as long as the process runs (tests plant faulty ones). Not thread-safe.
/// @throws  std::invalid_argument  if the name is taken
void register_model_impl(ModelImpl impl);

}  // namespace tbench::model
