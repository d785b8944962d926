// Selection of the sm90 forward kernel: which problems it takes, with which config and launch (pure host functions).
// Declares the launch itself, too.
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

constexpr int kWgmmaM = 64;  // queries per warpgroup: M of wgmma
constexpr int kGroupThreads = 128;

/// Columns of a panel. A tile in shared memory is a sequence of 64-column panels of 128 bytes each, the span of the
/// widest swizzle; the last panel is filled up with zeros. At head_dim 32 a panel has 32 columns, because half of a
/// wider one would be zeros. In the backward pass head_dim 80 has five 16-column panels and no zeros.
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

/// Returns the place of a row's n-th 16-byte vector in its panel. Vectors are permuted by XOR within their row. A row
/// of 128 bytes permutes eight vectors with its row number (the 128-byte swizzle). Rows of 64 bytes permute four, and
/// the two rows that share 128 bytes permute them alike (the 64-byte swizzle).
template <int kRowBytes>
[[nodiscard]] constexpr int swizzled_vector(int row, int vector) {
  static_assert(kRowBytes == kSwizzle128Cols * 2 || kRowBytes == kSwizzle64Cols * 2);
  return vector ^ row / (kSwizzle128Cols * 2 / kRowBytes) % (kRowBytes / 16);
}

inline constexpr std::array<std::int64_t, 5> kForwardHeadDims{32, 64, 80, 128, 256};
/// Whether the problem has 16-bit elements and one of `head_dims`.
[[nodiscard]] bool has_instance(const AttentionProblem& problem, std::span<const std::int64_t> head_dims);

/// Constants of a forward kernel. A literal type that kernels reach through a type, as in the sm80 kernels.
struct FwdConfig {
  int warp_groups{};  // consumer warpgroups per group, each with kWgmmaM queries; the CTA has one producer warpgroup
  int cols{};         // keys per step
  int stages{};       // stages of K and of V
  int registers{};    // per consumer thread; copying_registers: per producer thread
  int copying_registers{};
  bool queries_in_registers{};  // Q is read from shared memory once per work tile instead of once per step
  bool stores_registers{};      // O leaves from registers instead of through shared memory of its own
  int query_stages{1};          // stages of Q
  int teams{1};  // consumer groups per CTA; each has its own work tiles, shared memory and producer thread
  bool operator==(const FwdConfig&) const = default;
};

[[nodiscard]] constexpr int rows(FwdConfig tile) { return tile.warp_groups * kWgmmaM; }
[[nodiscard]] constexpr int threads(FwdConfig tile) { return (tile.teams * tile.warp_groups + 1) * kGroupThreads; }

/// 128 queries by 128 keys. O and Q of 64 rows by 128 columns fit 232 registers next to S and P. Serves head_dim 128;
/// few tiles at head_dim 32, 64 and 80; and short sequences at head_dim 80.
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
/// room for S and P of 64 keys, not of 128.
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

/// 256 queries by 64 keys, head_dim 32. S and P of half as many keys leave registers for a fourth consumer warpgroup,
/// so that the exponential unit, which limits this kernel, always has scores to work on.
struct FwdM256N64 {
  static constexpr FwdConfig tile() {
    return {.warp_groups = 4, .cols = 64, .stages = 4, .registers = 112, .copying_registers = 32};
  }
};

/// 128 queries by 64 keys, head_dim 256. O takes 128 registers per thread, so Q is read from shared memory in every
/// step. Q and two stages of K and V leave no shared memory for O.
struct FwdM128N64 {
  static constexpr FwdConfig tile() {
    return {
        .warp_groups = 2, .cols = 64, .stages = 2, .registers = 232, .copying_registers = 40, .stores_registers = true};
  }
};

/// 128 queries by 64 keys, head_dim 64, two consumer groups per CTA. While one group starts or ends a work tile, with
/// little to compute, the other computes. For sequences of up to some thousand tokens.
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

/// 64 queries by 128 keys, head_dim 64, two consumer groups per CTA, of one warpgroup each. For so few work tiles that
/// each group has one, which takes less time than one of 128 queries.
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

/// Whether setmaxnreg can provide the tile's registers. A CTA starts with as many registers per thread as 64 Ki allow,
/// in multiples of eight, and setmaxnreg redistributes these. A warpgroup that asks for more blocks for ever.
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

/// Byte offsets in a consumer group's shared memory. Everything but the barriers starts at a multiple of 1,024, as the
/// 128-byte swizzle requires.
struct FwdSmemLayout {
  int q{};
  int o{};  // empty if O leaves from registers
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
/// Bytes from one consumer group's shared memory to the next one's.
[[nodiscard]] constexpr int team_bytes(FwdConfig tile, int head_dim) {
  const int end = forward_shared(tile, head_dim).end;
  return tile.teams == 1 ? end : (end + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

/// Names of the structs above. At head_dim 80 kM192 is FwdM192N64; head_dim 256 has FwdM128N64 alone, whatever the
/// value.
enum class FwdConfigId { kM128N128, kM192, kM256N64, kM128N64x2, kM64N128x2 };

/// A planned forward launch. It has at most one CTA per SM; a CTA's next work tile starts to load while the last one
/// ends.
struct FwdPlan {
  FwdConfigId tiles{};
  /// Dynamic schedule: CTAs take their next work tile from an atomic counter, which has to be cleared first, a launch
  /// of 1.7 us. Otherwise the schedule is static, in snake order, so that a CTA's heavy and light work tiles add up.
  bool counted{};
  bool in_turns{};  // see TileOrder
  /// Programmatic dependent launch: the kernel may start before the previous one has ended. Not after a counter is
  /// cleared.
  bool overlaps{};
  bool operator==(const FwdPlan&) const = default;
};

/// The order in which CTAs take work tiles, which are Q tiles. All tiles of a group of `heads` heads come before any of
/// the next group, so that the K and V in use stay in the L2 cache. With a causal mask a group begins with its heaviest
/// tiles.
///
/// With `in_turns`, groups are of about the same size and alternate: the last one begins with its heaviest tiles, the
/// one before it with its lightest, and so on. If every group began with its heaviest, the CTAs that come first would
/// get all of them.
struct TileOrder {
  int tiles{};  // per head
  int heads{};  // per group
  int items{};  // in all heads
  int last_group{};
  bool in_turns{};
  bool operator==(const TileOrder&) const = default;
};
[[nodiscard]] TileOrder forward_order(const AttentionShape& shape, int rows, bool in_turns);

/// Divisors of forward_item().
struct TileDivmods {
  FastDivmod group_items{};
  FastDivmod group_heads{};
  FastDivmod last_group_heads{};
  FastDivmod batch_heads{};  // heads per batch
};
[[nodiscard]] TileDivmods forward_divisors(const TileOrder& order, const AttentionShape& shape);

/// A work tile: which Q tile of which head.
struct WorkTile {
  int tile{};
  int head{};
  int batch{};
  bool operator==(const WorkTile&) const = default;
};
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

/// Returns the plan of the sm90 kernel for `problem`; nothing if it cannot compute the problem or the sm80 kernels are
/// faster.
[[nodiscard]] std::optional<FwdPlan> choose_forward(const AttentionProblem& problem, const DeviceLimits& limits);

/// Whether TMA can read and write the arguments (tma_supports()).
[[nodiscard]] bool supports_layout(const AttentionProblem& problem, const AttentionForward& arguments);

/// Bytes for the dynamic schedule's counter; 0 for a static schedule.
[[nodiscard]] std::size_t forward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits);

[[nodiscard]] Launch forward_launch(const AttentionShape& shape, FwdConfig tile, const DeviceLimits& limits);

/// Launches the planned forward kernel on `stream` without synchronising. The arguments are such that supports_layout()
/// accepts them. Instantiated for kBf16 and kFp16 in one translation unit per precision, so that they compile in
/// parallel.
/// @throws  cuda::CudaError
template <Precision kPrecision>
void launch_forward(const AttentionProblem& problem, const AttentionForward& arguments, FwdPlan choice,
                    const DeviceLimits& limits, cudaStream_t stream);

}  // namespace tbench::kernels::sm90
