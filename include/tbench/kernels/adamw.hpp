// AdamW over any number of tensors in one pass over parameters, gradients and moments, which also writes the copy of
// the parameters in 16 bits that the next forward pass reads. Behind a plain launch function.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

/// One parameter tensor, contiguous. Pointers that are aligned to 16 bytes (of 16-bit elements: to 8) are accessed in
/// vectors; others are taken too, element by element.
struct AdamWTensor {
  float* parameter{};      // [count], read and written
  const void* gradient{};  // [count], of AdamWStep::gradient_precision
  float* first_moment{};   // [count], read and written
  float* second_moment{};  // [count], read and written
  void* copy{};            // [count], written, __nv_bfloat16 or __half; null: none
  std::int64_t count{};    // >= 0
};

/// Scalars on the device are read when the kernel runs, so that a captured launch may be replayed.
struct AdamWStep {
  double learning_rate{};
  double beta1{};  // 0 < beta < 1, both
  double beta2{};
  double epsilon{};
  double weight_decay{};                           // decoupled
  Precision copy_precision{Precision::kBf16};      // kBf16 or kFp16
  Precision gradient_precision{Precision::kFp32};  // kFp32; or kBf16, where copies are of it or there are none
  const float* step{};                             // on the device: the number of this step, 1 for the first
  const float* found_inf{};                        // on the device or null: where it is not 0, nothing changes
  const float* gradient_scale{};  // on the device or null: gradients are divided by it first, and left as they are
};

/// A launch takes tensors [first, first + tensors), a block for each of their `chunks`, or few for all.
struct AdamWLaunch {
  std::int64_t first{};
  int tensors{};
  std::int64_t chunks{};
  bool operator==(const AdamWLaunch&) const = default;
};
inline constexpr std::int64_t kAdamWChunk = 1024;  // elements of a block
inline constexpr int kAdamWTensorsOfALaunch = 64;  // their table is a kernel's parameter: 4 KiB at most

/// What adamw() launches for tensors of these extents. Tensors of no elements cost nothing.
[[nodiscard]] std::vector<AdamWLaunch> adamw_launches(std::span<const AdamWTensor> tensors);
/// Blocks of a launch that may have `max_blocks` of them: no more than a quarter of its chunks, which each takes four
/// of at a time.
[[nodiscard]] std::int64_t adamw_few_blocks(const AdamWLaunch& launch, int max_blocks);

/// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, p = p (1 - lr decay) - lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) +
/// epsilon) in float32, and copy = p rounded. 30 bytes an element; 2 fewer without a copy, and with 16-bit gradients. A
/// launch for every 64 tensors on `stream`; does not synchronise.
/// @param max_blocks  at most so many blocks, >= 1, each of which takes a multiprocessor to itself, and the same bits:
///                    for a step beside other kernels, which keep the others. Nothing: a block for each chunk
/// @throws  std::invalid_argument  for a null pointer of a tensor that has elements, a null `step`, a beta outside (0,
/// 1),
///                                 a copy or a gradient in another precision, tensors of which some have a copy and
///                                 some none
/// @throws  cuda::CudaError        if a launch fails
/// @see     Loshchilov and Hutter (arXiv:1711.05101), algorithm 2
void adamw(std::span<const AdamWTensor> tensors, const AdamWStep& step, cudaStream_t stream,
           std::optional<int> max_blocks = {});

}  // namespace tbench::kernels
