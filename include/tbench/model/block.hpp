// One pre-norm transformer block: x + attention(norm(x)), then x + feed_forward(norm(x)).
#pragma once

#include <ATen/core/Tensor.h>

#include "tbench/model/model_impl.hpp"

namespace tbench::model {

/// @param x  [batch, context, d_model], the residual stream
/// @return   the same shape and dtype
[[nodiscard]] at::Tensor block(const LayerOps& ops, const at::Tensor& x, const BlockWeights& weights,
                               const AttentionTables& tables);

}  // namespace tbench::model
