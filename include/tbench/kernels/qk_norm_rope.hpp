// Launch functions for the norms of q and k followed by rotary position embedding. Each head of q and of k is a row:
// y = R(x rstd weight) with rstd = 1 / sqrt(mean(x^2) + epsilon), where R rotates pairs by the angles of the token's
// position. The backward pass takes x, because dividing y by the weight does not bring x back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

inline constexpr std::int64_t kQkNormMaxHeadDim = 256;

/// If head_dim, strides and pointers are multiples of 16 bytes, rows are accessed in vectors, otherwise pair by pair.
struct QkNormRopeShape {
  std::int64_t tokens{}, seq{};      // > 0; token t has position t % seq
  std::int64_t heads{}, kv_heads{};  // heads of q and of k, > 0
  std::int64_t head_dim{};           // even, 2 to kQkNormMaxHeadDim; tokens x heads x head_dim at most 2^32 - 1
  Precision precision{};             // of q, k and their gradients
  float epsilon{};
};

/// Heads of q, then of k: token t has them one after the other from element t * stride on.
struct QkHeads {
  void* data{};
  std::int64_t stride{};  // elements, even, >= (heads + kv_heads) * head_dim
};

/// The operands that both passes read.
struct QkNormRopeConstants {
  const float* q_weight{};  // [head_dim]
  const float* k_weight{};  // [head_dim]
  const float* cos{};       // [seq, head_dim / 2]
  const float* sin{};       // [seq, head_dim / 2]
};

struct QkNormRopeForward {
  QkNormRopeConstants constants;
  QkHeads x{};
  QkHeads y{};  // written: x itself, or no overlap with it
};

/// With g = R^-1(dy) weight and n = x rstd: dx = rstd (g - n mean(g n)). The weight's gradient is the sum of R^-1(dy) n
/// over the heads of all tokens.
struct QkNormRopeBackward {
  QkNormRopeConstants constants;
  QkHeads x{};         // as in the forward pass
  QkHeads dy{};        // gradient of y
  QkHeads dx{};        // written: dy itself, or no overlap with it
  float* workspace{};  // qk_norm_workspace_bytes() bytes, written: partial sums of both weights' gradients
};

/// The partial sums that qk_norm_rope_backward() left, and the destinations of their sums.
struct QkNormShares {
  const float* workspace{};
  float* dq_weight{};  // [head_dim]
  float* dk_weight{};  // [head_dim]
};
inline constexpr int kQkNormsOfALaunch = 64;  // the table is a kernel parameter of 1.5 KiB

/// Returns the bytes of the backward pass's partial sums on the current device: two rows of float32 per CTA.
/// @throws  std::invalid_argument for invalid extents; cuda::CudaError
[[nodiscard]] std::int64_t qk_norm_workspace_bytes(const QkNormRopeShape& shape);

/// Each function enqueues one launch and does not synchronise. Results are bitwise identical in every run, because sums
/// have a fixed order, without atomics.
/// @throws  std::invalid_argument  for an invalid extent, a null pointer, or rows that split pairs; cuda::CudaError
void qk_norm_rope_forward(const QkNormRopeShape& shape, const QkNormRopeForward& tensors, cudaStream_t stream);
void qk_norm_rope_backward(const QkNormRopeShape& shape, const QkNormRopeBackward& tensors, cudaStream_t stream);

/// Adds up the weights' gradients of several layers with the same shape. Enqueues one launch per 64 layers, and no
/// launch if `layers` is empty.
/// @throws  as above
void qk_norm_weight_gradients(const QkNormRopeShape& shape, std::span<const QkNormShares> layers, cudaStream_t stream);

}  // namespace tbench::kernels
