// Backward pass, bf16 and fp16: the loop of a CTA with a stationary K/V tile or Q tile over the streamed tiles
// (sm80/bwd/geometry.cuh).
//
// Two algorithms compute the three gradients. With `kAtomicDq`, CTAs with K/V tiles also compute their contribution to
// dQ, for which dS passes through shared memory, and add it to float32 sums in the workspace. A preprocess kernel
// computes delta and clears the sums, and a postprocess kernel converts them. This takes five products. With `kSplit`,
// one launch has CTAs for K/V tiles and CTAs for Q tiles, without sums in the workspace or atomic additions, and
// results are bitwise identical in every run. This takes seven products, which cost less than the additional launches
// if sequences are short.
#pragma once

#include "kernels/attention/sm80/bwd/dq_16bit.cuh"
#include "kernels/attention/sm80/bwd/smem_16bit.cuh"
#include "kernels/attention/sm80/bwd/warp_pair_16bit.cuh"

namespace tbench::kernels::sm80 {

enum class Gradient { kDkDv, kDk, kDv, kDq };

template <class Element, int kHeadDim, class Tile, Gradient kGradient, bool kAtomic>
class BwdMainloop : BwdSmem<BwdGeometry<Element, kHeadDim, Tile, kGradient == Gradient::kDq, kAtomic>> {
  static constexpr bool kQueriesKept = kGradient == Gradient::kDq;
  static constexpr bool kWithValues = kGradient == Gradient::kDkDv || kGradient == Gradient::kDv;
  static constexpr bool kWithKeys = kGradient != Gradient::kDv;  // with the product of dS: dK, or dQ
  using Geometry = BwdGeometry<Element, kHeadDim, Tile, kQueriesKept, kAtomic>;
  using Tiles = BwdSmem<Geometry>;
  using Tiles::p_;
  using Tiles::place_;
  static constexpr BwdConfig kTile = Geometry::kTile;
  static constexpr int kRowBytes = Geometry::kRowBytes;
  // With two buffers of dS, the product dS K is computed after the next step's barrier, which saves one of two barriers
  // per step.
  static constexpr bool kDelayed = kAtomic && kTile.score_stages > 1;
  static_assert(!kAtomic || kGradient == Gradient::kDkDv, "dQ's share comes with the keys' scores");

 public:
  __device__ __forceinline__ BwdMainloop(const BwdParams<Element>& parameters, char* shared, TileScheduler block)
      : Tiles{parameters, shared, block} {}

  __device__ __forceinline__ void run() {
    this->load_kept();
    const typename Tiles::Range range = this->steps();
    if (range.first < range.last) this->load_step(range.first, 0);
    if constexpr (kQueriesKept) this->read_row_statistics(rows_);
    int stage = 0;
    for (int step = range.first; step < range.last; ++step) {
      cp_async_wait_group<0>();
      // After this barrier the step's tiles have arrived, and no warp still reads the previous step's tiles.
      if (!injected(InjectedFault::kBackwardBarrier)) __syncthreads();
      if (kTile.stages > 1 && step + 1 < range.last) this->load_step(step + 1, stage ^ 1);
      if constexpr (kDelayed) {
        if (step > range.first) add_query_gradient<Geometry>(*this, step - 1);
        this->next_scores();
      }
      if (this->needs_mask(step)) {
        advance<true>(step, stage);
      } else {
        advance<false>(step, stage);
      }
      if (kTile.stages > 1) {
        stage ^= 1;
      } else if (step + 1 < range.last) {
        __syncthreads();
        this->load_step(step + 1, 0);
      }
    }
    if constexpr (kDelayed) {
      __syncthreads();
      add_query_gradient<Geometry>(*this, range.last - 1);
    }
    finish();
  }

 private:
  using Scores = typename Geometry::Scores;
  using Operand = std::uint32_t[Geometry::kRowBlocks][Geometry::kColBlocks][2];

  /// Returns the address of the warp's rows in the i-th stationary tile.
  __device__ __forceinline__ std::uint32_t warp_rows(int i) const {
    return this->kept(i) + Geometry::row_block(place_.warp) * 16 * kRowBytes;
  }

  template <bool kMasked>
  __device__ __forceinline__ void advance(int step, int stage) {
    constexpr int kCols = kTile.streamed_rows / kTile.sharing_warps;
    const std::uint32_t first = this->streamed(stage), second = first + Geometry::kStreamedBytes;
    const float* const statistics = this->statistics(stage);
    const int first_col = Geometry::part(place_.warp) * kCols;
#pragma unroll 1
    for (int col = first_col; col < first_col + kCols; col += kTile.cols_at_once) {
      Scores s = {};
      multiply_by_transposed<Element, kHeadDim>(s, place_.lane, warp_rows(0), first + col * kRowBytes);
      to_probabilities<kMasked>(s, step * kTile.streamed_rows + col, statistics + col);
      if constexpr (kWithValues) {
        Operand p;
        pack_scores<Element>(s, p);
        if (injected(InjectedFault::kDvSkipTile) && step == 0) clear(p);
        if constexpr (Geometry::kSharesRows) leave_probabilities<Geometry>(p, *this);
        add_gradient(values_, p, second, col);
      }
      if constexpr (kWithKeys) {
        Scores dp = {};
        multiply_by_transposed<Element, kHeadDim>(dp, place_.lane, warp_rows(1), second + col * kRowBytes);
        score_gradients<Geometry>(s, dp, place_, rows_, statistics + kTile.streamed_rows + col);
        Operand ds;
        pack_scores<Element>(dp, ds);
        if (kQueriesKept && injected(InjectedFault::kDqSkipTile) && step == 0) clear(ds);
        if constexpr (Geometry::kSharesRows) {  // stored before this warp's own product, so that the partner need not
                                                // wait for that product
          store_scores<Geometry>(ds, *this, col);
          announce_scores(place_);
        }
        add_gradient(keys_, ds, first, col);
        if constexpr (kAtomic && !Geometry::kSharesRows) store_scores<Geometry>(ds, *this, col);
      }
    }
    if constexpr (Geometry::kSharesRows) add_products_of_partner(first, second, kCols - first_col);
    if constexpr (kAtomic && !kDelayed) {
      __syncthreads();  // now every warp has stored its dS
      add_query_gradient<Geometry>(*this, step);
    }
  }

  /// Adds the products with the partner's half of the scores, from column `col` on, to the warp's half of the
  /// gradients.
  __device__ __forceinline__ void add_products_of_partner(std::uint32_t first, std::uint32_t second, int col) {
    await_partner(place_);
    Operand p, ds;
    take_probabilities<Geometry>(p, *this);
    add_gradient(values_, p, second, col);
    take_score_gradients<Geometry>(ds, *this, col);
    add_gradient(keys_, ds, first, col);
  }

  /// Adds to `sums` the product of scores and the rows of the streamed tile `right` from row `col` on, for the warp's
  /// share of the tile's columns.
  __device__ __forceinline__ void add_gradient(typename Geometry::Accumulator& sums, const Operand& scores,
                                               std::uint32_t right, int col) const {
    multiply_by<Element, kHeadDim>(sums, place_.lane, scores, right + col * kRowBytes + this->gradient_offset());
  }

  template <bool kMasked>
  __device__ __forceinline__ void to_probabilities(Scores& s, int first_col, const float* col_lse) const {
    const float scale = p_.scale * kLog2E * (injected(InjectedFault::kBackwardScale) ? 1.05f : 1.0f);
    probabilities<Geometry, kMasked>(
        p_, place_, s, first_col, rows_, col_lse, [this](int m) { return this->row(m); },
        [scale](float score, float lse) {
          constexpr bool kBase2 = kQueriesKept || kAtomic;  // whether lse already has base 2
          return exp2_approximate(fmaf(score, scale, -(kBase2 ? lse : lse * kLog2E)));
        });
  }

  __device__ __forceinline__ static void clear(Operand& packed) {
#pragma unroll
    for (int m = 0; m < Geometry::kRowBlocks; ++m) {
#pragma unroll
      for (int n = 0; n < Geometry::kColBlocks; ++n) packed[m][n][0] = packed[m][n][1] = 0;
    }
  }

  /// Stores the gradients. They pass through the memory of the stationary tiles, which are no longer needed.
  __device__ __forceinline__ void finish() {
    cp_async_wait_group<0>();
    __syncthreads();
    if constexpr (kWithKeys) {
      const bool forgets_scale = !kQueriesKept && injected(InjectedFault::kDkScale);
      this->write_gradient(0, keys_, forgets_scale ? 1.0f : p_.scale);
    }
    if constexpr (kWithValues) this->write_gradient(1, values_, 1.0f);
    __syncthreads();
    if constexpr (kWithKeys) this->store_gradient(0, kQueriesKept ? p_.dq : p_.dk);
    if constexpr (kWithValues) this->store_gradient(1, p_.dv);
  }

  typename Geometry::Accumulator keys_ = {};  // dK, or dQ with stationary queries
  typename Geometry::Accumulator values_ = {};
  RowStats<Geometry> rows_;
};

/// Runs a CTA of a split pass, which computes dK, dV, both, or dQ.
template <class Element, int kHeadDim>
__device__ __forceinline__ void run_split_backward_16bit(const BwdParams<Element>& p, char* shared) {
  TileScheduler place = schedule_tile(p.heads_first);
  const auto run = [&]<Gradient kGradient>() {
    BwdMainloop<Element, kHeadDim, BwdSplit, kGradient, false>{p, shared, place}.run();
  };
  constexpr bool kApart = splits_keys_from_values(kHeadDim);
  if (!keeps_keys(place, p.heads_first, p.kv_tiles * (kApart ? 2 : 1))) {
    return run.template operator()<Gradient::kDq>();
  }
  if constexpr (kApart) {
    if (place.tile < p.kv_tiles) return run.template operator()<Gradient::kDk>();
    place.tile -= p.kv_tiles;
    run.template operator()<Gradient::kDv>();
  } else {
    run.template operator()<Gradient::kDkDv>();
  }
}

}  // namespace tbench::kernels::sm80
