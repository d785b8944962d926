// The mask of the scores of one step, with the ends of rows, for a warpgroup with stationary keys or queries: split
// backward and TF32.
#pragma once

#include <cmath>

#include "kernels/attention/common/injected_fault.cuh"

namespace tbench::kernels::sm90 {

/// Masks a thread's scores, which come in fours: two columns of one row, and the same two of the row eight below.
/// @param row_of           the row of either half, among the stationary rows
/// @param first_column     the thread's first column, among the streamed rows
/// @param streamed_extent  number of streamed rows; columns beyond it are masked, too, because their zeros times an Inf
///                         would be NaN. It and `causal` are references, so that parameters are read where they are
///                         needed and not kept in registers
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
