// Configs of the sm80 forward kernels in all precisions: tiles, shared memory, launches and workspace (pure host
// functions). heuristics/sm80_fwd.hpp selects a config. Also declares the launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/attention/common/launch.hpp"
#include "kernels/attention/sm80/common/padded_row.hpp"
#include "tbench/kernels/attention_problem.hpp"
#include "tbench/kernels/device_limits.hpp"

namespace tbench::kernels::sm80 {

/// Tile sizes and shared memory of a forward kernel. A literal type, so that kernels can use it in constant
/// expressions.
struct FwdConfig {
  int rows{};          // queries per CTA
  int cols{};          // keys per step
  int warps{};         // each warp takes rows / (warps / split_warps) queries
  int split_warps{1};  // groups of warps that share the same queries and divide the keys of a step
  int stages{1};       // stages of K and of V; with 2, a step's loads have the duration of the preceding step to arrive
  int query_parts{1};  // Q tiles in shared memory; 2 if the elements' big and small parts have a tile each (3xTF32)
  int blocks_per_multiprocessor{};
  bool split_kv{};  // each CTA processes a part of a row's keys and leaves its sums for the combine kernel
  bool operator==(const FwdConfig&) const = default;
};

/// For long sequences: as many queries per warp as registers allow, so that a fragment of K or V read from shared
/// memory serves two products. (Kernels take configs as types, because nvcc 13.0 cannot name a kernel whose template
/// argument is a struct's value.)
struct FwdM128N64 {
  static constexpr FwdConfig tile(int head_dim) {
    if (head_dim > 128) return {.rows = 128, .cols = 64, .warps = 8, .stages = 1, .blocks_per_multiprocessor = 1};
    return {.rows = 128, .cols = 64, .warps = 4, .stages = head_dim > 64 ? 1 : 2, .blocks_per_multiprocessor = 2};
  }
};

/// Half as many queries per CTA as FwdM128N64 and twice as many CTAs. For problems with too few 128-row tiles to fill
/// the GPU, and for short causal problems, in which half of a 128-row tile on the diagonal is masked.
struct FwdM64N64 {
  static constexpr FwdConfig tile(int head_dim) {
    return {.rows = 64,
            .cols = 64,
            .warps = 4,
            .stages = head_dim > 128 ? 1 : 2,
            .blocks_per_multiprocessor = head_dim > 80 ? 2 : 3};
  }
};

/// Groups of warps for the same queries divide the keys of a step. For problems with so few 64-row tiles that each has
/// an SM to itself and the sequence of a warp's steps determines the time. Fewer queries per CTA mean more CTAs, but a
/// key in shared memory serves fewer queries. Up to head_dim 128.
template <int kRows>
struct FwdWarpSplit {
  static_assert(kRows == 64 || kRows == 32 || kRows == 16);
  static constexpr FwdConfig tile(int head_dim) {
    const bool least = kRows == 16;
    return {.rows = kRows,
            .cols = least || head_dim > 64 ? 128 : 256,
            .warps = least ? 4 : 8,
            .split_warps = 4,
            .stages = 2,
            .blocks_per_multiprocessor = 1};
  }
};

/// 64-row tiles, each computed by several CTAs that divide its keys (split-KV). For few Q tiles and many keys, up to
/// head_dim 128.
struct FwdSplitKv {
  static constexpr FwdConfig tile(int head_dim) {
    FwdConfig tile = FwdM64N64::tile(head_dim);
    tile.split_kv = true;
    return tile;
  }
};

[[nodiscard]] constexpr std::size_t forward_shared_bytes(FwdConfig tile, int head_dim) {
  return static_cast<std::size_t>(tile.rows + 2 * tile.stages * tile.cols) * padded_row_bytes_16bit(head_dim);
}

/// Division of a problem's keys among CTAs: `num_splits` CTAs per Q tile, the i-th of which takes keys [i * keys, (i +
/// 1) * keys). `keys` is a multiple of a tile's queries, so that with a causal mask either all or none of a CTA's
/// queries see keys of its part.
struct SplitKv {
  int num_splits{1};
  int keys{};  // keys per part; 0: all keys
  bool operator==(const SplitKv&) const = default;
};

/// Returns a division of the keys with which about all CTAs that have work run at the same time. There is only one part
/// if keys are few, or if there are more Q tiles than SMs (without a mask, when all tiles have equal work, more than
/// half as many).
[[nodiscard]] SplitKv forward_split_kv(const AttentionShape& shape, const DeviceLimits& limits);

/// Byte sizes of the float32 partial results that the CTAs leave if keys are divided.
struct FwdWorkspace {
  std::size_t o_bytes{};    // [batch, heads, num_splits, seq_q, head_dim], rounded up to 256 bytes
  std::size_t lse_bytes{};  // [batch, heads, num_splits, seq_q]
  [[nodiscard]] std::size_t bytes() const { return o_bytes + lse_bytes; }
};
[[nodiscard]] FwdWorkspace forward_workspace(const AttentionShape& shape, SplitKv split_kv);

/// Returns a launch with `num_splits` CTAs per Q tile, head and sequence.
[[nodiscard]] Launch forward_launch(const AttentionShape& shape, FwdConfig tile, int num_splits = 1);

/// Threads per CTA of the combine kernel, and adjacent elements of a row per thread.
constexpr int kCombineThreads = 128;
constexpr int kCombineElements = 4;
[[nodiscard]] Launch forward_combine_launch(const AttentionShape& shape);

/// For long sequences in TF32: 32 queries per warp. The number of stages and the K/V tiles are as large as shared
/// memory allows with two CTAs per SM.
struct FwdFp32Long {
  static constexpr FwdConfig tile(int head_dim) {
    return {.rows = 128,
            .cols = head_dim > 96 ? 32 : 64,
            .warps = 4,
            .stages = head_dim > 64 ? 1 : 2,
            .blocks_per_multiprocessor = head_dim > 16 ? 2 : 3};
  }
};

/// Half as many queries per CTA as FwdFp32Long. For problems with too few 128-row tiles to fill the GPU, and for all
/// `k3xTf32` problems. Three products need registers for their own sums and for both parts of operands, so a warp takes
/// only 16 queries and 32 keys at a time.
template <bool k3xTf32>
struct FwdFp32Short {
  static constexpr FwdConfig tile(int head_dim) {
    if (k3xTf32) {
      return {.rows = 64,
              .cols = 32,
              .warps = 4,
              .stages = head_dim == 80 || head_dim == 96 ? 2 : 1,
              .query_parts = 2,
              .blocks_per_multiprocessor = head_dim <= 64 ? 3 : 2};
    }
    return {.rows = 64,
            .cols = head_dim > 80 ? 32 : 64,
            .warps = 4,
            .stages = 2,
            .blocks_per_multiprocessor = head_dim > 32 ? 2 : 3};
  }
};

/// Several warps for the same queries, each with its share of the keys. For problems with so few 64-row tiles that the
/// sequence of a warp's products determines the time. Fewer queries per CTA mean more CTAs, but a key in shared memory
/// serves fewer queries.
template <bool k3xTf32, int kRows>
struct FwdFp32WarpSplit {
  static_assert(kRows == 64 || kRows == 32 || (kRows == 16 && !k3xTf32));
  static constexpr FwdConfig tile(int head_dim) {
    if (k3xTf32) {
      return {.rows = kRows,
              .cols = 64,
              .warps = 8,
              .split_warps = 128 / kRows,
              .stages = kRows == 32 && head_dim > 80 ? 1 : 2,
              .query_parts = 2,
              .blocks_per_multiprocessor = 64 / kRows};
    }
    const bool least = kRows == 16;
    return {.rows = kRows,
            .cols = least ? 64 : 128,
            .warps = least ? 4 : 8,
            .split_warps = 4,
            .stages = least || (kRows == 64 && head_dim <= 64) ? 2 : 1,
            .blocks_per_multiprocessor = 1};
  }
};

[[nodiscard]] constexpr std::size_t forward_32bit_shared_bytes(FwdConfig tile, int head_dim) {
  return static_cast<std::size_t>(tile.query_parts * tile.rows + 2 * tile.stages * tile.cols) *
         padded_row_bytes_32bit(head_dim);
}

[[nodiscard]] Launch forward_32bit_launch(const AttentionShape& shape, FwdConfig tile);

/// Names of the forward configs. A name stands for the config of 16-bit or of 32-bit elements, depending on the
/// precision.
enum class FwdConfigId { kM128N64, kM64N64, kWarpSplitM64, kWarpSplitM32, kWarpSplitM16, kSplitKv };

/// Returns a config for the precision and head_dim of `problem` and, below, the shared memory of a CTA in bytes.
[[nodiscard]] FwdConfig forward_tile(const AttentionProblem& problem, FwdConfigId tiles);
[[nodiscard]] std::size_t forward_tile_bytes(const AttentionProblem& problem, FwdConfigId tiles);

/// Plan of a forward pass in any precision.
struct FwdPlan {
  FwdConfigId tiles{};
  SplitKv split_kv{};
  std::size_t workspace_bytes{};
};

/// Launches the planned forward kernels on `stream` without synchronising. One translation unit per precision defines
/// an instance (CMakeLists.txt), so that the instances compile in parallel.
/// @param problem  a problem of precision kPrecision
/// @param plan     the plan of `problem` for the current device
/// @throws         cuda::CudaError
template <Precision kPrecision>
void launch_forward(const AttentionProblem& problem, const FwdPlan& plan, const AttentionForward& arguments,
                    cudaStream_t stream);

}  // namespace tbench::kernels::sm80
