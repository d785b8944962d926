// What a mask and the ends of rows hide of a step's scores, where a warpgroup keeps keys or queries: items of two
// kinds, and TF32.
#pragma once

#include <cmath>

#include "kernels/attention/common/injected_fault.cuh"

namespace tbench::kernels::sm90 {

/// Of a thread's scores, in fours: two columns of one row, and the same of another eight below.
/// @param row_of           the row of either half, among those that are kept
/// @param first_column     the thread's first, among the streamed rows
/// @param streamed_extent  beyond it columns are hidden, too: their zeros times an Inf would be NaN. By reference, as
///                         `causal`: parameters are read where they are needed, not kept in registers.
template <bool kKeepsKeys, int kScores, class Row>
__device__ __forceinline__ void hide_scores(float (&scores)[kScores], const Row& row_of, int first_column,
                                            const int& streamed_extent, const bool& causal) {
  const int too_many = injected(InjectedFault::kBackwardMask) ? 1 : 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = row_of(half);
    // Queries see the keys up to their own.
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
