// Cross entropy of rows of logits and its gradient in one pass: the gradient is written over the logits, so that
// neither log-probabilities nor a second matrix exist. Behind a plain launch function.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tbench/core/enums.hpp"

namespace tbench::kernels {

/// Rows are accessed in vectors where `width` is a multiple of 16 bytes and pointers are aligned to 16, else element by
/// element. Any chunk of a batch's rows is a call of its own.
struct CrossEntropy {
  std::int64_t rows{};   // > 0, at most 2^31 - 1
  std::int64_t width{};  // of the vocabulary: 1 to 2^31 - 1
  Precision precision{};
  const void* logits{};           // [rows, width]
  const std::int64_t* targets{};  // [rows]; one outside [0, width) makes its loss NaN and has no 1 in its row
  void* gradient{};               // [rows, width], as a rule `logits`: factor scale (softmax - 1 at the target)
  float factor{1};                // of the gradient: 1 / tokens for the mean's
  const float* scale{};           // on the device: a loss's scale; null: 1
  float* losses{};                // [rows]: lse - logits[target]
  float* lse{};                   // [rows]: log(sum(exp(logits))); null where nobody needs it
};

/// Threads of a row that registers hold, at most.
inline constexpr int kCrossEntropyRowThreads = 512;

/// How a row is covered: `threads` threads with `vectors` vectors each in registers, between one load and one store;
/// vectors 0: a row that registers do not hold, which one block reads twice.
struct CrossEntropyPlan {
  int width_of_vector{};  // elements
  int vectors{};          // of a thread: 1, 2, 4 or 8; or 0
  int threads{};          // of a block, which has one row
  bool operator==(const CrossEntropyPlan&) const = default;
};

/// @param in_vectors  every pointer is aligned to 16 bytes
/// @throws            std::invalid_argument for extents that are not as required
[[nodiscard]] CrossEntropyPlan cross_entropy_plan(std::int64_t rows, std::int64_t width, Precision precision,
                                                  bool in_vectors);

/// Enqueues one launch; does not synchronise. Sums and exponentials are float32's; a row with a NaN or a positive
/// infinity has NaN for its loss, its lse and its gradient, other rows are not touched by it. The same bits every time.
/// @throws  std::invalid_argument as above, for a null pointer that may not be; cuda::CudaError
void cross_entropy(const CrossEntropy& problem, cudaStream_t stream);

}  // namespace tbench::kernels
