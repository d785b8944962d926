// Backward pass, float32 storage: the same two algorithms as in sm80/bwd/mainloop_16bit.cuh, with the products in
// sm80/common/mma_tf32.cuh. There are two differences: contributions to dQ are added directly to dq, which is float32,
// so that no postprocess kernel is needed, and dS is [query, key] in shared memory.
#pragma once

#include "kernels/attention/sm80/bwd/dq_fp32.cuh"
#include "kernels/attention/sm80/bwd/smem_fp32.cuh"

namespace tbench::kernels::sm80 {

template <bool k3xTf32, int kHeadDim, class Tile, bool kQueriesKept, bool kAtomic>
class BwdFp32Mainloop : BwdFp32Smem<k3xTf32, BwdGeometry<float, kHeadDim, Tile, kQueriesKept, kAtomic>> {
  using Geometry = BwdGeometry<float, kHeadDim, Tile, kQueriesKept, kAtomic>;
  using Tiles = BwdFp32Smem<k3xTf32, Geometry>;
  using Tiles::p_;
  using Tiles::place_;
  static constexpr BwdConfig kTile = Geometry::kTile;
  static constexpr int kRowBytes = Geometry::kRowBytes;

 public:
  __device__ __forceinline__ BwdFp32Mainloop(const BwdFp32Params& parameters, char* shared, TileScheduler place)
      : Tiles{parameters, shared, place} {}

  __device__ __forceinline__ void run() {
    this->load_kept();
    const typename Tiles::Range range = this->steps();
    if (range.first < range.last) this->load_step(range.first, 0);
    cp_async_wait_group<0>();
    this->round_kept();
    if constexpr (kQueriesKept) this->read_row_statistics(rows_);
    for (int step = range.first; step < range.last; ++step) {
      const int stage = kTile.stages > 1 ? (step - range.first) % 2 : 0;
      const bool more = step + 1 < range.last;
      cp_async_wait_group<0>();
      this->round_step(stage);
      // After this barrier the step's tiles have arrived, and no warp still reads the previous step's tiles.
      if (!injected(InjectedFault::kBackwardBarrier)) __syncthreads();
      if (kTile.stages > 1 && more) this->load_step(step + 1, stage ^ 1);
      if (this->needs_mask(step)) {
        advance<true>(step, stage);
      } else {
        advance<false>(step, stage);
      }
      if (kTile.stages == 1 || kAtomic)
        __syncthreads();  // now no warp reads the step's tiles, and every warp has stored its dS
      if (kTile.stages == 1 && more) this->load_step(step + 1, 0);
      if constexpr (kAtomic) add_query_gradient<k3xTf32, Geometry>(*this, step);
    }
    if constexpr (kTile.split_warps > 1) {
      finish_split_warps();
    } else {
      finish();
    }
  }

 private:
  using Scores = typename Geometry::Scores;

  template <bool kMasked>
  __device__ __forceinline__ void advance(int step, int stage) {
    const std::uint32_t kept =
        shared_address(this->shared()) + this->warp_row() * kRowBytes + left_offset(place_.lane, kRowBytes);
    const int first = Geometry::kStreamed + 2 * stage * Geometry::kStreamedBytes,
              second = first + Geometry::kStreamedBytes;
    const float* const col_statistics = this->template statistics<kTile.streamed_rows>(stage);
#pragma unroll 1
    for (int first_col = 0; first_col < kTile.streamed_rows; first_col += kTile.split_warps * kTile.cols_at_once) {
      const int col = first_col + this->warp_split() * kTile.cols_at_once;
      const int offset = col * kRowBytes;
      const std::uint32_t columns = shared_address(this->shared()) + offset + right_offset(place_.lane, kRowBytes);
      const char* const rows = this->shared() + offset + rows_offset(place_.lane, kRowBytes);
      Scores s = {}, dp = {};
      if (!kMasked || holds_anything(step * kTile.streamed_rows + col)) {
        multiply_rows<k3xTf32, Tiles::kRounded, kHeadDim>(s, kept, columns + first);
        to_probabilities<kMasked>(s, step * kTile.streamed_rows + col, col_statistics + col);
        if (!kQueriesKept && !(injected(InjectedFault::kDvSkipTile) && step == 0)) {
          accumulate_rows<k3xTf32, Tiles::kRounded, kHeadDim>(values_, s, rows + second);
        }
        multiply_rows<k3xTf32, Tiles::kRounded, kHeadDim>(dp, kept + Geometry::kKeptBytes, columns + second);
        score_gradients<Geometry>(s, dp, place_, rows_, col_statistics + kTile.streamed_rows + col);
        if (!(kQueriesKept && injected(InjectedFault::kDqSkipTile) && step == 0)) {
          accumulate_rows<k3xTf32, Tiles::kRounded, kHeadDim>(keys_, dp, rows + first);
        }
      }
      if constexpr (kAtomic) store_scores<k3xTf32, Geometry>(dp, *this, col);
    }
  }

  /// Whether the mask leaves any scores of the warp's rows and the columns from `first_col` on.
  __device__ __forceinline__ bool holds_anything(int first_col) const {
    const int row = place_.first_row + this->warp_row();
    return !p_.causal ||
           (kQueriesKept ? first_col < row + Geometry::kRowBlocks * 16 : row < first_col + kTile.cols_at_once);
  }

  /// Replaces scores by exp(scale * s - lse), or by zero under the mask.
  template <bool kMasked>
  __device__ __forceinline__ void to_probabilities(Scores& s, int first_col, const float* col_lse) const {
    const float scale = p_.scale * (injected(InjectedFault::kBackwardScale) ? 1.05f : 1.0f);
    probabilities<Geometry, kMasked>(
        p_, place_, s, first_col, rows_, col_lse, [this](int m) { return this->row(m); },
        [scale](float score, float lse) {
          // Subtracting first keeps large scores exact. With TF32 products there is time for only one multiply-add.
          return exp2_approximate(k3xTf32 ? fmaf(score, scale, -lse) * kLog2E
                                          : fmaf(score, scale * kLog2E, -lse * kLog2E));
        });
  }

  __device__ __forceinline__ void finish() const {
    const bool forgets_scale = !kQueriesKept && injected(InjectedFault::kDkScale);
    const auto scale = [&](int, int) { return forgets_scale ? 1.0f : p_.scale; };
    const auto one = [](int, int) { return 1.0f; };
    store_rows<kHeadDim>(keys_, kQueriesKept ? p_.dq : p_.dk, this->block(), place_.first_row + this->warp_row(),
                         this->kept_extent(), place_.lane, scale);
    if constexpr (!kQueriesKept)
      store_rows<kHeadDim>(values_, p_.dv, this->block(), place_.first_row + this->warp_row(), this->kept_extent(),
                           place_.lane, one);
  }

  /// Stores the gradients if split warps have each seen a part of the streamed rows.
  __device__ __forceinline__ void finish_split_warps() const {
    static_assert(kTile.split_warps * kTile.kept_rows * kRowBytes <= Geometry::kStatistics,
                  "the tiles' memory holds the groups' sums");
    const bool forgets_scale = !kQueriesKept && injected(InjectedFault::kDkScale);
    const auto store = [&](const typename Geometry::Accumulator& sums, const GlobalMatrix<float>& matrix, float scale) {
      __syncthreads();  // now no warp reads the tiles, or the sums of the previous call
      store_split_warps_sums<kHeadDim, kTile.kept_rows, kTile.split_warps, Geometry::kThreads>(
          sums, this->shared(), this->warp_split() * kTile.kept_rows + this->warp_row(), matrix, this->block(),
          place_.first_row, this->kept_extent(), [scale](int, int) { return scale; });
    };
    store(keys_, kQueriesKept ? p_.dq : p_.dk, forgets_scale ? 1.0f : p_.scale);
    if constexpr (!kQueriesKept) store(values_, p_.dv, 1.0f);
  }

  typename Geometry::Accumulator keys_ = {};  // dK, or dQ with stationary queries
  typename Geometry::Accumulator values_ = {};
  RowStats<Geometry> rows_;
};

/// Runs a CTA of a split pass, which computes dK and dV, or dQ.
template <bool k3xTf32, int kHeadDim, class Tile>
__device__ __forceinline__ void run_split_backward_32bit(const BwdFp32Params& p, char* shared) {
  TileScheduler place = schedule_tile(p.heads_first);
  if (keeps_keys(place, p.heads_first, p.kv_tiles)) {
    BwdFp32Mainloop<k3xTf32, kHeadDim, Tile, false, false>{p, shared, place}.run();
  } else {
    BwdFp32Mainloop<k3xTf32, kHeadDim, Tile, true, false>{p, shared, place}.run();
  }
}

}  // namespace tbench::kernels::sm80
