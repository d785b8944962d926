// Configs of the sm90 backward kernels: tiles, the contents of shared memory and workspace, the order of the work tiles
// and launches (pure host functions). heuristics/sm90_bwd.hpp selects a config. Also declares the launches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/attention/sm90/fwd/config.hpp"

namespace tbench::kernels::sm90 {

inline constexpr std::array<std::int64_t, 4> kBackwardHeadDims{64, 80, 128, 256};

/// Schedule of the work tiles: persistent CTAs, or one tile per CTA. Each schedule has its own kernels.
enum class BwdSchedule {
  kPersistent,     // head_dim 64, 80, kPerKvTile at 128: at most one CTA per SM; tiles overlap at their ends
  kOneTilePerCta,  // head_dim 128, 256: tiles do not overlap, and steps need no bookkeeping
};

/// Constants of a backward kernel. A work tile is 128 keys (64 at head_dim 256) and the queries that see them. A
/// literal type; see FwdConfig.
struct BwdConfig {
  int queries{};  // per step
  int stages{};   // stages of Q and of dO
  int registers{};
  int copying_registers{};
  bool early_gradients{};  // dP^T is issued together with S^T instead of after S^T
  bool operator==(const BwdConfig&) const = default;
};

constexpr int kBackwardGroups = 2;  // consumer warpgroups; the CTA also has one producer warpgroup
constexpr int kBackwardKeys = kBackwardGroups * kWgmmaM;  // keys per work tile up to head_dim 128; see backward_keys()
constexpr int kBackwardThreads = (kBackwardGroups + 1) * kGroupThreads;

/// Number of warpgroups with different keys. Each warpgroup holds kWgmmaM keys. At head_dim 256 both hold the same
/// keys: one computes dV and the other dK.
[[nodiscard]] constexpr int backward_key_groups(int head_dim) { return head_dim <= 128 ? kBackwardGroups : 1; }
[[nodiscard]] constexpr int backward_keys(int head_dim) { return backward_key_groups(head_dim) * kWgmmaM; }

/// Columns of a panel. At head_dim 80 tiles have five 16-column panels: padded to 128 columns, tiles of 128 queries per
/// step would not fit into shared memory.
[[nodiscard]] constexpr int backward_panel_columns(int head_dim) {
  return head_dim == 80 ? kSwizzle32Cols : kSwizzle128Cols;
}

/// Returns the config for a head_dim. From head_dim 128 on there are only 64 queries per step: at 128, dK and dV of 64
/// keys together take half of a thread's registers, and at 256 each of them does.
[[nodiscard]] constexpr BwdConfig backward_tile(int head_dim) {
  const bool narrow = head_dim <= 80;  // early dP^T is faster there (measured)
  return {
      .queries = narrow ? 128 : 64, .stages = 2, .registers = 240, .copying_registers = 24, .early_gradients = narrow};
}

/// Byte offsets in a CTA's shared memory. Tiles start at multiples of 1,024, as the 128-byte swizzle requires. With
/// persistent CTAs K and V have two stages: the next work tile's K and V are loaded while the products read the current
/// ones. dS has two buffers, so that dS K can be computed one step later. At head_dim 256 P passes through shared
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

/// The stationary side of a work tile of the split backward pass. A tile with stationary K/V computes dK and dV while
/// it iterates over queries; a tile with stationary Q computes dQ while it iterates over keys. S and dP are computed
/// twice, so there are seven products instead of five. In return no gradient is a sum over work tiles: dS does not pass
/// through shared memory, nothing is added atomically, and results are bitwise identical in every run.
enum class Stationary { kKv, kQ };

/// Accumulation of dQ over the K/V tiles. With kAtomic, tiles add dQ atomically to sums that the preprocess kernel
/// clears. With kPerKvTile, every K/V tile stores its own partial dQ, and the postprocess kernel adds these partial dQ.
/// With kPerHead, a CTA takes all K/V tiles of a head, or a share of them, and is the only one to add to its sums of
/// dQ; a CTA that has the whole head writes dQ itself. Except for kAtomic, no sums are cleared, and results are bitwise
/// identical in every run.
enum class DqAccumulation {
  kAtomic,
  kPerKvTile,
  kPerHead,
  kNone,  // split backward pass; see Stationary
};
constexpr int kMaxSumsApart = 4;   // maximum number of K/V tiles per head with kPerKvTile
constexpr int kMaxHeadShares = 2;  // maximum number of CTAs per head with kPerHead

/// Maximum number of queries, and of keys, per head with kPerHead.
constexpr int kMaxHeadRows = 1024;

/// Whether the warpgroups issue products in ping-pong order. With the other accumulations a CTA has few work tiles. In
/// ping-pong order, it would have no other work to hide the latency of a step that waits for its turn.
[[nodiscard]] constexpr bool uses_pingpong(int head_dim, DqAccumulation sums) {
  return head_dim <= 80 && sums == DqAccumulation::kAtomic;
}

/// With grouped-query attention, the square of the number of steps per head, times the heads of a work tile, is below
/// this limit. A multiplication by gqa_multiplier() then divides every step of the work tile exactly.
constexpr std::int64_t kMaxGqaSteps = std::int64_t{1} << 32;

/// Returns 2^32 / steps, rounded up, for more than one step.
[[nodiscard]] constexpr std::uint32_t gqa_multiplier(int steps) {
  return 0xffffffffu / static_cast<std::uint32_t>(steps) + 1u;
}

/// A step among the steps of all heads of a work tile: its head of Q, counted from the work tile's first, and the step
/// among the steps of that head.
struct StepOfHead {
  int head{}, step{};
  bool operator==(const StepOfHead&) const = default;
};
/// @param multiplier  gqa_multiplier(steps_of_head)
[[nodiscard]] constexpr StepOfHead step_of_head(int step, int steps_of_head, std::uint32_t multiplier) {
  const std::uint64_t product = static_cast<std::uint64_t>(static_cast<std::uint32_t>(step)) * multiplier;
  const int head = steps_of_head == 1 ? step : static_cast<int>(product >> 32);
  return {head, step - head * steps_of_head};
}

/// Whether the steps of the problem's work tiles stay below kMaxGqaSteps.
[[nodiscard]] bool has_few_gqa_steps(const AttentionShape& shape);

struct BwdPlan {
  BwdSchedule blocks{};
  DqAccumulation sums{};  // kPerKvTile requires persistent CTAs and at most kMaxSumsApart K/V tiles per head
  int shares = 1;         // kPerHead: number of CTAs that share a head's K/V tiles, at most kMaxHeadShares
  int parts = 1;          // grouped-query attention: number of work tiles among which the heads of Q that share a K/V
                          // tile are divided evenly
  bool is_alone{};        // split backward pass with fused row statistics: no preprocess kernel
  bool operator==(const BwdPlan&) const = default;
};

/// Byte sizes of the workspace's parts. The queries of each head are rounded up to `rows`, a multiple of every kernel's
/// step.
struct BwdWorkspace {
  std::int64_t rows{};
  std::size_t lse_bytes{};    // float32 [batch, heads, rows]: -lse / scale, where S starts; -infinity from seq_q on
  std::size_t delta_bytes{};  // as many: -delta, the initial value of dP; 0 from seq_q on
  /// Sums of dQ in float32 in the layout of accumulators; see SoftmaxGrad::add_query_gradient(). There is one set of
  /// sums, with kPerKvTile one set per K/V tile of a head, with kPerHead one per share. 0 for the split backward pass,
  /// and if one CTA has all of a head and the head has a single K/V tile.
  std::size_t sums_bytes{};
  /// dK, and as many bytes of dV, of each part of a group of heads in float32 in the layout of accumulators, [parts,
  /// batch, kv_heads, kv_rows, head_dim]; 0 if there is only one part.
  std::size_t kv_sums_bytes{};
  std::int64_t kv_rows{};  // keys of a head, rounded up to whole K/V tiles
  [[nodiscard]] std::size_t bytes() const { return lse_bytes + delta_bytes + sums_bytes + 2 * kv_sums_bytes; }
  bool operator==(const BwdWorkspace&) const = default;
};
[[nodiscard]] BwdWorkspace backward_workspace(const AttentionShape& shape, const BwdPlan& plan);

/// The order in which CTAs take work tiles, which are K/V tiles. All tiles of a group of `heads` heads come before the
/// next group's tiles, so that Q, dO and the dQ sums in use stay in the L2 cache. Groups have about the same size: a
/// small last group would start its heaviest tile when hardly any other work is left to overlap it.
///
/// With a causal mask the first keys are seen by the most queries, and a group begins with these heaviest tiles. With
/// persistent CTAs groups alternate: the last group and every second group before it begin with their heaviest tiles,
/// the other groups with their lightest. If every group began with its heaviest tiles, the CTAs that take the first
/// tiles would get all of the heavy ones, and up to 1.7 times their share of the work.
///
/// With grouped-query attention, a head here is a part of the heads of Q that share a head of K and V.
struct BwdTileOrder {
  int tiles{};  // per head
  int heads{};  // per group
  int items{};  // in all heads
  bool operator==(const BwdTileOrder&) const = default;
};
[[nodiscard]] BwdTileOrder backward_order(const AttentionShape& shape, int parts = 1);

/// Returns into how many parts to divide the heads of Q that share a head of K and V, for the shortest pass. All steps
/// of a work tile run on one SM. Under a causal mask, the pass takes at least as long as its heaviest work tile, which
/// has twice the average steps; without a mask, it takes whole rounds of work tiles.
[[nodiscard]] int backward_parts(const AttentionShape& shape, int multiprocessors);

/// Returns the faster schedule for kAtomic: persistent CTAs up to head_dim 80 (heuristics/sm90_bwd.csv).
[[nodiscard]] BwdSchedule backward_blocks(const AttentionShape& shape);

/// Whether TMA can read and write the tensors of the problem's layout (tma_supports()). With kPerHead and kNone dQ must
/// also be accessible 16 bytes at a time.
[[nodiscard]] bool backward_supports_layout(const AttentionProblem& problem, const BwdPlan& plan);

[[nodiscard]] Launch backward_launch(const AttentionShape& shape, BwdSchedule blocks, const DeviceLimits& limits,
                                     int parts = 1);
/// Return the launches of the preprocess kernel, which computes lse and delta and clears the sums, of the postprocess
/// kernel, which converts the sums to dQ, and of the kernel that adds the parts' dK and dV.
[[nodiscard]] Launch backward_prepare_launch(const AttentionShape& shape);
[[nodiscard]] Launch backward_convert_launch(const AttentionShape& shape);
[[nodiscard]] Launch backward_add_parts_launch(const AttentionShape& shape);

/// Launches the backward pass on `stream` without synchronising. The problem has an instance (see BwdSchedule) and
/// a layout that backward_supports_layout() accepts.
/// @throws  cuda::CudaError
template <Precision kPrecision>  // kBf16, kFp16
void launch_backward(const AttentionProblem& problem, const AttentionBackward& arguments, BwdPlan choice,
                     const DeviceLimits& limits, cudaStream_t stream);

/// The same for grouped-query attention, whose plans are kAtomic or, with persistent CTAs, kPerKvTile, up to head_dim
/// 128.
template <Precision kPrecision>
void launch_gqa_backward(const AttentionProblem& problem, const AttentionBackward& arguments, BwdPlan choice,
                         const DeviceLimits& limits, cudaStream_t stream);

}  // namespace tbench::kernels::sm90
