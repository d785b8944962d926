// The transformer and its pre-norm block, for any choice of layer variants.
#pragma once

#include <ATen/core/Tensor.h>

#include "model/layers/attention.hpp"
#include "model/layers/parameters.hpp"

namespace tbench::model {

/// One function per layer; the layers' headers define the shapes. None of the functions synchronises.
struct LayerOps {
  at::Tensor (*embedding)(const at::Tensor& weight, const at::Tensor& tokens);
  at::Tensor (*rms_norm)(const at::Tensor& x, const at::Tensor& weight);
  at::Tensor (*attention)(const at::Tensor& x, const AttentionWeights& weights, const AttentionConstants& constants);
  at::Tensor (*feed_forward)(const at::Tensor& x, const FeedForwardWeights& weights);
  at::Tensor (*cross_entropy)(const at::Tensor& logits, const at::Tensor& targets);
  AttentionConstants (*make_attention_constants)(const AttentionConstantsConfig& config);
};

/// Runs one block: x + attention(norm(x)), then x + feed_forward(norm(x)).
/// @param x  [batch, context, d_model], the residual stream
/// @return   the same shape and dtype
[[nodiscard]] at::Tensor block(const LayerOps& ops, const at::Tensor& x, const BlockWeights& weights,
                               const AttentionConstants& constants);

/// Runs the embedding, the blocks, the final norm and the LM head, which has its own weights.
/// @param tokens  [batch, context] int64
/// @return        logits [batch, context, vocab_size]
[[nodiscard]] at::Tensor transformer(const LayerOps& ops, const at::Tensor& tokens, const ModelWeights& weights,
                                     const AttentionConstants& constants);

}  // namespace tbench::model
