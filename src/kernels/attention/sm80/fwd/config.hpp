// Configs of the sm80 forward kernels in all precisions: tiles, shared memory, launches and workspace (pure host
// functions). heuristics/sm80_fwd.hpp selects one. Declares the launch itself, too.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/attention/common/launch.hpp"
#include "kernels/attention/sm80/common/padded_row.hpp"
#include "tbench/kernels/attention_problem.hpp"
#include "tbench/kernels/device_limits.hpp"

namespace tbench::kernels::sm80 {

/// A literal type, so that a kernel takes it as a template parameter.
struct FwdConfig {
  int rows{};          // queries per CTA
  int cols{};          // keys per step
  int warps{};         // each takes rows / (warps / groups) queries
  int split_warps{1};  // groups of warps that share the same queries and divide the keys of a step
  int stages{1};       // stages of K and of V: with 2, a step's loads have the whole step before to arrive
  int query_parts{
      1};  // Q tiles in shared memory: with 2, one for the big parts of the elements and one for the small ones
  int blocks_per_multiprocessor{};
  bool split_kv{};  // a CTA sees a part of a row's keys and leaves its sums for the combine kernel
  bool operator==(const FwdConfig&) const = default;
};

/// Long sequences: as many queries per warp as registers allow, so that a fragment of K or V read from shared memory
/// serves two products. (Kernels reach configs through types because nvcc 13.0 cannot name a kernel whose template
/// argument is a struct's value.)
struct FwdM128N64 {
  static constexpr FwdConfig tile(int head_dim) {
    if (head_dim > 128) return {.rows = 128, .cols = 64, .warps = 8, .stages = 1, .blocks_per_multiprocessor = 1};
    return {.rows = 128, .cols = 64, .warps = 4, .stages = head_dim > 64 ? 1 : 2, .blocks_per_multiprocessor = 2};
  }
};

/// Half as many queries per CTA and twice as many CTAs: for problems with too few long tiles to fill the GPU, and for
/// short causal ones, where half of a long tile on the diagonal is masked.
struct FwdM64N64 {
  static constexpr FwdConfig tile(int head_dim) {
    return {.rows = 64,
            .cols = 64,
            .warps = 4,
            .stages = head_dim > 128 ? 1 : 2,
            .blocks_per_multiprocessor = head_dim > 80 ? 2 : 3};
  }
};

/// Groups of warps for the same queries divide the keys of a step. For problems with so few short tiles that each has
/// an SM to itself and the chain of a warp's steps is all the time. Fewer queries per CTA mean more CTAs, but a key in
/// shared memory serves fewer queries. Up to head_dim 128.
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

/// Short tiles, each computed by several CTAs that divide its keys (split-KV). For few Q tiles and many keys. Up to
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
/// 1) * keys). `keys` is a multiple of a tile's queries, so that a causal mask leaves a CTA keys for all of its queries
/// or for none.
struct SplitKv {
  int num_splits{1};
  int keys{};  // 0: all of them
  bool operator==(const SplitKv&) const = default;
};

/// Returns the division of a problem's keys into so many parts that about all CTAs with work run at once. There is one
/// part, no division, if Q tiles exceed the SMs (half of the SMs without a mask, where all tiles have equal work) or
/// keys are few.
[[nodiscard]] SplitKv forward_split_kv(const AttentionShape& shape, const DeviceLimits& limits);

/// Byte sizes of the float32 parts that the CTAs of a divided problem leave.
struct FwdWorkspace {
  std::size_t o_bytes{};    // [batch, heads, num_splits, seq_q, head_dim], rounded up to 256 bytes
  std::size_t lse_bytes{};  // [batch, heads, num_splits, seq_q]
  [[nodiscard]] std::size_t bytes() const { return o_bytes + lse_bytes; }
};
[[nodiscard]] FwdWorkspace forward_workspace(const AttentionShape& shape, SplitKv split_kv);

/// Launch with Q tiles times heads times sequences times `num_splits` CTAs.
[[nodiscard]] Launch forward_launch(const AttentionShape& shape, FwdConfig tile, int num_splits = 1);

/// Launch of the combine kernel, in which each thread takes `kCombineElements` adjacent elements of a row.
constexpr int kCombineThreads = 128;
constexpr int kCombineElements = 4;
[[nodiscard]] Launch forward_combine_launch(const AttentionShape& shape);

/// TF32, long sequences: 32 queries per warp. Two stages, and K/V tiles as large as shared memory allows with two CTAs
/// per SM.
struct FwdFp32Long {
  static constexpr FwdConfig tile(int head_dim) {
    return {.rows = 128,
            .cols = head_dim > 96 ? 32 : 64,
            .warps = 4,
            .stages = head_dim > 64 ? 1 : 2,
            .blocks_per_multiprocessor = head_dim > 16 ? 2 : 3};
  }
};

/// Half as many queries per CTA, for problems with too few long tiles to fill the GPU, and for all `k3xTf32` problems.
/// Three products need registers for their own sums and for both parts of operands, so a warp takes 16 queries, and 32
/// keys at once.
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

/// Several warps for the same queries, each with its share of the keys. For problems with so few short tiles that the
/// chain of a warp's products is all the time. Fewer queries per CTA mean more CTAs, but a key in shared memory serves
/// fewer queries.
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

/// Names of the configs of a forward pass, the structs of either width.
enum class FwdConfigId { kM128N64, kM64N64, kWarpSplitM64, kWarpSplitM32, kWarpSplitM16, kSplitKv };

/// Returns the tiles that a config has in the precision and head_dim of a problem, and the bytes of shared memory of a
/// CTA.
[[nodiscard]] FwdConfig forward_tile(const AttentionProblem& problem, FwdConfigId tiles);
[[nodiscard]] std::size_t forward_tile_bytes(const AttentionProblem& problem, FwdConfigId tiles);

/// Plan of a forward pass in any precision: made once per launch, and all that the launch needs to know.
struct FwdPlan {
  FwdConfigId tiles{};
  SplitKv split_kv{};
  std::size_t workspace_bytes{};
};

/// Launches the planned forward kernels on `stream` without synchronising. One unit per precision defines it
/// (CMakeLists.txt), so that the instances compile in parallel.
/// @param problem  a problem of precision kPrecision
/// @param plan     the plan of `problem` for the current device
/// @throws         cuda::CudaError
template <Precision kPrecision>
void launch_forward(const AttentionProblem& problem, const FwdPlan& plan, const AttentionForward& arguments,
                    cudaStream_t stream);

}  // namespace tbench::kernels::sm80
