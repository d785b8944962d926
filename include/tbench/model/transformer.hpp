// The whole forward pass: embedding, blocks, final norm, separate LM head.
#pragma once

#include <ATen/core/Tensor.h>

#include "tbench/model/model_impl.hpp"

namespace tbench::model {

/// @param tokens  [batch, context] int64
/// @return        logits [batch, context, vocab_size]
[[nodiscard]] at::Tensor transformer(const LayerOps& ops, const at::Tensor& tokens, const ModelWeights& weights,
                                     const AttentionTables& tables);

}  // namespace tbench::model
