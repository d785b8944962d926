#include "tbench/model/transformer.hpp"

#include <ATen/ops/linear.h>

#include "tbench/model/block.hpp"

namespace tbench::model {

at::Tensor transformer(const LayerOps& ops, const at::Tensor& tokens, const ModelWeights& weights,
                       const AttentionTables& tables) {
  at::Tensor x = ops.embedding(weights.token_embeddings, tokens);
  for (const auto& layer : weights.blocks) x = block(ops, x, layer, tables);
  return at::linear(ops.rms_norm(x, weights.ln_final), weights.lm_head);
}

}  // namespace tbench::model
