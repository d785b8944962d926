// Token embedding: rows of a table.
#pragma once

#include <ATen/core/Tensor.h>

namespace tbench::model {

/// Indexing, as the course writes it: the backward pass is an accumulating index_put.
/// @param weight  [vocab_size, d_model]
/// @param tokens  [batch, context] int64, within the vocabulary
/// @return        [batch, context, d_model]
[[nodiscard]] at::Tensor eager_embedding(const at::Tensor& weight, const at::Tensor& tokens);

/// ATen's embedding, with a backward kernel of its own. Same shapes.
[[nodiscard]] at::Tensor fused_embedding(const at::Tensor& weight, const at::Tensor& tokens);

}  // namespace tbench::model
