// Rotary position embedding: the pair (x[2i], x[2i+1]) at position p turns by the angle p * theta^(-2i / head_dim).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tbench::model {

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

}  // namespace tbench::model
