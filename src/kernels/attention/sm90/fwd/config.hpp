// Which problems Hopper's kernels take, with which tiles, and the launch that follows: pure host functions. And that
// launch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/attention/common/launch.hpp"
#include "kernels/attention/sm90/common/fast_divmod.hpp"
#include "tbench/kernels/attention.hpp"

namespace tbench::kernels::sm90 {

constexpr int kWgmmaM = 64;  // queries of a warpgroup: of a wgmma
constexpr int kGroupThreads = 128;

/// Tiles in shared memory are panels of so many columns, 128 bytes, what the widest swizzle permutes; the last one is
/// filled up with zeros. Those of head_dim 32 are panels of 32 columns: filled up, they would be half zeros. Backward,
/// those of head_dim 80 are five panels of 16, none of them zeros.
constexpr int kSwizzle128Cols = 64;
constexpr int kSwizzle64Cols = 32;
constexpr int kSwizzle32Cols = 16;
[[nodiscard]] constexpr int panel_columns(int head_dim) {
  return head_dim <= kSwizzle64Cols ? kSwizzle64Cols : kSwizzle128Cols;
}
[[nodiscard]] constexpr int panels(int head_dim) {
  return (head_dim + panel_columns(head_dim) - 1) / panel_columns(head_dim);
}
[[nodiscard]] constexpr int padded_columns(int head_dim) { return panels(head_dim) * panel_columns(head_dim); }

/// Where a row of a panel has its n-th vector of 16 bytes: of every 128 bytes the vectors are permuted by XOR with
/// their number, counted from a multiple of 1,024, a row's among themselves: eight of rows of 128 bytes (the 128-byte
/// swizzle), four of rows of 64, two of which share 128 bytes (the 64-byte swizzle).
template <int kRowBytes>
[[nodiscard]] constexpr int swizzled_vector(int row, int vector) {
  static_assert(kRowBytes == kSwizzle128Cols * 2 || kRowBytes == kSwizzle64Cols * 2);
  return vector ^ row / (kSwizzle128Cols * 2 / kRowBytes) % (kRowBytes / 16);
}

inline constexpr std::array<std::int64_t, 5> kForwardHeadDims{32, 64, 80, 128, 256};
/// 16-bit elements of one of `head_dims` columns.
[[nodiscard]] bool has_instance(const AttentionProblem& problem, std::span<const std::int64_t> head_dims);

/// A literal type; kernels reach it through a type, as those of Ampere do.
struct FwdConfig {
  int warp_groups{};  // that compute an item; each takes kWgmmaM queries. One more copies.
  int cols{};         // keys and values of a step
  int stages{};       // buffers of K and of V
  int registers{};    // of a computing thread, and
  int copying_registers{};
  bool queries_in_registers{};  // Q is read from shared memory once a tile, not once a step
  bool stores_registers{};      // O leaves from registers, not by way of shared memory of its own
  int query_stages{1};          // buffers of Q
  int teams{1};                 // of a block; each has items and shared memory of its own, and a thread that copies
  bool operator==(const FwdConfig&) const = default;
};

[[nodiscard]] constexpr int rows(FwdConfig tile) { return tile.warp_groups * kWgmmaM; }
[[nodiscard]] constexpr int threads(FwdConfig tile) { return (tile.teams * tile.warp_groups + 1) * kGroupThreads; }

/// 128 queries by 128 keys: O and Q of 64 rows by 128 columns fit 232 registers beside S and P. Head_dim 128, and for
/// few tiles 32, 64 and 80, for few keys 80, too.
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

/// 192 queries by 128 keys, head_dim 64: a third warpgroup to hide latencies, and K and V in shared memory serve more
/// queries.
struct FwdM192N128 {
  static constexpr FwdConfig tile() {
    return {.warp_groups = 3, .cols = 128, .stages = 2, .registers = 160, .copying_registers = 32};
  }
};

/// 192 queries by 64 keys, head_dim 80: beside Q and O of 80 columns a thread of three warpgroups has room for S and P
/// of 64 keys, not of 128.
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

/// 256 queries by 64 keys, head_dim 32: S and P of half as many keys leave registers for a fourth warpgroup, so that
/// the exponential unit, which sets the pace, always has somebody's scores.
struct FwdM256N64 {
  static constexpr FwdConfig tile() {
    return {.warp_groups = 4, .cols = 64, .stages = 4, .registers = 112, .copying_registers = 32};
  }
};

/// 128 queries by 64 keys, head_dim 256: O is 128 registers of a thread, so that Q has to be read in every step, and
/// beside Q and two stages of keys O has no place in shared memory.
struct FwdM128N64 {
  static constexpr FwdConfig tile() {
    return {
        .warp_groups = 2, .cols = 64, .stages = 2, .registers = 232, .copying_registers = 40, .stores_registers = true};
  }
};

/// 128 queries by 64 keys, head_dim 64, two teams a block: where one begins an item or ends one, with little to compute
/// meanwhile, the other computes. For sequences of up to some thousand tokens.
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

/// 64 queries by 128 keys, head_dim 64, two teams a block, of a warpgroup each: where items are so few that each team
/// has one, which takes less time than one of 128 queries.
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

/// What setmaxnreg deals out: the registers with which a block begins, as many for each thread as 64 Ki allow, in
/// eights. A warpgroup that asks for more waits for ever.
[[nodiscard]] constexpr bool fits_registers(FwdConfig tile) {
  constexpr int kRegisters = 65536, kUnit = 8;
  const int groups = tile.teams * tile.warp_groups + 1;
  const int at_launch = kRegisters / (groups * kGroupThreads) / kUnit * kUnit;
  return (groups - 1) * tile.registers + tile.copying_registers <= groups * at_launch;
}
static_assert(fits_registers(FwdM128N128::tile()) && fits_registers(FwdM192N128::tile()) &&
              fits_registers(FwdM192N64::tile()) && fits_registers(FwdM256N64::tile()) &&
              fits_registers(FwdM128N64::tile()) && fits_registers(FwdM128N64x2::tile()) &&
              fits_registers(FwdM64N128x2::tile()));

/// Where what lies in a team's shared memory; bytes. Everything but the barriers starts at a multiple of 1,024, as the
/// 128-byte swizzle wants it.
struct FwdSmemLayout {
  int q{};
  int o{};  // nothing if it leaves from registers
  int k{}, v{}, barriers{}, end{};
};
constexpr int kBarrierBytes = 256;
constexpr int kSharedAlignment = 1024;
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
/// From a team's to the next one's.
[[nodiscard]] constexpr int team_bytes(FwdConfig tile, int head_dim) {
  const int end = forward_shared(tile, head_dim).end;
  return tile.teams == 1 ? end : (end + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

/// The structs above; of 80 columns kWide is FwdM192N64, and of 256 there is FwdM128N64 alone, whatever is said.
enum class FwdConfigId { kM128N128, kM192, kM256N64, kM128N64x2, kM64N128x2 };

/// There is at most one block a multiprocessor, whose next item's first copies overlap the last one's end.
struct FwdPlan {
  FwdConfigId tiles{};
  /// Blocks take their next item from a counter, which has to be cleared first: a launch of 1.7 us. Else items are
  /// dealt out there and back, so that a block's heavy and light ones add up.
  bool counted{};
  bool in_turns{};  // see TileOrder
  /// The kernel may begin before the one before it has ended: not after a counter is cleared.
  bool overlaps{};
  bool operator==(const FwdPlan&) const = default;
};

/// The order in which blocks take tiles of queries, their items: those of `heads` heads, with a causal mask all their
/// heaviest ones first, then the next heads', so that the K and V of the heads under way stay in the L2 cache. In turns
/// the last group alone begins with its heaviest, the one before it with its lightest, and so on, and groups are of
/// about the same size: if every group began with its heaviest, the blocks that come first would be dealt them all.
struct TileOrder {
  int tiles{};  // of a head
  int heads{};  // of a group
  int items{};  // of all heads
  int last_group{};
  bool in_turns{};
  bool operator==(const TileOrder&) const = default;
};
[[nodiscard]] TileOrder forward_order(const AttentionShape& shape, int rows, bool in_turns);

/// What forward_item() divides by.
struct TileDivmods {
  FastDivmod group_items{};
  FastDivmod group_heads{};
  FastDivmod last_group_heads{};
  FastDivmod batch_heads{};  // of one batch
};
[[nodiscard]] TileDivmods forward_divisors(const TileOrder& order, const AttentionShape& shape);

/// Which of its head's tiles of queries an item is.
struct WorkTile {
  int tile{};
  int head{};
  int batch{};
  bool operator==(const WorkTile&) const = default;
};
/// @param heads  of one batch
[[nodiscard]] constexpr WorkTile forward_item(const TileOrder& order, const TileDivmods& divisors, int heads,
                                              bool causal, int item) {
  const int group = divide(item, divisors.group_items), first_head = group * order.heads;
  const bool is_last = group == order.last_group;  // which may be smaller
  const int in_group = item - order.tiles * first_head;
  const int nth = divide(in_group, is_last ? divisors.last_group_heads : divisors.group_heads);
  const int of_group = is_last ? divisors.last_group_heads.value : order.heads;
  const int head = first_head + in_group - nth * of_group, batch = divide(head, divisors.batch_heads);
  // With a causal mask the last queries see the most keys.
  const bool lightest_first = !causal || (order.in_turns && (order.last_group - group) % 2 != 0);
  return {lightest_first ? nth : order.tiles - 1 - nth, head - batch * heads, batch};
}

/// How Hopper's kernels compute `problem`; nothing where they cannot or where Ampere's were measured to be faster.
[[nodiscard]] std::optional<FwdPlan> choose_forward(const AttentionProblem& problem, const DeviceLimits& limits);

/// Whether the copy engine can read and write the arguments (tma_supports()).
[[nodiscard]] bool supports_layout(const AttentionProblem& problem, const AttentionForward& arguments);

/// Of the counter.
[[nodiscard]] std::size_t forward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits);

[[nodiscard]] Launch forward_launch(const AttentionShape& shape, FwdConfig tile, const DeviceLimits& limits);

/// Enqueues what choose_forward() chose, for arguments that supports_layout() accepts. For kBf16 and kFp16: one
/// translation unit a precision, so that they compile side by side.
/// @throws  cuda::CudaError
template <Precision kPrecision>
void launch_forward(const AttentionProblem& problem, const AttentionForward& arguments, FwdPlan choice,
                    const DeviceLimits& limits, cudaStream_t stream);

}  // namespace tbench::kernels::sm90
