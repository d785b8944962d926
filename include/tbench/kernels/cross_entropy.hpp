// A launch function for the cross entropy of rows of logits and its gradient, in one pass. The gradient may overwrite
// the logits, so that neither log-probabilities nor a second matrix are needed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

/// Rows are accessed in vectors if `width` is a multiple of 16 bytes and pointers are 16-byte aligned, otherwise
/// element by element. A call may cover any chunk of a batch's rows.
struct CrossEntropy {
  std::int64_t rows{};   // > 0, at most 2^31 - 1
  std::int64_t width{};  // size of the vocabulary: 1 to 2^31 - 1
  Precision precision{};
  const void* logits{};  // [rows, width]
  const std::int64_t*
      targets{};         // [rows]; a target outside [0, width) makes the row's loss NaN and subtracts no 1 in the row
  void* gradient{};      // [rows, width], usually the same memory as `logits`: factor scale (softmax - 1 at the target)
  float factor{1};       // factor of the gradient; 1 / tokens yields the gradient of the mean
  const float* scale{};  // on the device: loss scale; null: 1
  float* losses{};       // [rows]: lse - logits[target]
  float* lse{};          // [rows]: log(sum(exp(logits))); may be null
};

/// Maximum number of threads per row if registers hold the row.
inline constexpr int kCrossEntropyRowThreads = 512;

/// Division of a row: `threads` threads hold `vectors` vectors each in registers, between one load and one store. If
/// `vectors` is 0, registers do not hold the row, and one CTA reads it twice.
struct CrossEntropyPlan {
  int width_of_vector{};  // in elements
  int vectors{};          // per thread: 1, 2, 4 or 8; or 0
  int threads{};          // per CTA; the grid has one CTA per row
  bool operator==(const CrossEntropyPlan&) const = default;
};

/// Returns the division that cross_entropy() uses.
/// @param in_vectors  whether every pointer is 16-byte aligned
/// @throws            std::invalid_argument for invalid extents
[[nodiscard]] CrossEntropyPlan cross_entropy_plan(std::int64_t rows, std::int64_t width, Precision precision,
                                                  bool in_vectors);

/// Enqueues one launch; does not synchronise. Sums and exponentials are in float32. A row with a NaN or a positive
/// infinity has NaN in its loss, lse and gradient and does not affect other rows. The bits are the same in every run.
/// @throws  std::invalid_argument for invalid extents or if a required pointer is null; cuda::CudaError
void cross_entropy(const CrossEntropy& problem, cudaStream_t stream);

}  // namespace tbench::kernels
