// The residual stream's addition and the RMS norm that follows it, as one kernel forward and one backward, behind plain
// launch functions; without a residual, the norm alone.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

/// Storage types: all three the same, or a float32 stream and weight with a 16-bit branch, as autocast has them.
struct NormTypes {
  Precision stream{};  // for the residual stream and its gradient
  Precision branch{};  // for the sublayer's output, the norm's output and their gradients
  Precision weight{};  // for the weight and its gradient
};

/// Rows of `width` elements, contiguous. If the width is a multiple of 16 bytes and every pointer is 16-byte aligned,
/// rows are accessed in vectors, otherwise element by element.
struct NormShape {
  std::int64_t rows{};   // > 0
  std::int64_t width{};  // 1 to kNormMaxWidth
  NormTypes types;
  float epsilon{};
};
inline constexpr std::int64_t kNormMaxWidth = 16384;

/// sum = x + branch, rstd = 1 / sqrt(mean(sum^2) + epsilon), normed = sum rstd weight; statistics are computed from the
/// stored `sum`.
struct NormForward {
  const void* x{};       // [rows, width] in the stream's type
  const void* branch{};  // [rows, width] in the branch's type; null: sum = x, which is not written
  const void* weight{};  // [width]
  void* sum{};           // [rows, width] in the stream's type; null exactly if `branch` is null
  void* normed{};        // [rows, width] in the branch's type
  float* rstd{};         // [rows], or null
};

/// With n = sum rstd and g = dnormed weight: dx = rstd (g - n mean(g n)) + dsum, dweight = sum over rows of dnormed n.
struct NormBackward {
  const void* sum{};      // [rows, width] in the stream's type, as the forward pass left it; x if there was no branch
  const void* weight{};   // [width]
  const float* rstd{};    // [rows]
  const void* dnormed{};  // [rows, width] in the branch's type
  const void* dsum{};     // [rows, width] in the stream's type: gradient of the sum that bypasses the norm; null: none
  void* dx{};             // [rows, width] in the stream's type
  void* dbranch{};        // [rows, width]: dx in the branch's type, or null
  void* dweight{};        // [width], or null: its shares stay in the workspace, for norm_weight_gradients()
  float* workspace{};     // norm_workspace_bytes(shape)
};

/// The shares of a weight's gradient that norm_backward() left, and the place of their sum.
struct NormShares {
  const float* workspace{};  // the workspace given to norm_backward()
  void* dweight{};           // [width]
};
inline constexpr int kNormsOfALaunch = 64;  // the table of norms is a kernel parameter of 1 KiB

enum class NormPass { kForward, kBackward };

/// Properties of a GPU that the plan depends on.
struct NormDevice {
  int multiprocessors{};        // > 0
  std::int64_t shared_bytes{};  // shared memory per SM
};

/// Division of a pass's rows. `threads` threads hold a row with `elements` elements each; a CTA holds `groups` rows at
/// a time and then takes the next ones, as many rows further as the grid holds at a time.
struct NormPlan {
  int width_of_vector{};  // in elements
  int elements{};         // per thread: 8 or 32
  int threads{};          // per row: a multiple of 32, at most 512
  int groups{};
  std::int64_t blocks{};
  std::int64_t shared_bytes{};  // per CTA, for rows that are copied ahead and for the groups' sums
  bool operator==(const NormPlan&) const = default;
};

/// @param in_vectors  every pointer is 16-byte aligned; a backward pass has the same CTAs with and without vectors
/// @throws            std::invalid_argument for invalid extents or types
[[nodiscard]] NormPlan norm_plan(NormPass pass, const NormShape& shape, bool in_vectors, const NormDevice& device);

/// Bytes of the backward pass's partial sums on the current device: one row of float32 per CTA.
/// @throws  std::invalid_argument as above; cuda::CudaError
[[nodiscard]] std::int64_t norm_workspace_bytes(const NormShape& shape);

/// Enqueue one launch each; do not synchronise. The launch of norm_backward() is cooperative unless `dweight` is null.
/// The bits are the same in every run: sums have a fixed order, without atomics. Rows of more than 4,096 elements spill
/// registers in the backward pass.
/// @throws  std::invalid_argument as above, or for a null pointer that is required; cuda::CudaError
void norm_forward(const NormShape& shape, const NormForward& tensors, cudaStream_t stream);
void norm_backward(const NormShape& shape, const NormBackward& tensors, cudaStream_t stream);

/// Adds up the shares of several norms of one shape; this launch costs less than a grid-wide barrier in each of them.
/// Enqueues one launch per 64 norms, and none without norms.
/// @throws  as above
void norm_weight_gradients(const NormShape& shape, std::span<const NormShares> norms, cudaStream_t stream);

}  // namespace tbench::kernels
