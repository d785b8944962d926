// The layers of a transformer except attention, each in two variants: elementary operations as in the course
// (`eager_`), and the best operators of stock LibTorch (`fused_`). No layer synchronises.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/layers/parameters.hpp"

namespace tbench::model {

// Rotary position embedding: the pair (x[2i], x[2i+1]) at position p is rotated by the angle p * theta^(-2i /
// head_dim).

struct RopeTable {
  at::Tensor cos, sin;  // [context, head_dim / 2]
};

/// Makes the table. Angles are computed in float64, and the results are rounded once. Copies to the device, so do not
/// call it in a step.
[[nodiscard]] RopeTable make_rope_table(std::int64_t context, std::int64_t head_dim, const at::TensorOptions& options,
                                        double theta = kRopeTheta);

/// Returns cos + i sin of the same angles, [context, 1, 1, head_dim / 2], in the complex type of `options`' dtype.
[[nodiscard]] at::Tensor make_rope_rotation(std::int64_t context, std::int64_t head_dim,
                                            const at::TensorOptions& options, double theta = kRopeTheta);

/// Rotates by elementary operations on the even and the odd elements. The result has the promoted dtype of x and the
/// table.
/// @param x  [batch, heads, context, head_dim]
/// @see      Su et al., RoFormer (arXiv:2104.09864), section 3.4.2
[[nodiscard]] at::Tensor eager_rope(const at::Tensor& x, const RopeTable& table);

/// Rotates by one complex product, with a cast before and after it for 16-bit input. Needs a third of eager_rope()'s
/// launches.
/// @param x  [batch, context, n, heads, head_dim], contiguous in the last dimension; holds n tensors (q and k)
[[nodiscard]] at::Tensor fused_rope(const at::Tensor& x, const at::Tensor& rotation);

// Token embedding: rows of a table.

/// Looks up rows by indexing, as in the course; the backward pass is an accumulating index_put.
/// @param weight  [vocab_size, d_model]
/// @param tokens  [batch, context] int64, within the vocabulary
/// @return        [batch, context, d_model]
[[nodiscard]] at::Tensor eager_embedding(const at::Tensor& weight, const at::Tensor& tokens);

/// Looks up rows by ATen's embedding, which has its own backward kernel. Shapes as in eager_embedding().
[[nodiscard]] at::Tensor fused_embedding(const at::Tensor& weight, const at::Tensor& tokens);

// Root mean square normalisation over the last dimension: x / sqrt(mean(x^2) + eps) * weight.

inline constexpr double kRmsNormEpsilon = 1e-5;

/// Normalises by elementary operations in float32 (float64 for float64 input); the result has the input's dtype.
/// @param x       [..., d_model]
/// @param weight  [d_model]
/// @see           Zhang and Sennrich (arXiv:1910.07467)
[[nodiscard]] at::Tensor eager_rms_norm(const at::Tensor& x, const at::Tensor& weight);

/// Normalises by ATen's rms_norm. Autocast does not cast its inputs, so input and weight must have the same dtype.
[[nodiscard]] at::Tensor fused_rms_norm(const at::Tensor& x, const at::Tensor& weight);

// SwiGLU feed-forward: w2 (silu(w1 x) * w3 x).

/// Computes silu as x * sigmoid(x).
/// @param x  [batch, context, d_model]
/// @return   [batch, context, d_model]
/// @see      Shazeer (arXiv:2002.05202)
[[nodiscard]] at::Tensor eager_swiglu(const at::Tensor& x, const FeedForwardWeights& weights);

/// Computes silu by ATen's operator; under autocast, the input is cast once for both products.
[[nodiscard]] at::Tensor fused_swiglu(const at::Tensor& x, const FeedForwardWeights& weights);

// Mean cross entropy of next tokens: log(sum(exp(logits))) - logits[target].

/// Computes the loss by elementary operations, after subtracting the maximum.
/// @param logits   [batch, context, vocab_size]
/// @param targets  [batch, context] int64
/// @return         scalar
[[nodiscard]] at::Tensor eager_cross_entropy(const at::Tensor& logits, const at::Tensor& targets);

/// Computes the loss by ATen's cross_entropy_loss (float32 under autocast).
[[nodiscard]] at::Tensor fused_cross_entropy(const at::Tensor& logits, const at::Tensor& targets);

}  // namespace tbench::model
