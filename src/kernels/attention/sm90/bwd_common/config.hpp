// Configs of the sm90 backward kernels: tiles, the contents of shared memory and workspace, the order of the work tiles
// and launches (pure host functions). heuristics/sm90_bwd.hpp selects one. Declares the launches themselves, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/attention/sm90/fwd/config.hpp"

namespace tbench::kernels::sm90 {

inline constexpr std::array<std::int64_t, 4> kBackwardHeadDims{64, 80, 128, 256};

/// Schedule of the work tiles: persistent CTAs, or one tile per CTA. Each has its own kernels.
enum class BwdSchedule {
  kPersistent,     // head_dim 64, 80: at most one CTA per SM; a tile's start and end overlap the steps of others
  kOneTilePerCta,  // head_dim 128, 256: no overlap of tiles, and no bookkeeping in every step
};

/// Constants of a backward kernel. A work tile is 128 keys (64 at head_dim 256) and the queries that see them. A
/// literal type; see FwdConfig.
struct BwdConfig {
  int queries{};  // per step
  int stages{};   // stages of Q and of dO
  int registers{};
  int copying_registers{};
  bool early_gradients{};  // dP^T is issued together with S^T instead of after it
  bool operator==(const BwdConfig&) const = default;
};

constexpr int kBackwardGroups = 2;  // consumer warpgroups; the CTA has one producer warpgroup, too
constexpr int kBackwardKeys = kBackwardGroups * kWgmmaM;  // up to head_dim 128, see backward_keys()
constexpr int kBackwardThreads = (kBackwardGroups + 1) * kGroupThreads;

/// Each warpgroup holds kWgmmaM keys. At head_dim 256 both hold the same keys: one makes their dV, the other their dK.
[[nodiscard]] constexpr int backward_key_groups(int head_dim) { return head_dim <= 128 ? kBackwardGroups : 1; }
[[nodiscard]] constexpr int backward_keys(int head_dim) { return backward_key_groups(head_dim) * kWgmmaM; }

/// head_dim 80 has five 16-column panels: filled up to 128 columns, tiles of 128 queries per step would not fit shared
/// memory.
[[nodiscard]] constexpr int backward_panel_columns(int head_dim) {
  return head_dim == 80 ? kSwizzle32Cols : kSwizzle128Cols;
}

/// head_dim 128 has half as many queries per step, because dK and dV of 64 keys take half of a thread's registers; at
/// head_dim 256 either of them takes half.
[[nodiscard]] constexpr BwdConfig backward_tile(int head_dim) {
  const bool narrow = head_dim <= 80;  // early dP^T where it was measured to be faster
  return {
      .queries = narrow ? 128 : 64, .stages = 2, .registers = 240, .copying_registers = 24, .early_gradients = narrow};
}

/// Byte offsets in a CTA's shared memory. Tiles start at multiples of 1,024, as the 128-byte swizzle requires. With
/// persistent CTAs K and V have two stages: the next work tile's K and V are loaded while the products read the current
/// ones. dS has two buffers, so that its product with K can come one step late. At head_dim 256 P crosses shared
/// memory, too, as float32.
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

/// The stationary side of a work tile of the split backward pass. A tile with stationary K/V makes dK and dV while it
/// walks over queries; a tile with stationary Q makes dQ while it walks over keys. S and dP are computed twice, so
/// there are seven products instead of five. In return no gradient is a sum over work tiles: nothing crosses shared
/// memory or is added atomically, and the bits are the same in every run.
enum class Stationary { kKv, kQ };

/// Accumulation of dQ over the K/V tiles. With kPerKvTile every K/V tile stores a partial dQ of its own: nothing has to
/// be cleared, and the bits are the same in every run, but the postprocess kernel reads one partial dQ per tile. With
/// kPerHead a CTA takes all K/V tiles of a head, or a share of them, so that its threads keep the running sums of dQ.
/// Nothing is cleared or atomic, the bits are the same in every run, and a CTA that has the whole head writes dQ
/// itself.
enum class DqAccumulation {
  kAtomic,
  kPerKvTile,
  kPerHead,
  kNone,  // split backward; see Stationary
};
constexpr int kMaxSumsApart = 4;   // K/V tiles
constexpr int kMaxHeadShares = 2;  // CTAs

/// Maximum of queries, and of keys, per head with kPerHead.
constexpr int kMaxHeadRows = 1024;

/// Whether the warpgroups issue products in ping-pong order. Where a CTA has few work tiles, as with the other
/// accumulations, a step that waits for its turn is latency that nothing hides.
[[nodiscard]] constexpr bool uses_pingpong(int head_dim, DqAccumulation sums) {
  return head_dim <= 80 && sums == DqAccumulation::kAtomic;
}

struct BwdPlan {
  BwdSchedule blocks{};
  DqAccumulation sums{};  // kPerKvTile: persistent CTAs, and at most kMaxSumsApart K/V tiles
  int shares = 1;         // kPerHead: CTAs per head, at most kMaxHeadShares, which share its K/V tiles
  bool is_alone{};        // split backward with fused row statistics: no preprocess kernel
  bool operator==(const BwdPlan&) const = default;
};

/// Byte sizes of the workspace's parts. The queries of each head are rounded up to `rows`, a multiple of every kernel's
/// step.
struct BwdWorkspace {
  std::int64_t rows{};
  std::size_t lse_bytes{};    // float32 [batch, heads, rows]: -lse / scale, where S starts; -infinity beyond the end
  std::size_t delta_bytes{};  // as many: -delta, where dP starts; 0 beyond the end
  /// dQ as float32 in the accumulators' own layout, see SoftmaxGrad::add_query_gradient(). kPerKvTile has [K/V tile]
  /// and kPerHead [share] of them. The split backward pass has none, nor has a CTA with all of a head's single K/V
  /// tile.
  std::size_t sums_bytes{};
  [[nodiscard]] std::size_t bytes() const { return lse_bytes + delta_bytes + sums_bytes; }
  bool operator==(const BwdWorkspace&) const = default;
};
[[nodiscard]] BwdWorkspace backward_workspace(const AttentionShape& shape, DqAccumulation sums, int shares = 1);

/// The order in which CTAs take work tiles, which are K/V tiles. All tiles of a group of `heads` heads come before any
/// of the next group, so that Q, dO and the dQ sums in use stay in the L2 cache. Groups are of about the same size: a
/// small one at the end would start its heaviest tile when little else is left to overlap it.
///
/// With a causal mask the first keys are seen by the most queries, and a group begins with these heaviest tiles. With
/// persistent CTAs groups alternate: the last one and every second one before it begin with their heaviest tiles, the
/// others with their lightest. If every group began with its heaviest, the CTAs that come first would get all of them,
/// up to 1.7 times their share.
struct BwdTileOrder {
  int tiles{};  // per head
  int heads{};  // per group
  int items{};  // in all heads
  bool operator==(const BwdTileOrder&) const = default;
};
[[nodiscard]] BwdTileOrder backward_order(const AttentionShape& shape);

/// Returns the faster schedule for kAtomic: persistent CTAs up to head_dim 80 (heuristics/sm90_bwd.csv).
[[nodiscard]] BwdSchedule backward_blocks(const AttentionShape& shape);

/// Whether TMA can read and write the tensors of the problem's layout (tma_supports()). With kPerHead dQ, too, is
/// stored 16 bytes at a time.
[[nodiscard]] bool backward_supports_layout(const AttentionProblem& problem, const BwdPlan& plan);

[[nodiscard]] Launch backward_launch(const AttentionShape& shape, BwdSchedule blocks, const DeviceLimits& limits);
/// Launches of the preprocess kernel, which makes lse and delta and clears the sums, and of the postprocess kernel,
/// which converts them to dQ.
[[nodiscard]] Launch backward_prepare_launch(const AttentionShape& shape);
[[nodiscard]] Launch backward_convert_launch(const AttentionShape& shape);

/// Launches the backward pass on `stream` without synchronising. The problem has an instance (see BwdSchedule) and
/// a layout that backward_supports_layout() accepts.
/// @throws  cuda::CudaError
template <Precision kPrecision>  // kBf16, kFp16
void launch_backward(const AttentionProblem& problem, const AttentionBackward& arguments, BwdPlan choice,
                     const DeviceLimits& limits, cudaStream_t stream);

}  // namespace tbench::kernels::sm90
