// SwiGLU feed-forward: w2 (silu(w1 x) * w3 x).
#pragma once

#include <ATen/core/Tensor.h>

#include "tbench/model/weights.hpp"

namespace tbench::model {

/// silu written as x * sigmoid(x).
/// @param x  [batch, context, d_model]
/// @return   [batch, context, d_model]
/// @see      Shazeer (arXiv:2002.05202)
[[nodiscard]] at::Tensor eager_swiglu(const at::Tensor& x, const FeedForwardWeights& weights);

/// ATen's silu; under autocast the input is cast once for both products.
[[nodiscard]] at::Tensor fused_swiglu(const at::Tensor& x, const FeedForwardWeights& weights);

}  // namespace tbench::model
