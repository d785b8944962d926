// A launch function that takes an AdamW step for any number of tensors, in one pass over parameters, gradients and
// moments. The pass also writes the 16-bit copy of the parameters that the next forward pass reads.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

/// One parameter tensor, contiguous. Data whose pointer is 16-byte aligned (8-byte aligned for 16-bit elements) is
/// accessed in vectors, other data element by element.
struct AdamWTensor {
  float* parameter{};      // [count], read and written
  const void* gradient{};  // [count], in AdamWStep::gradient_precision
  float* first_moment{};   // [count], read and written
  float* second_moment{};  // [count], read and written
  void* copy{};            // [count], written, __nv_bfloat16 or __half; null: no copy
  std::int64_t count{};    // >= 0
};

/// Scalars of a step. The kernel reads the pointers to the device when it runs, so that a captured launch may be
/// replayed.
struct AdamWStep {
  double learning_rate{};
  double beta1{};  // 0 < beta1 < 1, and beta2 likewise
  double beta2{};
  double epsilon{};
  double weight_decay{};                           // decoupled from the gradient
  Precision copy_precision{Precision::kBf16};      // kBf16 or kFp16
  Precision gradient_precision{Precision::kFp32};  // kFp32; or kBf16, if copies are bf16 or there are no copies
  const float* step{};                             // on the device: the number of this step, 1 for the first
  const float* found_inf{};                        // on the device or null: if it is not 0, the step changes no tensor
  const float* gradient_scale{};  // on the device or null: divisor of the gradients, which are not overwritten
};

/// One launch of adamw(): tensors [first, first + tensors), which have `chunks` chunks in all. The launch has one CTA
/// per chunk, or fewer CTAs for all chunks.
struct AdamWLaunch {
  std::int64_t first{};
  int tensors{};
  std::int64_t chunks{};
  bool operator==(const AdamWLaunch&) const = default;
};
inline constexpr std::int64_t kAdamWChunk = 1024;  // elements per chunk
inline constexpr int kAdamWTensorsOfALaunch = 64;  // the table of tensors is a kernel parameter of at most 4 KiB

/// Returns the launches of adamw() for tensors of these extents. Tensors without elements cost nothing.
[[nodiscard]] std::vector<AdamWLaunch> adamw_launches(std::span<const AdamWTensor> tensors);
/// Returns the number of CTAs of a launch that may have `max_blocks` of them: at most a quarter of its chunks, because
/// each CTA takes four chunks at a time.
[[nodiscard]] std::int64_t adamw_few_blocks(const AdamWLaunch& launch, int max_blocks);

/// Computes m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, p = p (1 - lr decay) - lr m / (1 - b1^t) / (sqrt(v / (1 -
/// b2^t)) + epsilon) in float32, and copy = p rounded. Moves 30 bytes per element; 2 fewer without a copy, and 2 fewer
/// with 16-bit gradients. Enqueues one launch per 64 tensors on `stream`; does not synchronise.
/// @param max_blocks  maximum number of CTAs, >= 1, each of which occupies one SM, for a step that runs at the same
///                    time as other kernels and leaves them the other SMs. Does not change the results. If absent,
///                    there is one CTA per chunk
/// @throws  std::invalid_argument  for a null pointer of a tensor that has elements, a null `step`, a beta outside (0,
///          1), an unsupported precision of copies or gradients, or if only some of the tensors have a copy
/// @throws  cuda::CudaError        if a launch fails
/// @see     Loshchilov and Hutter (arXiv:1711.05101), algorithm 2
void adamw(std::span<const AdamWTensor> tensors, const AdamWStep& step, cudaStream_t stream,
           std::optional<int> max_blocks = {});

}  // namespace tbench::kernels
