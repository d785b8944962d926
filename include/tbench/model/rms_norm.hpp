// Root mean square normalisation over the last dimension: x / sqrt(mean(x^2) + eps) * weight.
#pragma once

#include <ATen/core/Tensor.h>

namespace tbench::model {

inline constexpr double kRmsNormEpsilon = 1e-5;

/// Elementary operations in float32 (float64 for float64 input); the result has the input's dtype.
/// @param x       [..., d_model]
/// @param weight  [d_model]
/// @see           Zhang and Sennrich (arXiv:1910.07467)
[[nodiscard]] at::Tensor eager_rms_norm(const at::Tensor& x, const at::Tensor& weight);

/// ATen's rms_norm. Autocast does not list it: input and weight must have the same dtype.
[[nodiscard]] at::Tensor fused_rms_norm(const at::Tensor& x, const at::Tensor& weight);

}  // namespace tbench::model
