// Schedule of the sm90 backward pass with kPerHead: the K/V tiles of each head, or of each share of a head, from the
// last to the first.
#pragma once

#include <type_traits>

#include "kernels/attention/sm90/bwd_persistent/per_head_config.hpp"
#include "kernels/attention/sm90/bwd_persistent/smem.cuh"

namespace tbench::kernels::sm90 {

/// Order of the work tiles. Each CTA takes pairs of a head and a share of that head. Also holds the view of dQ, which
/// CTAs with whole heads store.
struct PerHeadOrder {
  int shares;                  // per head
  int last[kMaxHeadShares]{};  // index of each share's last tile
  int pairs;
  FastDivmod by_shares;
  TensorView dq;  // every row starts on a 16-byte boundary
};
using PerHeadParams = BwdParams<TensorView, PerHeadOrder>;

inline PerHeadOrder heads_order(const AttentionShape& shape, int shares, const TensorView& dq) {
  const int tiles = static_cast<int>(block_count(shape.seq_kv, kBackwardKeys));
  PerHeadOrder order{.shares = shares,
                     .pairs = static_cast<int>(shape.batch * shape.heads) * shares,
                     .by_shares = make_fast_divmod(shares),
                     .dq = dq};
  for (int share = 0; share < shares; ++share) order.last[share] = tiles_of_share(tiles, share, shares) - 1;
  return order;
}

/// One of a CTA's work tiles: tile number nth of a pair. Packed in one register.
struct PerHeadTile {
  static constexpr unsigned kMaxTiles = kMaxHeadRows / kBackwardKeys;
  unsigned place;  // pair * kMaxTiles + nth

  __device__ __forceinline__ int pair() const { return static_cast<int>(place / kMaxTiles); }
  __device__ __forceinline__ int nth() const { return static_cast<int>(place % kMaxTiles); }
};
struct HeadSlice {
  int head, share, last;
};
__device__ __forceinline__ HeadSlice head_share(const PerHeadParams& p, const PerHeadTile& item) {
  const int head = divide(item.pair(), p.order.by_shares), share = item.pair() - head * p.order.shares;
  return {head, share, p.order.last[share]};
}
__device__ __forceinline__ PerHeadTile first_of_pair(const PerHeadParams& p, int pair) {
  const PerHeadTile item{static_cast<unsigned>(pair) * PerHeadTile::kMaxTiles};
  return {item.place + static_cast<unsigned>(head_share(p, item).last)};
}

__device__ __forceinline__ PerHeadTile first_of_block(const PerHeadParams& p) {
  return first_of_pair(p, static_cast<int>(blockIdx.x));
}
__device__ __forceinline__ bool exists(const PerHeadParams& p, const PerHeadTile& item) {
  return item.pair() < p.order.pairs;
}
__device__ __forceinline__ PerHeadTile next_of_block(const PerHeadParams& p, const PerHeadTile& item, std::uint32_t) {
  if (item.nth() > 0) return {item.place - 1};
  return first_of_pair(p, item.pair() + static_cast<int>(gridDim.x));
}
__device__ __forceinline__ KvTile backward_item(const PerHeadParams& p, const PerHeadTile& item) {
  const HeadSlice of = head_share(p, item);
  return {tile_of_share(item.nth(), of.share, p.order.shares), of.head};
}

template <DqAccumulation kSums>
using PersistentParamsFor = std::conditional_t<kSums == DqAccumulation::kPerHead, PerHeadParams, PersistentParams>;

/// Returns the first query to which an earlier work tile of the pair has contributed dQ.
__device__ __forceinline__ int first_seen_query(const PerHeadParams& p, const PerHeadTile& item) {
  const HeadSlice of = head_share(p, item);
  if (item.nth() == of.last) return p.rows;
  return p.causal ? tile_of_share(item.nth() + 1, of.share, p.order.shares) * kBackwardKeys : 0;
}

/// Returns the index of the sums of dQ: of the head among the heads of all shares.
__device__ __forceinline__ int head_of_sums(const PerHeadParams& p, const PerHeadTile& item) {
  const HeadSlice of = head_share(p, item);
  return of.share * p.batch_heads + of.head;
}

}  // namespace tbench::kernels::sm90
