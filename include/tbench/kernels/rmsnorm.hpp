// Launch functions for the residual stream's addition and the RMS norm that follows it: one kernel forward and one
// backward. Without a residual branch they compute only the norm.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

/// Storage types: one type for all three, or a float32 stream and weight with a 16-bit branch, as under autocast.
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

/// Tensors of the forward pass: sum = x + branch, rstd = 1 / sqrt(mean(sum^2) + epsilon), normed = sum rstd weight.
/// Statistics are computed from `sum` as rounded to its storage type.
struct NormForward {
  const void* x{};       // [rows, width] in the stream's type
  const void* branch{};  // [rows, width] in the branch's type; null: no branch, so that x serves as the sum
  const void* weight{};  // [width]
  void* sum{};           // [rows, width] in the stream's type; null exactly if `branch` is null
  void* normed{};        // [rows, width] in the branch's type
  float* rstd{};         // [rows], or null
};

/// Tensors of the backward pass. With n = sum rstd and g = dnormed weight: dx = rstd (g - n mean(g n)) + dsum, and
/// dweight is the sum of dnormed n over all rows.
struct NormBackward {
  const void* sum{};      // [rows, width] in the stream's type: sum of the forward pass, or x if there was no branch
  const void* weight{};   // [width]
  const float* rstd{};    // [rows]
  const void* dnormed{};  // [rows, width] in the branch's type
  const void* dsum{};  // [rows, width] in the stream's type: gradient that reaches the sum without passing through the
                       // norm; null: 0
  void* dx{};          // [rows, width] in the stream's type
  void* dbranch{};     // [rows, width]: dx in the branch's type, or null
  void* dweight{};     // [width]; null: partial sums stay in the workspace, for norm_weight_gradients()
  float* workspace{};  // norm_workspace_bytes(shape) bytes
};

/// The partial sums of a weight's gradient that norm_backward() left, and the destination of their sum.
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
/// a time. For its next rows it advances by as many rows as the whole grid holds at a time.
struct NormPlan {
  int width_of_vector{};  // in elements
  int elements{};         // per thread: 8 or 32
  int threads{};          // per row: a multiple of 32, at most 512
  int groups{};
  std::int64_t blocks{};
  std::int64_t shared_bytes{};  // per CTA, for prefetched rows and for the groups' sums
  bool operator==(const NormPlan&) const = default;
};

/// Returns the division of the rows of a pass.
/// @param in_vectors  whether every pointer is 16-byte aligned; does not change the number of CTAs of a backward pass
/// @throws            std::invalid_argument for invalid extents or types
[[nodiscard]] NormPlan norm_plan(NormPass pass, const NormShape& shape, bool in_vectors, const NormDevice& device);

/// Returns the bytes of the backward pass's partial sums on the current device: one row of float32 per CTA.
/// @throws  std::invalid_argument as above; cuda::CudaError
[[nodiscard]] std::int64_t norm_workspace_bytes(const NormShape& shape);

/// Each function enqueues one launch and does not synchronise. The launch of norm_backward() is cooperative unless
/// `dweight` is null. Results are bitwise identical in every run, because sums have a fixed order, without atomics.
/// Rows of more than 4,096 elements spill registers in the backward pass.
/// @throws  std::invalid_argument for invalid extents or types, or if a required pointer is null; cuda::CudaError
void norm_forward(const NormShape& shape, const NormForward& tensors, cudaStream_t stream);
void norm_backward(const NormShape& shape, const NormBackward& tensors, cudaStream_t stream);

/// Adds up the weight gradients of several norms with the same shape from their partial sums. This launch costs less
/// than a grid-wide barrier in each norm's backward pass. Enqueues one launch per 64 norms, and no launch if `norms` is
/// empty.
/// @throws  as norm_forward()
void norm_weight_gradients(const NormShape& shape, std::span<const NormShares> norms, cudaStream_t stream);

}  // namespace tbench::kernels
