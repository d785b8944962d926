// A launch function for rotary position embedding that also changes the layout: from one product [tokens, 3, heads,
// head_dim] to the queries, keys and values [batch, heads, seq, head_dim] that attention reads, and back for gradients.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "tbench/core/enums.hpp"
#include "tbench/kernels/attention_problem.hpp"

namespace tbench::kernels {

inline constexpr int kRopeMaxParts = 3;

/// `parts` tensors [batch, heads, seq, head_dim] in any layout whose last dimension is contiguous. In the first
/// `turned` of them the pair (x[2i], x[2i + 1]) rotates by the angle of its position; the other tensors are copied. If
/// head_dim, strides and pointers are multiples of 16 bytes, rows are accessed in vectors, otherwise pair by pair.
struct RopeProblem {
  std::int64_t batch{}, heads{}, seq{}, head_dim{};  // > 0; head_dim even; the product of all at most 2^32 - 1
  Precision precision{};
  int parts{};   // 1 to kRopeMaxParts
  int turned{};  // 0 to parts
  std::array<TensorView, kRopeMaxParts> from{};
  std::array<TensorView, kRopeMaxParts> to{};  // each element at its source's address, or no overlap with `from`
  const float* cos{};                          // [seq, head_dim / 2]
  const float* sin{};                          // [seq, head_dim / 2]
  bool backward{};                             // whether the pairs rotate by the negative angles
};

/// packed_part() returns a view of part `part` of a contiguous product [batch, seq, parts, heads, head_dim];
/// contiguous_heads() returns a view of a contiguous tensor [batch, heads, seq, head_dim].
[[nodiscard]] TensorView packed_part(void* product, const RopeProblem& problem, int part);
[[nodiscard]] TensorView contiguous_heads(void* tensor, const RopeProblem& problem);

/// Enqueues one launch; does not synchronise. Every element is read once and written once; the tables are read once per
/// head, through L1.
/// @throws  std::invalid_argument for invalid extents or a null pointer; cuda::CudaError
void rope(const RopeProblem& problem, cudaStream_t stream);

}  // namespace tbench::kernels
