// Which problems Hopper's backward kernels take, what lies in a block's shared memory and in the workspace, and the
// launches that follow: pure host functions. And those launches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/attention/sm90/fwd/config.hpp"

namespace tbench::kernels::sm90 {

inline constexpr std::array<std::int64_t, 4> kBackwardHeadDims{64, 80, 128, 256};

/// Which of two kernels computes a problem: a block that takes one item after another, or a block an item.
enum class BwdSchedule {
  kPersistent,     // head_dim 64, 80: at most one a multiprocessor, an item's beginning and end beside others' steps
  kOneTilePerCta,  // head_dim 128, 256: nothing beside its steps, and nothing to find out again in every one of them
};

/// An item is 128 keys, of 256 columns 64, with the queries that see them. A literal type; see FwdConfig.
struct BwdConfig {
  int queries{};  // of a step
  int stages{};   // buffers of Q and of dO
  int registers{};
  int copying_registers{};
  bool early_gradients{};  // dP^T is issued with S^T, not after it
  bool operator==(const BwdConfig&) const = default;
};

constexpr int kBackwardGroups = 2;                        // warpgroups that compute; one more copies
constexpr int kBackwardKeys = kBackwardGroups * kWgmmaM;  // of up to 128 columns, see backward_keys()
constexpr int kBackwardThreads = (kBackwardGroups + 1) * kGroupThreads;

/// Each warpgroup keeps kWgmmaM keys; of 256 columns both keep the same: one their dV, the other their dK.
[[nodiscard]] constexpr int backward_key_groups(int head_dim) { return head_dim <= 128 ? kBackwardGroups : 1; }
[[nodiscard]] constexpr int backward_keys(int head_dim) { return backward_key_groups(head_dim) * kWgmmaM; }

/// Of 80 columns five panels of 16: filled up to 128 the tiles of 128 queries a step would not fit shared memory.
[[nodiscard]] constexpr int backward_panel_columns(int head_dim) {
  return head_dim == 80 ? kSwizzle32Cols : kSwizzle128Cols;
}

/// Of 128 columns half the queries a step, because dK and dV of 64 keys take half of a thread's registers; of 256
/// columns either does.
[[nodiscard]] constexpr BwdConfig backward_tile(int head_dim) {
  const bool narrow = head_dim <= 80;  // early dP^T: as was measured
  return {
      .queries = narrow ? 128 : 64, .stages = 2, .registers = 240, .copying_registers = 24, .early_gradients = narrow};
}

/// Where what lies in a block's shared memory; bytes. Tiles start at multiples of 1,024, as the 128-byte swizzle wants
/// it. Where blocks stay, K and V have two buffers: the next item's come while the products read the last one's. dS has
/// two, so that its product with K can come a step late. Of 256 columns P crosses, too, as float32.
struct BwdSmemLayout {
  int k{}, v{}, q{}, grad_o{}, scores{}, probabilities{}, lse{}, delta{}, barriers{}, end{};
};
constexpr int kKeptStages = 2;
[[nodiscard]] constexpr BwdSmemLayout backward_shared(int head_dim, BwdSchedule blocks) {
  const BwdConfig tile = backward_tile(head_dim);
  const int row = head_dim * 2, kept_stages = blocks == BwdSchedule::kPersistent ? kKeptStages : 1;
  const int keys = backward_keys(head_dim), kept = kept_stages * keys * row;
  const int streamed = tile.stages * tile.queries * row, scores = 2 * tile.queries * keys * 2;
  const int probabilities = head_dim <= 128 ? 0 : tile.queries * keys * 4, statistics = tile.stages * tile.queries * 4;
  BwdSmemLayout shared{.k = 0, .v = kept, .q = 2 * kept};
  shared.grad_o = shared.q + streamed;
  shared.scores = shared.grad_o + streamed;
  shared.probabilities = shared.scores + scores;
  shared.lse = shared.probabilities + probabilities;
  shared.delta = shared.lse + statistics;
  shared.barriers = shared.delta + statistics;
  shared.end = shared.barriers + kBarrierBytes;
  return shared;
}

/// What an item keeps where items are of two kinds: keys, whose dK and dV it makes while it walks over queries, or
/// queries, whose dQ it makes while it walks over keys. S and dP are made twice, so seven products instead of five, but
/// no gradient is a sum of several items': nothing crosses shared memory, nothing is added atomically, and the bits are
/// the same every time.
enum class Stationary { kKv, kQ };

/// How dQ is added up. Apart, every tile of keys leaves its share of dQ beside the others': nothing has to be cleared,
/// and the bits are the same every time, but there is a tile's share more to read for every tile. By heads, a block has
/// all tiles of keys of a head, or a share of them, so that the running sums of dQ are its threads' own: nothing is
/// cleared or atomic, the bits are the same every time, and where it has all of them it writes dQ itself.
enum class DqAccumulation {
  kAtomic,
  kPerKvTile,
  kPerHead,
  kNone,  // by items of two kinds; see Kept
};
constexpr int kMaxSumsApart = 4;   // tiles of keys
constexpr int kMaxHeadShares = 2;  // blocks

/// Queries, and keys, of a head that is computed by heads.
constexpr int kMaxHeadRows = 1024;

/// Of the warpgroups, to issue products. Where a block's items are few, as they are with the other sums, a step that
/// waits for its turn is latency that nobody hides.
[[nodiscard]] constexpr bool uses_pingpong(int head_dim, DqAccumulation sums) {
  return head_dim <= 80 && sums == DqAccumulation::kAtomic;
}

struct BwdPlan {
  BwdSchedule blocks{};
  DqAccumulation sums{};  // kPerKvTile where blocks stay, and there are at most kMaxSumsApart tiles of keys
  int shares = 1;         // by heads: among how many blocks, at most kMaxHeadShares, a head's tiles are dealt
  bool is_alone{};        // of two kinds: no kernel before makes lse and delta
  bool operator==(const BwdPlan&) const = default;
};

/// What lies where in the workspace, of each head queries rounded up to `rows`, a multiple of every step; bytes.
struct BwdWorkspace {
  std::int64_t rows{};
  std::size_t lse_bytes{};  // float32 [batch, heads, rows]: -lse / scale, which S starts from; -infinity beyond the end
  std::size_t delta_bytes{};  // as much: -delta, which dP starts from; 0 there
  /// dQ as float32 in the accumulators' own layout, see SoftmaxGrad::add_query_gradient(); apart: [tile of keys] of
  /// them, by heads [share], none where a block has all of a head's single tile of keys, or of two kinds of items
  std::size_t sums_bytes{};
  [[nodiscard]] std::size_t bytes() const { return lse_bytes + delta_bytes + sums_bytes; }
  bool operator==(const BwdWorkspace&) const = default;
};
[[nodiscard]] BwdWorkspace backward_workspace(const AttentionShape& shape, DqAccumulation sums, int shares = 1);

/// The order in which blocks take tiles of keys, their items: those of a group of `heads` heads, then the next group's,
/// so that Q, dO and the sums of dQ of the heads under way stay in the L2 cache. Groups are of about the same size: a
/// small one at the end would start its heaviest tile when little else is left to do beside it. Of a group the heaviest
/// come first (with a causal mask the first keys are seen by the most queries); where blocks stay, of the last group
/// and every second one before it, while the others begin with their lightest: if every group began with its heaviest,
/// the blocks that come first would be dealt them all, up to 1.7 times their share.
struct BwdTileOrder {
  int tiles{};  // of a head
  int heads{};  // of a group
  int items{};  // of all heads
  bool operator==(const BwdTileOrder&) const = default;
};
[[nodiscard]] BwdTileOrder backward_order(const AttentionShape& shape);

/// The kernel that was measured to be the faster one.
[[nodiscard]] BwdSchedule backward_blocks(const AttentionShape& shape);

/// How Hopper's kernels compute `problem`; nothing where they cannot or where Ampere's were measured to be faster.
[[nodiscard]] std::optional<BwdPlan> choose_backward(const AttentionProblem& problem, const DeviceLimits& limits);

/// Whether the copy engine can read and write the arguments (tma_supports()); by heads dQ, too, leaves 16 bytes at a
/// time.
[[nodiscard]] bool supports_layout(const AttentionProblem& problem, const AttentionBackward& arguments,
                                   const BwdPlan& choice);

/// 0 where Ampere's kernels are chosen.
[[nodiscard]] std::size_t backward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits);

[[nodiscard]] Launch backward_launch(const AttentionShape& shape, BwdSchedule blocks, const DeviceLimits& limits);
/// Of the kernel before, which makes lse and delta and clears the sums, and the one after, which makes dQ of them.
[[nodiscard]] Launch backward_prepare_launch(const AttentionShape& shape);
[[nodiscard]] Launch backward_convert_launch(const AttentionShape& shape);

/// Enqueues the backward pass, for a problem with an instance (see BwdSchedule) and arguments that supports_layout()
/// accepts.
/// @throws  cuda::CudaError
template <Precision kPrecision>  // kBf16, kFp16
void launch_backward(const AttentionProblem& problem, const AttentionBackward& arguments, BwdPlan choice,
                     const DeviceLimits& limits, cudaStream_t stream);

}  // namespace tbench::kernels::sm90
