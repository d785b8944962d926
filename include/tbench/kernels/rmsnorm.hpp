// The residual stream's addition and the RMS norm that follows it, as one kernel forward and one backward; without a
// residual, the norm alone. Behind plain launch functions.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

/// Storage types: all three alike, or a float32 stream and weight beside a 16-bit branch, as autocast has them.
struct NormTypes {
  Precision stream{};  // of the residual stream and its gradient
  Precision branch{};  // of the sublayer's output, the norm's output and their gradients
  Precision weight{};  // of the weight and its gradient
};

/// Rows of `width` elements, contiguous. Where the width is a multiple of 16 bytes and every pointer aligned to 16,
/// rows are accessed in vectors, else element by element.
struct NormShape {
  std::int64_t rows{};   // > 0
  std::int64_t width{};  // 1 to kNormMaxWidth
  NormTypes types;
  float epsilon{};
};
inline constexpr std::int64_t kNormMaxWidth = 16384;

/// sum = x + branch, rstd = 1 / sqrt(mean(sum^2) + epsilon), normed = sum rstd weight; sums are of the stored `sum`.
struct NormForward {
  const void* x{};       // [rows, width] of the stream's type
  const void* branch{};  // [rows, width] of the branch's type, or null: sum = x, which is not written
  const void* weight{};  // [width]
  void* sum{};           // [rows, width] of the stream's type; null exactly if `branch` is
  void* normed{};        // [rows, width] of the branch's type
  float* rstd{};         // [rows], or null
};

/// With n = sum rstd and g = dnormed weight: dx = rstd (g - n mean(g n)) + dsum, dweight = sum over rows of dnormed n.
struct NormBackward {
  const void* sum{};      // [rows, width] of the stream's type, as forward left it, or x where there was no branch
  const void* weight{};   // [width]
  const float* rstd{};    // [rows]
  const void* dnormed{};  // [rows, width] of the branch's type
  const void* dsum{};     // [rows, width] of the stream's type: what reaches the sum past the norm; null: nothing
  void* dx{};             // [rows, width] of the stream's type
  void* dbranch{};        // [rows, width]: dx in the branch's type, or null where nobody needs it
  void* dweight{};        // [width], or null: its shares stay in the workspace, for norm_weight_gradients()
  float* workspace{};     // norm_workspace_bytes(shape)
};

/// The shares of a weight's gradient that norm_backward() left, and where their sum goes.
struct NormShares {
  const float* workspace{};  // as it was given to norm_backward()
  void* dweight{};           // [width]
};
inline constexpr int kNormsOfALaunch = 64;  // their table is a kernel's parameter: 1 KiB

enum class NormPass { kForward, kBackward };

/// What the plan depends on of a GPU.
struct NormDevice {
  int multiprocessors{};        // > 0
  std::int64_t shared_bytes{};  // of shared memory, a multiprocessor
};

/// How a pass covers its rows. A row is `threads` threads, each with `elements` elements; a block holds `groups` rows
/// at a time, and takes others after them, as many further as the grid holds at a time.
struct NormPlan {
  int width_of_vector{};  // elements
  int elements{};         // of a thread: 8 or 32
  int threads{};          // of a row: a multiple of 32, at most 512
  int groups{};
  std::int64_t blocks{};
  std::int64_t shared_bytes{};  // of a block, for rows that are copied ahead and for the groups' sums
  bool operator==(const NormPlan&) const = default;
};

/// @param in_vectors  every pointer is aligned to 16 bytes; a backward pass has the same blocks with and without
/// @throws            std::invalid_argument for extents that are not as required, or types that are neither of the two
[[nodiscard]] NormPlan norm_plan(NormPass pass, const NormShape& shape, bool in_vectors, const NormDevice& device);

/// Bytes of the backward's partial sums on the current device: a row of float32 for each block.
/// @throws  std::invalid_argument as above; cuda::CudaError
[[nodiscard]] std::int64_t norm_workspace_bytes(const NormShape& shape);

/// Enqueue one launch each, backward's a cooperative one unless `dweight` is null; do not synchronise. The same bits
/// every time: sums have a fixed order, without atomics. Rows over 4,096 elements spill registers in the backward pass.
/// @throws  std::invalid_argument as above, or for a null pointer that may not be; cuda::CudaError
void norm_forward(const NormShape& shape, const NormForward& tensors, cudaStream_t stream);
void norm_backward(const NormShape& shape, const NormBackward& tensors, cudaStream_t stream);

/// Adds up the shares of several norms of one shape: a barrier of the whole grid for each of them costs more than this
/// launch. A launch for every 64; none for none.
/// @throws  as above
void norm_weight_gradients(const NormShape& shape, std::span<const NormShares> norms, cudaStream_t stream);

}  // namespace tbench::kernels
