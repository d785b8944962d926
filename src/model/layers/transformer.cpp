#include "model/layers/transformer.hpp"

#include <ATen/ops/linear.h>

#include "tbench/cuda/range.hpp"

namespace tbench::model {

using cuda::in_range;

at::Tensor block(const LayerOps& ops, const at::Tensor& x, const BlockWeights& weights,
                 const AttentionConstants& constants) {
  const auto norm = [&](const at::Tensor& input, const at::Tensor& weight) {
    return in_range("norm", [&] { return ops.rms_norm(input, weight); });
  };
  const auto attention = [&](const at::Tensor& input) {
    return in_range("attention", [&] { return ops.attention(input, weights.attention, constants); });
  };
  const auto feed_forward = [&](const at::Tensor& input) {
    return in_range("ffn", [&] { return ops.feed_forward(input, weights.feed_forward); });
  };
  const at::Tensor attended = x.add(attention(norm(x, weights.ln1)));
  return attended.add(feed_forward(norm(attended, weights.ln2)));
}

at::Tensor transformer(const LayerOps& ops, const at::Tensor& tokens, const ModelWeights& weights,
                       const AttentionConstants& constants) {
  at::Tensor x = in_range("embedding", [&] { return ops.embedding(weights.token_embeddings, tokens); });
  for (const auto& layer : weights.blocks) {
    const cuda::Range range{layer.name.c_str()};
    x = block(ops, x, layer, constants);
  }
  const at::Tensor normed = in_range("norm", [&] { return ops.rms_norm(x, weights.ln_final); });
  return in_range("lm_head", [&] { return at::linear(normed, weights.lm_head); });
}

}  // namespace tbench::model
