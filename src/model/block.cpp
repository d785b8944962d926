#include "tbench/model/block.hpp"

namespace tbench::model {

at::Tensor block(const LayerOps& ops, const at::Tensor& x, const BlockWeights& weights, const AttentionTables& tables) {
  const at::Tensor attended = x.add(ops.attention(ops.rms_norm(x, weights.ln1), weights.attention, tables));
  return attended.add(ops.feed_forward(ops.rms_norm(attended, weights.ln2), weights.feed_forward));
}

}  // namespace tbench::model
