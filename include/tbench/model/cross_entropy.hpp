// Mean cross entropy of next tokens: log(sum(exp(logits))) - logits[target].
#pragma once

#include <ATen/core/Tensor.h>

namespace tbench::model {

/// Elementary operations, the maximum subtracted first.
/// @param logits   [batch, context, vocab_size]
/// @param targets  [batch, context] int64
/// @return         scalar
[[nodiscard]] at::Tensor eager_cross_entropy(const at::Tensor& logits, const at::Tensor& targets);

/// ATen's cross_entropy_loss (float32 under autocast).
[[nodiscard]] at::Tensor fused_cross_entropy(const at::Tensor& logits, const at::Tensor& targets);

}  // namespace tbench::model
