// Constants of the sm90 split backward kernel, in which no gradient is a sum over work tiles: tiles, shared memory, the
// order of the work tiles and the launch configuration (pure host functions). Also declares the launch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/sm90/bwd_common/config.hpp"

namespace tbench::kernels::sm90 {

/// Consumer groups per CTA. Each group is one consumer warpgroup with its own work tiles and shared memory. In the
/// CTA's producer warpgroup, one lane of one warp per group loads that group's tiles.
constexpr int kKindsTeams = 2;
constexpr int kKindsThreads = (kKindsTeams + 1) * kGroupThreads;
inline constexpr int kKindsHeadDim = 64;

/// Constants of a split kernel, whose tiles and steps have kWgmmaM rows. A literal type; see FwdConfig.
struct SplitConfig {
  int stages{};       // stages per consumer group of a step's Q and dO, or K and V
  int kept_stages{};  // stages per consumer group of the stationary rows
  int registers{};    // registers per consumer thread; copying_registers: per producer thread
  int copying_registers{};
  bool makes_statistics{};  // whether the kernel computes lse and delta itself; see RowStatsWarp
  bool operator==(const SplitConfig&) const = default;
};

/// Config with a preprocess kernel, which computes the initial values of S and dP.
struct SplitPreprocessed {
  static constexpr SplitConfig tile() {
    return {.stages = 4, .kept_stages = 2, .registers = 240, .copying_registers = 24};
  }
};
/// Config without a preprocess kernel: one more warp of the producer warpgroup per consumer group computes the row
/// statistics. O is streamed, too, so that there is shared memory for one stage less.
struct SplitFusedStats {
  static constexpr SplitConfig tile() {
    return {.stages = 3, .kept_stages = 2, .registers = 232, .copying_registers = 40, .makes_statistics = true};
  }
};
[[nodiscard]] constexpr bool fits_registers(SplitConfig tile) {
  return fits_registers(kKindsTeams, tile.registers, tile.copying_registers);
}
static_assert(fits_registers(SplitPreprocessed::tile()) && fits_registers(SplitFusedStats::tile()));

/// Byte offsets in a consumer group's shared memory. Tiles start at multiples of 1,024.
struct SplitSmemLayout {
  int kept{};                           // [stage, operand of S or dP, 64, 64]
  int stages{};                         // [stage, operand of S or dP, or O if loaded, 64, 64]
  int kept_statistics{}, statistics{};  // float32 [stage, lse or delta, rows] of the stationary or streamed rows,
                                        // whichever are queries; with makes_statistics, kept_statistics has size 0
  int barriers{}, end{};
};
constexpr int kKindsTileBytes = kWgmmaM * kKindsHeadDim * 2;
/// Returns the tiles per stage. With makes_statistics, O is loaded with dO.
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
/// Returns the distance in bytes between the shared memory of successive consumer groups.
[[nodiscard]] constexpr int team_bytes(SplitConfig tile) {
  return (kinds_shared(tile).end + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

/// The order of the work tiles, each a K/V tile or a Q tile of a head. With a causal mask the heaviest K/V tiles and Q
/// tiles of all heads come first. Without a mask the K/V tiles come first, because their steps have one more product.
struct SplitOrder {
  int key_tiles{}, query_tiles{};   // per head
  int items{};                      // in all heads
  FastDivmod all_heads{}, heads{};  // heads of all batches, and of one batch
};
[[nodiscard]] SplitOrder kinds_order(const AttentionShape& shape);

struct SplitTile {
  Stationary kept{};
  int tile{};
  int head{};  // index among the heads of all batches
  bool operator==(const SplitTile&) const = default;
};
[[nodiscard]] constexpr SplitTile kinds_item(const SplitOrder& order, bool causal, int item) {
  const int nth = divide(item, order.all_heads), head = item - nth * order.all_heads.value;
  if (!causal) {
    const bool keeps_keys = nth < order.key_tiles;
    return {keeps_keys ? Stationary::kKv : Stationary::kQ, keeps_keys ? nth : nth - order.key_tiles, head};
  }
  // The first keys are seen by the most queries, the last queries see the most keys, and there are as many K/V tiles as
  // Q tiles.
  const bool keeps_keys = nth % 2 == 0;
  return {keeps_keys ? Stationary::kKv : Stationary::kQ, keeps_keys ? nth / 2 : order.query_tiles - 1 - nth / 2, head};
}

/// Returns a launch with at most one CTA per SM. The consumer groups take one work tile after another.
[[nodiscard]] Launch kinds_launch(const AttentionShape& shape, SplitConfig tile, const DeviceLimits& limits);

/// Launches the split backward pass on `stream` without synchronising, for head_dim 64 and arguments that can be loaded
/// and stored 16 bytes at a time. The workspace holds lse and delta as described at BwdWorkspace, and is not used if
/// `is_alone`.
/// @throws  cuda::CudaError
template <Precision kPrecision>  // kBf16, kFp16
void launch_backward_kinds(const AttentionProblem& problem, const AttentionBackward& arguments, bool is_alone,
                           const DeviceLimits& limits, cudaStream_t stream);

}  // namespace tbench::kernels::sm90
