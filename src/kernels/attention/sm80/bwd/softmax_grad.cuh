// The computations between the products of the backward pass, in every precision: from S to P and from dP to dS in a
// warp's registers, with lse and delta of the queries.
#pragma once

#include "kernels/attention/common/injected_fault.cuh"
#include "kernels/attention/sm80/bwd/geometry.cuh"

namespace tbench::kernels::sm80 {

/// lse and delta of a thread's rows with stationary queries. Of each block of 16 rows, a thread has row `lane / 4` and
/// the row eight further.
template <class Geometry>
struct RowStats {
  float lse[Geometry::kRowBlocks][2], delta[Geometry::kRowBlocks][2];
};

/// Computes s = probability(s, lse). Sets s to zero under the mask and, with stationary keys, for queries past the end,
/// whose zeros times Inf would be NaN. `row_of(m)` returns the first row of the warp's m-th block of 16 rows in the
/// matrix of all scores; `first_col` is the first column of `s` in it. With stationary keys lse belongs to the columns
/// and starts at `col_lse`; otherwise it belongs to the rows.
template <class Geometry, bool kMasked, class Parameters, class Row, class Probability>
__device__ __forceinline__ void probabilities(const Parameters& p, const WarpCoord& place, typename Geometry::Scores& s,
                                              int first_col, const RowStats<Geometry>& rows, const float* col_lse,
                                              Row&& row_of, Probability&& probability) {
  constexpr bool kQueriesKept = Geometry::kQueriesKept;
#pragma unroll
  for (int n = 0; n < Geometry::kColBlocks; ++n) {
    const int col = n * 8 + place.lane % 4 * 2;
    float2 lse{};
    if constexpr (!kQueriesKept) lse = *reinterpret_cast<const float2*>(col_lse + col);
#pragma unroll
    for (int m = 0; m < Geometry::kRowBlocks; ++m) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float& score = s[m][n][i];
        score = probability(score, kQueriesKept ? rows.lse[m][i / 2] : i % 2 == 0 ? lse.x : lse.y);
        if constexpr (kMasked) {
          const int row = row_of(m) + i / 2 * 8 + place.lane / 4;
          const int query = kQueriesKept ? row : first_col + col + i % 2;
          const int key = kQueriesKept ? first_col + col + i % 2 : row;
          const int last = injected(InjectedFault::kBackwardMask) ? query + 1 : query;
          const bool exists = key < p.seq_kv && (kQueriesKept || query < p.seq_q);
          if (!exists || (p.causal && key > last)) score = 0.0f;
        }
      }
    }
  }
}

/// Computes dp = p * (dp - delta).
template <class Geometry>
__device__ __forceinline__ void score_gradients(const typename Geometry::Scores& p, typename Geometry::Scores& dp,
                                                const WarpCoord& place, const RowStats<Geometry>& rows,
                                                const float* col_delta) {
  constexpr bool kQueriesKept = Geometry::kQueriesKept;
#pragma unroll
  for (int n = 0; n < Geometry::kColBlocks; ++n) {
    float2 delta{};
    if constexpr (!kQueriesKept) delta = *reinterpret_cast<const float2*>(col_delta + n * 8 + place.lane % 4 * 2);
#pragma unroll
    for (int m = 0; m < Geometry::kRowBlocks; ++m) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float of_query = kQueriesKept ? rows.delta[m][i / 2] : i % 2 == 0 ? delta.x : delta.y;
        dp[m][n][i] = p[m][n][i] * (dp[m][n][i] - of_query);
      }
    }
  }
}

}  // namespace tbench::kernels::sm80
