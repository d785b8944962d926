// Cross entropy of rows of logits and its gradient in one pass, as a plain launch function. The gradient is written
// over the logits, so that neither log-probabilities nor a second matrix exist.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

/// Rows are accessed in vectors if `width` is a multiple of 16 bytes and pointers are 16-byte aligned, otherwise
/// element by element. A call may have any chunk of a batch's rows.
struct CrossEntropy {
  std::int64_t rows{};   // > 0, at most 2^31 - 1
  std::int64_t width{};  // size of the vocabulary: 1 to 2^31 - 1
  Precision precision{};
  const void* logits{};  // [rows, width]
  const std::int64_t*
      targets{};         // [rows]; a target outside [0, width) makes the row's loss NaN and subtracts no 1 in the row
  void* gradient{};      // [rows, width], as a rule `logits`: factor scale (softmax - 1 at the target)
  float factor{1};       // factor of the gradient: 1 / tokens for the gradient of the mean
  const float* scale{};  // on the device: scale of the loss; null: 1
  float* losses{};       // [rows]: lse - logits[target]
  float* lse{};          // [rows]: log(sum(exp(logits))); may be null
};

/// Maximum of threads for a row that registers hold.
inline constexpr int kCrossEntropyRowThreads = 512;

/// Division of a row: `threads` threads hold `vectors` vectors each in registers, between one load and one store. With
/// vectors 0 registers do not hold the row, and one CTA reads it twice.
struct CrossEntropyPlan {
  int width_of_vector{};  // in elements
  int vectors{};          // per thread: 1, 2, 4 or 8; or 0
  int threads{};          // per CTA, which has one row
  bool operator==(const CrossEntropyPlan&) const = default;
};

/// @param in_vectors  every pointer is 16-byte aligned
/// @throws            std::invalid_argument for invalid extents
[[nodiscard]] CrossEntropyPlan cross_entropy_plan(std::int64_t rows, std::int64_t width, Precision precision,
                                                  bool in_vectors);

/// Enqueues one launch; does not synchronise. Sums and exponentials are in float32. A row with a NaN or a positive
/// infinity has NaN in its loss, lse and gradient and does not affect other rows. The bits are the same in every run.
/// @throws  std::invalid_argument as above, or for a null pointer that is required; cuda::CudaError
void cross_entropy(const CrossEntropy& problem, cudaStream_t stream);

}  // namespace tbench::kernels
