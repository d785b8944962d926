// Hopper's backward kernel whose items are of two kinds, so that no gradient is a sum of several: tiles, shared memory,
// items and their order, and the launch that follows: pure host functions. And that launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/attention/sm90/bwd_common/config.hpp"

namespace tbench::kernels::sm90 {

/// A block is so many teams of a computing warpgroup each, with items and shared memory of their own, and one warpgroup
/// more, of which a lane of each team's warp copies.
constexpr int kKindsTeams = 2;
constexpr int kKindsThreads = (kKindsTeams + 1) * kGroupThreads;
inline constexpr int kKindsHeadDim = 64;

/// Items and steps are of kWgmmaM rows. A literal type; see FwdConfig.
struct SplitConfig {
  int stages{};       // of a team: buffers of a step's Q and dO, or K and V
  int kept_stages{};  // and of what is kept
  int registers{};    // of a computing thread, and
  int copying_registers{};
  bool makes_statistics{};  // lse and delta are not a kernel's before, see RowStatsWarp
  bool operator==(const SplitConfig&) const = default;
};

/// A kernel before makes what S and dP start from.
struct SplitPreprocessed {
  static constexpr SplitConfig tile() {
    return {.stages = 4, .kept_stages = 2, .registers = 240, .copying_registers = 24};
  }
};
/// None does, but another warp a team of the copying warpgroup: O is streamed, too, which leaves a buffer less.
struct SplitFusedStats {
  static constexpr SplitConfig tile() {
    return {.stages = 3, .kept_stages = 2, .registers = 232, .copying_registers = 40, .makes_statistics = true};
  }
};
[[nodiscard]] constexpr bool fits_registers(SplitConfig tile) {
  return fits_registers(FwdConfig{.warp_groups = 1,
                                  .registers = tile.registers,
                                  .copying_registers = tile.copying_registers,
                                  .teams = kKindsTeams});
}
static_assert(fits_registers(SplitPreprocessed::tile()) && fits_registers(SplitFusedStats::tile()));

/// Where what lies in a team's shared memory; bytes. Tiles start at multiples of 1,024.
struct SplitSmemLayout {
  int kept{};                           // [kept stage, for S and for dP, 64, 64]
  int stages{};                         // [stage, for S and for dP and maybe O, 64, 64]
  int kept_statistics{}, statistics{};  // float32 [stage, lse and delta, rows], of whichever rows are queries; none
                                        // of kept ones where statistics are made
  int barriers{}, end{};
};
constexpr int kKindsTileBytes = kWgmmaM * kKindsHeadDim * 2;
/// Of a buffer: where delta is made O comes with dO.
[[nodiscard]] constexpr int stage_tiles(SplitConfig tile) { return tile.makes_statistics ? 3 : 2; }
[[nodiscard]] constexpr SplitSmemLayout kinds_shared(SplitConfig tile) {
  constexpr int kStatistics = 2 * kWgmmaM * 4;
  SplitSmemLayout shared{.kept = 0, .stages = tile.kept_stages * 2 * kKindsTileBytes};
  shared.kept_statistics = shared.stages + tile.stages * stage_tiles(tile) * kKindsTileBytes;
  shared.statistics = shared.kept_statistics + (tile.makes_statistics ? 0 : tile.kept_stages * kStatistics);
  shared.barriers = shared.statistics + tile.stages * kStatistics;
  shared.end = shared.barriers + kBarrierBytes;
  return shared;
}
/// From a team's to the next one's.
[[nodiscard]] constexpr int team_bytes(SplitConfig tile) {
  return (kinds_shared(tile).end + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

/// Items, each a tile of keys or of queries of a head: with a causal mask the heaviest of both kinds first, those
/// of all heads, else first the keys, whose steps have a product more.
struct SplitOrder {
  int key_tiles{}, query_tiles{};   // of a head
  int items{};                      // of all heads
  FastDivmod all_heads{}, heads{};  // of all batches, and of one
};
[[nodiscard]] SplitOrder kinds_order(const AttentionShape& shape);

struct SplitTile {
  Stationary kept{};
  int tile{};
  int head{};  // of all batches'
  bool operator==(const SplitTile&) const = default;
};
[[nodiscard]] constexpr SplitTile kinds_item(const SplitOrder& order, bool causal, int item) {
  const int nth = divide(item, order.all_heads), head = item - nth * order.all_heads.value;
  if (!causal) {
    const bool keeps_keys = nth < order.key_tiles;
    return {keeps_keys ? Stationary::kKv : Stationary::kQ, keeps_keys ? nth : nth - order.key_tiles, head};
  }
  // The first keys are seen by the most queries, the last queries see the most keys, and there are as many tiles.
  const bool keeps_keys = nth % 2 == 0;
  return {keeps_keys ? Stationary::kKv : Stationary::kQ, keeps_keys ? nth / 2 : order.query_tiles - 1 - nth / 2, head};
}

/// At most one block a multiprocessor, whose teams take one item after the other.
[[nodiscard]] Launch kinds_launch(const AttentionShape& shape, SplitConfig tile, const DeviceLimits& limits);

/// Whether items of two kinds were measured to be the fastest, with `multiprocessors`; and whether without a kernel
/// before.
[[nodiscard]] std::optional<BwdPlan> choose_kinds(const AttentionShape& shape, int multiprocessors);

/// Enqueues the backward pass, for head_dim 64 and arguments that can be copied and stored 16 bytes at a time. The
/// workspace holds lse and delta of BwdWorkspace, or nothing if `is_alone`.
/// @throws  cuda::CudaError
template <Precision kPrecision>  // kBf16, kFp16
void launch_backward_kinds(const AttentionProblem& problem, const AttentionBackward& arguments, bool is_alone,
                           const DeviceLimits& limits, cudaStream_t stream);

}  // namespace tbench::kernels::sm90
