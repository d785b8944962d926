// The transformer and its pre-norm block, made of whichever layers they are given, and the registry of implementations:
// which variant of every layer each one takes. A new one is a function and a line in model_impl.cpp.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/layers/attention.hpp"
#include "model/layers/parameters.hpp"
#include "model/registry.hpp"
#include "model/training/model_passes.hpp"
#include "model/training/optimizer.hpp"
#include "tbench/model/model_case.hpp"

namespace tbench::model {

/// One function per layer; the layers' headers give their shapes. None synchronises.
struct LayerOps {
  at::Tensor (*embedding)(const at::Tensor& weight, const at::Tensor& tokens);
  at::Tensor (*rms_norm)(const at::Tensor& x, const at::Tensor& weight);
  at::Tensor (*attention)(const at::Tensor& x, const AttentionWeights& weights, const AttentionTables& tables);
  at::Tensor (*feed_forward)(const at::Tensor& x, const FeedForwardWeights& weights);
  at::Tensor (*cross_entropy)(const at::Tensor& logits, const at::Tensor& targets);
  AttentionTables (*make_attention_tables)(const AttentionTableConfig& config);
};

/// One block: x + attention(norm(x)), then x + feed_forward(norm(x)).
/// @param x  [batch, context, d_model], the residual stream
/// @return   the same shape and dtype
[[nodiscard]] at::Tensor block(const LayerOps& ops, const at::Tensor& x, const BlockWeights& weights,
                               const AttentionTables& tables);

/// Embedding, blocks, final norm, separate LM head.
/// @param tokens  [batch, context] int64
/// @return        logits [batch, context, vocab_size]
[[nodiscard]] at::Tensor transformer(const LayerOps& ops, const at::Tensor& tokens, const ModelWeights& weights,
                                     const AttentionTables& tables);

/// An implementation has `ops`, and autograd makes its backward pass, or else `make_passes`.
struct ModelImpl {
  std::string name;
  LayerOps ops{};
  std::unique_ptr<ModelPasses> (*make_passes)(const PassesInputs& inputs){};
  ParameterLayout layout;
  AdamWVariant optimizer{};
  /// Returns why the implementation does not support `config` on a device that exists and knows the precision. May be
  /// null.
  std::optional<std::string> (*unsupported_reason)(const ModelConfig& config);
};

[[nodiscard]] ModelImpl eager_impl();
[[nodiscard]] ModelImpl sdpa_impl();
[[nodiscard]] ModelImpl flash_impl();
[[nodiscard]] ModelImpl fused_impl();
[[nodiscard]] ModelImpl compiled_impl();

/// All of them, in the order of model_impl_names().
[[nodiscard]] Registry<ModelImpl>& model_impls();

/// Returns the implementation that the case names.
/// @throws  UsageError  as make_model_case()
[[nodiscard]] const ModelImpl& checked_model_impl(const ModelConfig& config);

}  // namespace tbench::model
