// The layers of a transformer but for attention, each as the course writes it (`eager_`: elementary operations) and by
// the best operators of stock LibTorch (`fused_`). None synchronises.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/layers/parameters.hpp"

namespace tbench::model {

// Rotary position embedding: the pair (x[2i], x[2i+1]) at position p turns by the angle p * theta^(-2i / head_dim).

inline constexpr double kRopeTheta = 10'000.0;

struct RopeTable {
  at::Tensor cos, sin;  // [context, head_dim / 2]
};

/// Angles are computed in float64 and rounded once. Copies to the device: not for a step.
[[nodiscard]] RopeTable make_rope_table(std::int64_t context, std::int64_t head_dim, const at::TensorOptions& options);

/// cos + i sin of the same angles, [context, 1, 1, head_dim / 2], of the complex type of `options`' dtype.
[[nodiscard]] at::Tensor make_rope_rotation(std::int64_t context, std::int64_t head_dim,
                                            const at::TensorOptions& options);

/// Elementary operations on the even and the odd elements. The result has the promoted dtype of x and the table.
/// @param x  [batch, heads, context, head_dim]
/// @see      Su et al., RoFormer (arXiv:2104.09864), section 3.4.2
[[nodiscard]] at::Tensor eager_rope(const at::Tensor& x, const RopeTable& table);

/// One complex product, with a cast before and after it for 16-bit input: a third of the launches.
/// @param x  [batch, context, n, heads, head_dim], the last dimension contiguous: n tensors (q and k) at once
[[nodiscard]] at::Tensor fused_rope(const at::Tensor& x, const at::Tensor& rotation);

// Token embedding: rows of a table.

/// Indexing, as the course writes it: the backward pass is an accumulating index_put.
/// @param weight  [vocab_size, d_model]
/// @param tokens  [batch, context] int64, within the vocabulary
/// @return        [batch, context, d_model]
[[nodiscard]] at::Tensor eager_embedding(const at::Tensor& weight, const at::Tensor& tokens);

/// ATen's embedding, with a backward kernel of its own. Same shapes.
[[nodiscard]] at::Tensor fused_embedding(const at::Tensor& weight, const at::Tensor& tokens);

// Root mean square normalisation over the last dimension: x / sqrt(mean(x^2) + eps) * weight.

inline constexpr double kRmsNormEpsilon = 1e-5;

/// Elementary operations in float32 (float64 for float64 input); the result has the input's dtype.
/// @param x       [..., d_model]
/// @param weight  [d_model]
/// @see           Zhang and Sennrich (arXiv:1910.07467)
[[nodiscard]] at::Tensor eager_rms_norm(const at::Tensor& x, const at::Tensor& weight);

/// ATen's rms_norm. Autocast does not list it: input and weight must have the same dtype.
[[nodiscard]] at::Tensor fused_rms_norm(const at::Tensor& x, const at::Tensor& weight);

// SwiGLU feed-forward: w2 (silu(w1 x) * w3 x).

/// silu written as x * sigmoid(x).
/// @param x  [batch, context, d_model]
/// @return   [batch, context, d_model]
/// @see      Shazeer (arXiv:2002.05202)
[[nodiscard]] at::Tensor eager_swiglu(const at::Tensor& x, const FeedForwardWeights& weights);

/// ATen's silu; under autocast the input is cast once for both products.
[[nodiscard]] at::Tensor fused_swiglu(const at::Tensor& x, const FeedForwardWeights& weights);

// Mean cross entropy of next tokens: log(sum(exp(logits))) - logits[target].

/// Elementary operations, the maximum subtracted first.
/// @param logits   [batch, context, vocab_size]
/// @param targets  [batch, context] int64
/// @return         scalar
[[nodiscard]] at::Tensor eager_cross_entropy(const at::Tensor& logits, const at::Tensor& targets);

/// ATen's cross_entropy_loss (float32 under autocast).
[[nodiscard]] at::Tensor fused_cross_entropy(const at::Tensor& logits, const at::Tensor& targets);

}  // namespace tbench::model
