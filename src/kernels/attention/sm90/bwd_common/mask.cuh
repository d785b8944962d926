// The mask of one step's scores, also for rows and columns past the end, for a warpgroup with stationary keys or
// queries. The split backward pass and the TF32 backward pass use it.
#pragma once

#include <cmath>

#include "kernels/attention/common/injected_fault.cuh"

namespace tbench::kernels::sm90 {

/// Masks a thread's scores, which are groups of four: two columns of one row, then the same two columns of the row
/// eight further.
/// @param row_of           returns the stationary row of half 0 or 1 of a group of four
/// @param first_column     the thread's first column, among the streamed rows
/// @param streamed_extent  number of streamed rows; columns from it on are masked, too, because their zeros times Inf
///                         would be NaN. This argument and `causal` are references, so that the parameters are read
///                         only where needed and not kept in registers
template <bool kKeepsKeys, int kScores, class Row>
__device__ __forceinline__ void hide_scores(float (&scores)[kScores], const Row& row_of, int first_column,
                                            const int& streamed_extent, const bool& causal) {
  const int too_many = injected(InjectedFault::kBackwardMask) ? 1 : 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = row_of(half);
    // A query sees the keys up to its own index.
    const int begin = kKeepsKeys && causal ? row - too_many - first_column : 0;
    const int end = (!kKeepsKeys && causal ? min(row + 1 + too_many, streamed_extent) : streamed_extent) - first_column;
#pragma unroll
    for (int n = 0; n < kScores / 4; ++n) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int column = n * 8 + j;
        if (column < begin || column >= end) scores[4 * n + 2 * half + j] = -INFINITY;
      }
    }
  }
}

}  // namespace tbench::kernels::sm90
