// Stationary and streamed tiles of a backward CTA in every precision.
//
//     gradient of           holds     streams    scores it computes            accumulates in registers
//     keys and values       K, V      Q, dO      S^T = K Q^T, dP^T = V dO^T    dV += P^T dO, dK += dS^T Q
//     queries               Q, dO     K, V       S = Q K^T, dP = dO V^T        dQ += dS K
//
// Here P = exp(scale * S - lse), dS = P * (dP - delta), delta = rowsum(dO * O). Scores stay in registers in both cases:
// their accumulators have the layout of the next product's left operand, because their rows are the stationary rows.
#pragma once

#include "kernels/attention/common/smem_tile.cuh"
#include "kernels/attention/sm80/bwd/config.hpp"

namespace tbench::kernels::sm80 {

/// Extents of a CTA's tiles and of a warp's share of them, and their offsets in shared memory. If `kAddsQueryGradient`,
/// a CTA with a K/V tile also adds its contribution to dQ.
template <class StoredElement, int kRowElements, class Tile, bool kKeepsQueries, bool kAddsQueryGradient>
struct BwdGeometry {
  using Element = StoredElement;
  static constexpr int kHeadDim = kRowElements;
  static constexpr BwdConfig kTile = Tile::tile(kHeadDim);
  static constexpr bool kQueriesKept = kKeepsQueries;
  static constexpr bool kAtomic = kAddsQueryGradient;
  static constexpr int kThreads = kTile.warps * kWarpSize;
  static constexpr bool kSharesRows = kTile.sharing_warps > 1;  // sm80/bwd/warp_pair_16bit.cuh
  static constexpr int kRowWarps = kTile.warps / kTile.split_warps;
  static constexpr int kRowBlocks = kTile.kept_rows * kTile.sharing_warps / kRowWarps / 16;  // per warp
  static constexpr int kColBlocks = kTile.cols_at_once / 8;
  static constexpr int kDimBlocks = kHeadDim / 8;
  static constexpr int kGradientBlocks = kDimBlocks / kTile.sharing_warps;  // per warp; half if two warps share rows
  static constexpr int kRowBytes = row_bytes<Element>(kHeadDim);
  static constexpr int kKeptBytes = kTile.kept_rows * kRowBytes;
  static constexpr int kStreamedBytes = kTile.streamed_rows * kRowBytes;
  // In shared memory, dS is [key, query] if its elements have 16 bits, since ldmatrix.trans transposes them, and
  // [query, key] if they have 32 bits.
  static constexpr bool kKeysByQueries = sizeof(Element) == 2;
  static constexpr int kScoreRowBytes = row_bytes<Element>(kKeysByQueries ? kTile.streamed_rows : kTile.kept_rows);
  static constexpr int kScoreBytes = (kKeysByQueries ? kTile.kept_rows : kTile.streamed_rows) * kScoreRowBytes;
  static constexpr int kProbabilityBytes = kRowBlocks * kColBlocks * 8 * 16 * 2;  // bytes of a warp's P, in 16 bits
  // Byte offsets in shared memory, which holds two stationary tiles, two streamed tiles per stage, dS, P if warps share
  // rows, and lse and delta of queries.
  static constexpr int kStreamed = 2 * kKeptBytes;
  static constexpr int kScores = kStreamed + 2 * kTile.stages * kStreamedBytes;
  static constexpr int kProbabilities = kScores + (kAtomic ? kTile.score_stages * kScoreBytes : 0);
  static constexpr int kStatistics = kProbabilities + (kSharesRows ? kTile.warps * kProbabilityBytes : 0);
  static_assert(kTile.warps == kRowWarps * kTile.split_warps, "groups divide warps evenly");
  static_assert(kTile.kept_rows * kTile.sharing_warps == kRowWarps * kRowBlocks * 16,
                "a warp takes a whole number of 16-row blocks");
  static_assert(kTile.streamed_rows % (kTile.split_warps * kTile.cols_at_once) == 0 && kTile.cols_at_once % 16 == 0,
                "columns divide evenly");
  static_assert(!kAtomic || !kQueriesKept, "dQ's share comes with the keys' scores");
  static_assert(!kSharesRows || (kAtomic && kTile.sharing_warps == 2 && kTile.streamed_rows == 2 * kTile.cols_at_once),
                "two warps of the same rows take half a step's columns each");
  static_assert(kDimBlocks % (2 * kTile.sharing_warps) == 0, "and head_dim in blocks of 16");

  // Scores and gradients of a warp, in the layout of the products' accumulators.
  using Scores = float[kRowBlocks][kColBlocks][4];
  using Accumulator = float[kRowBlocks][kGradientBlocks][4];

  /// Index of the warp's first row block and, below, the warp's index among the warps that share its rows.
  __device__ __forceinline__ static int row_block(int warp) { return (kSharesRows ? warp / 2 : warp) * kRowBlocks; }
  __device__ __forceinline__ static int part(int warp) { return kSharesRows ? warp % 2 : 0; }
};

/// Coordinates of a thread in a CTA whose rows begin at `first_row`.
struct WarpCoord {
  int warp, lane;
  int first_row;
};

/// The stationary rows of a CTA, and its steps over the streamed rows. Base of the classes that load these rows.
template <class Geometry, class Parameters>
class BwdOperands {
  using Element = typename Geometry::Element;
  static constexpr BwdConfig kTile = Geometry::kTile;
  static constexpr bool kQueriesKept = Geometry::kQueriesKept;

 public:
  __device__ __forceinline__ const Parameters& parameters() const { return p_; }
  __device__ __forceinline__ const WarpCoord& place() const { return place_; }

 protected:
  struct Range {
    int first, last;
  };

  __device__ __forceinline__ BwdOperands(const Parameters& parameters, int tile)
      : p_{parameters},
        place_{static_cast<int>(threadIdx.x) / kWarpSize, static_cast<int>(threadIdx.x) % kWarpSize,
               tile * kTile.kept_rows} {}

  __device__ __forceinline__ const GlobalMatrix<const Element>& kept_matrix(int i) const {
    return kQueriesKept ? (i == 0 ? p_.q : p_.grad_o) : (i == 0 ? p_.k : p_.v);
  }
  __device__ __forceinline__ const GlobalMatrix<const Element>& streamed_matrix(int i) const {
    return kQueriesKept ? (i == 0 ? p_.k : p_.v) : (i == 0 ? p_.q : p_.grad_o);
  }
  __device__ __forceinline__ int kept_extent() const { return kQueriesKept ? p_.seq_q : p_.seq_kv; }
  __device__ __forceinline__ int streamed_extent() const { return kQueriesKept ? p_.seq_kv : p_.seq_q; }

  /// Returns the range of steps that the mask does not hide completely.
  __device__ __forceinline__ Range steps() const {
    const int end =
        kQueriesKept && p_.causal ? min(streamed_extent(), place_.first_row + kTile.kept_rows) : streamed_extent();
    return {!kQueriesKept && p_.causal ? place_.first_row / kTile.streamed_rows : 0,
            (end + kTile.streamed_rows - 1) / kTile.streamed_rows};
  }

  /// Whether a step's tile crosses the diagonal, the end of the keys or the end of the streamed queries.
  __device__ __forceinline__ bool needs_mask(int step) const {
    const int first_col = step * kTile.streamed_rows, end_col = first_col + kTile.streamed_rows;
    const bool over_keys = (kQueriesKept ? end_col : place_.first_row + kTile.kept_rows) > p_.seq_kv;
    const bool over_end = over_keys || (!kQueriesKept && end_col > p_.seq_q);
    const bool over_diagonal =
        kQueriesKept ? end_col > place_.first_row : first_col < place_.first_row + kTile.kept_rows;
    return over_end || (p_.causal && over_diagonal);
  }

  const Parameters& p_;  // parameters of the kernel
  WarpCoord place_;
};

}  // namespace tbench::kernels::sm80
