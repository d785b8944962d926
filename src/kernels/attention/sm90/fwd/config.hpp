// Configs of the sm90 forward kernel: tiles, shared memory, the order of the work tiles and launches (pure host
// functions). heuristics/sm90_fwd.hpp selects a config. Also declares the launch.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/attention/common/launch.hpp"
#include "kernels/attention/sm90/common/fast_divmod.hpp"
#include "kernels/attention/sm90/common/smem_layout.hpp"
#include "kernels/attention/sm90/common/swizzle.hpp"
#include "tbench/kernels/attention_problem.hpp"
#include "tbench/kernels/device_limits.hpp"

namespace tbench::kernels::sm90 {

inline constexpr std::array<std::int64_t, 5> kForwardHeadDims{32, 64, 80, 128, 256};
/// Whether the problem has 16-bit elements and one of `head_dims`.
[[nodiscard]] bool has_instance(const AttentionProblem& problem, std::span<const std::int64_t> head_dims);

/// Constants of a forward kernel. A literal type; kernels take the struct whose tile() returns it as a template
/// parameter, as in sm80/fwd/config.hpp.
struct FwdConfig {
  int warp_groups{};  // consumer warpgroups per consumer group, each with kWgmmaM queries; the CTA also has one
                      // producer warpgroup
  int cols{};         // keys per step
  int stages{};       // stages of K and of V
  int registers{};    // registers per consumer thread; copying_registers: per producer thread
  int copying_registers{};
  bool queries_in_registers{};  // Q is read from shared memory once per work tile instead of once per step
  bool stores_registers{};      // O is stored directly from registers instead of through shared memory
  int query_stages{1};          // stages of Q
  int teams{1};  // consumer groups per CTA; each has its own work tiles, shared memory and producer thread
  bool operator==(const FwdConfig&) const = default;
};

[[nodiscard]] constexpr int rows(FwdConfig tile) { return tile.warp_groups * kWgmmaM; }
[[nodiscard]] constexpr int threads(FwdConfig tile) { return (tile.teams * tile.warp_groups + 1) * kGroupThreads; }

/// 128 queries by 128 keys. O and Q of 64 rows by 128 columns fit into 232 registers next to S and P. For head_dim 128,
/// for few tiles at head_dim 32, 64 and 80, and for short sequences at head_dim 80.
struct FwdM128N128 {
  static constexpr FwdConfig tile() {
    return {.warp_groups = 2,
            .cols = 128,
            .stages = 2,
            .registers = 232,
            .copying_registers = 40,
            .queries_in_registers = true};
  }
};

/// 192 queries by 128 keys, head_dim 64. A third consumer warpgroup hides latency, and K and V in shared memory serve
/// more queries.
struct FwdM192N128 {
  static constexpr FwdConfig tile() {
    return {.warp_groups = 3, .cols = 128, .stages = 2, .registers = 160, .copying_registers = 32};
  }
};

/// 192 queries by 64 keys, head_dim 80. With three consumer warpgroups, a thread that holds Q and O at head_dim 80 has
/// registers for S and P of 64 keys, but not of 128.
struct FwdM192N64 {
  static constexpr FwdConfig tile() {
    return {.warp_groups = 3,
            .cols = 64,
            .stages = 3,
            .registers = 160,
            .copying_registers = 32,
            .queries_in_registers = true};
  }
};

/// 192 queries by 64 keys, head_dim 128 without a mask. For lengths at which tiles of 128 queries would leave most SMs
/// idle in the last round. O takes 64 registers per thread, so Q is read from shared memory in every step.
struct FwdM192N64Wide {
  static constexpr FwdConfig tile() {
    return {.warp_groups = 3, .cols = 64, .stages = 3, .registers = 160, .copying_registers = 32};
  }
};

/// 256 queries by 64 keys, head_dim 32. S and P of only 64 keys leave registers for a fourth consumer warpgroup, so
/// that the exponential unit, which limits this kernel, is always busy.
struct FwdM256N64 {
  static constexpr FwdConfig tile() {
    return {.warp_groups = 4, .cols = 64, .stages = 4, .registers = 112, .copying_registers = 32};
  }
};

/// 128 queries by 64 keys, head_dim 256. O takes 128 registers per thread, so Q is read from shared memory in every
/// step. Q and two stages of K and V leave no shared memory for O, which is stored from registers.
struct FwdM128N64 {
  static constexpr FwdConfig tile() {
    return {
        .warp_groups = 2, .cols = 64, .stages = 2, .registers = 232, .copying_registers = 40, .stores_registers = true};
  }
};

/// 128 queries by 64 keys, head_dim 64, two consumer groups per CTA. While one group starts or ends a work tile and has
/// little to compute, the other group keeps the tensor cores busy. For sequences of up to some thousand tokens.
struct FwdM128N64x2 {
  static constexpr FwdConfig tile() {
    return {.warp_groups = 2,
            .cols = 64,
            .stages = 3,
            .registers = 112,
            .copying_registers = 32,
            .query_stages = 2,
            .teams = 2};
  }
};

/// 64 queries by 128 keys, head_dim 64, two consumer groups of one warpgroup each per CTA. For so few work tiles that
/// each group has at most one: a tile of 64 queries takes less time than a tile of 128.
struct FwdM64N128x2 {
  static constexpr FwdConfig tile() {
    return {.warp_groups = 1,
            .cols = 128,
            .stages = 2,
            .registers = 232,
            .copying_registers = 40,
            .queries_in_registers = true,
            .stores_registers = true,
            .teams = 2};
  }
};

[[nodiscard]] constexpr bool fits_registers(FwdConfig tile) {
  return fits_registers(tile.teams * tile.warp_groups, tile.registers, tile.copying_registers);
}
static_assert(fits_registers(FwdM128N128::tile()) && fits_registers(FwdM192N128::tile()) &&
              fits_registers(FwdM192N64::tile()) && fits_registers(FwdM192N64Wide::tile()) &&
              fits_registers(FwdM256N64::tile()) && fits_registers(FwdM128N64::tile()) &&
              fits_registers(FwdM128N64x2::tile()) && fits_registers(FwdM64N128x2::tile()));

/// Byte offsets in a consumer group's shared memory. All parts except the barriers start at multiples of 1,024, as the
/// 128-byte swizzle requires.
struct FwdSmemLayout {
  int q{};
  int o{};  // size 0 if O is stored from registers
  int k{}, v{}, barriers{}, end{};
};
[[nodiscard]] constexpr FwdSmemLayout forward_shared(FwdConfig tile, int head_dim) {
  const int row = padded_columns(head_dim) * 2;
  const int queries = rows(tile) * row, all_queries = tile.query_stages * queries;
  const int keys = tile.stages * tile.cols * row;
  FwdSmemLayout shared{.q = 0, .o = all_queries, .k = tile.stores_registers ? all_queries : all_queries + queries};
  shared.v = shared.k + keys;
  shared.barriers = shared.v + keys;
  shared.end = shared.barriers + kBarrierBytes;
  return shared;
}
/// Returns the distance in bytes between the shared memory of successive consumer groups.
[[nodiscard]] constexpr int team_bytes(FwdConfig tile, int head_dim) {
  const int end = forward_shared(tile, head_dim).end;
  return tile.teams == 1 ? end : (end + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

/// Names of the config structs above.
enum class FwdConfigId { kM128N128, kM192N128, kM192N64, kM192N64Wide, kM256N64, kM128N64, kM128N64x2, kM64N128x2 };
[[nodiscard]] FwdConfig forward_tile(FwdConfigId tiles);

/// A planned forward launch. It has at most one CTA per SM; a CTA starts to load its next work tile while it finishes
/// the current tile.
struct FwdPlan {
  FwdConfigId tiles{};
  /// Whether the schedule is dynamic: CTAs take their next work tile from an atomic counter, which has to be cleared
  /// first, by a launch of 1.7 us. Otherwise the schedule is static, in snake order, so that each CTA gets both heavy
  /// and light work tiles.
  bool counted{};
  bool in_turns{};  // see TileOrder
  /// Whether to use programmatic dependent launch: the kernel may start before the previous kernel has ended. Not
  /// possible with a dynamic schedule, whose counter is cleared first.
  bool overlaps{};
  bool operator==(const FwdPlan&) const = default;
};

/// The order in which CTAs take work tiles, which are Q tiles. All tiles of a group of `heads` heads come before the
/// next group's tiles, so that the K and V in use stay in the L2 cache. Heads that share K and V are in one group. With
/// a causal mask a group begins with its heaviest tiles.
///
/// With `in_turns`, groups have about the same size and alternate: the last group begins with its heaviest tiles, the
/// group before it with its lightest tiles, and so on. If every group began with its heaviest tiles, the CTAs that take
/// the first tiles would get all of the heavy ones.
struct TileOrder {
  int tiles{};  // per head
  int heads{};  // per group
  int items{};  // in all heads
  int last_group{};
  bool in_turns{};
  bool operator==(const TileOrder&) const = default;
};
[[nodiscard]] TileOrder forward_order(const AttentionShape& shape, int rows, bool in_turns);

/// Precomputed divisors for forward_item().
struct TileDivmods {
  FastDivmod group_items{};
  FastDivmod group_heads{};
  FastDivmod last_group_heads{};
  FastDivmod batch_heads{};  // heads per batch
};
[[nodiscard]] TileDivmods forward_divisors(const TileOrder& order, const AttentionShape& shape);

/// A work tile: a Q tile of a head.
struct WorkTile {
  int tile{};
  int head{};
  int batch{};
  bool operator==(const WorkTile&) const = default;
};
/// Returns work tile number `item` in the order.
/// @param heads  heads per batch
[[nodiscard]] constexpr WorkTile forward_item(const TileOrder& order, const TileDivmods& divisors, int heads,
                                              bool causal, int item) {
  const int group = divide(item, divisors.group_items), first_head = group * order.heads;
  const bool is_last = group == order.last_group;  // the last group may be smaller
  const int in_group = item - order.tiles * first_head;
  const int nth = divide(in_group, is_last ? divisors.last_group_heads : divisors.group_heads);
  const int of_group = is_last ? divisors.last_group_heads.value : order.heads;
  const int head = first_head + in_group - nth * of_group, batch = divide(head, divisors.batch_heads);
  // With a causal mask the last queries see the most keys.
  const bool lightest_first = !causal || (order.in_turns && (order.last_group - group) % 2 != 0);
  return {lightest_first ? nth : order.tiles - 1 - nth, head - batch * heads, batch};
}

/// Whether TMA can read and write the tensors of the problem's layout (tma_supports()).
[[nodiscard]] bool forward_supports_layout(const AttentionProblem& problem);

/// Bytes for the dynamic schedule's counter; 0 for a static schedule.
[[nodiscard]] std::size_t forward_workspace_bytes(const FwdPlan& plan);

[[nodiscard]] Launch forward_launch(const AttentionShape& shape, FwdConfig tile, const DeviceLimits& limits);

/// Launches the planned forward kernel on `stream` without synchronising. The problem is one that
/// forward_supports_layout() accepts. kBf16 and kFp16 have their instances in separate translation units, so that these
/// compile in parallel.
/// @throws  cuda::CudaError
template <Precision kPrecision>
void launch_forward(const AttentionProblem& problem, const AttentionForward& arguments, FwdPlan choice,
                    const DeviceLimits& limits, cudaStream_t stream);

/// The same for grouped-query attention.
template <Precision kPrecision>
void launch_gqa_forward(const AttentionProblem& problem, const AttentionForward& arguments, FwdPlan choice,
                        const DeviceLimits& limits, cudaStream_t stream);

}  // namespace tbench::kernels::sm90
