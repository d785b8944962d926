// Config of the sm90 TF32 forward kernel: its tiles, the contents of its workspace, and the launches (pure host
// functions). heuristics/sm90_tf32.hpp selects it. Also declares the launch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/sm90/fwd/config.hpp"
#include "kernels/attention/sm90_tf32/common/config.hpp"

namespace tbench::kernels::sm90_tf32 {

/// 128 queries, and as many keys per step as fill 64 KiB with two stages of K. S, P, O and Q of 64 rows take 192
/// registers per thread at both head_dims: P takes one register per element, twice as many as with 16-bit elements.
template <int kHeadDim>
struct FwdConfigFor {
  static constexpr FwdConfig tile() {
    return {.warp_groups = 2,
            .cols = kHeadDim == 64 ? 128 : 64,
            .stages = 2,
            .registers = 232,
            .copying_registers = 40,
            .queries_in_registers = true,
            .stores_registers = true};
  }
};
static_assert(fits_registers(FwdConfigFor<64>::tile()) && fits_registers(FwdConfigFor<128>::tile()));

/// Returns the config for a head_dim.
/// @param head_dim  one of kHeadDims
[[nodiscard]] constexpr FwdConfig forward_tile(std::int64_t head_dim) {
  return head_dim == 64 ? FwdConfigFor<64>::tile() : FwdConfigFor<128>::tile();
}

struct FwdPlan {
  /// Whether the schedule is dynamic: CTAs take their next work tile from an atomic counter, which the preprocess
  /// kernel clears. Otherwise the schedule is static, in snake order.
  bool counted{};
  bool in_turns{};  // see TileOrder
  bool operator==(const FwdPlan&) const = default;
};

/// Whether TMA can read q and k, and v and o can be accessed 16 bytes at a time.
[[nodiscard]] bool forward_supports_layout(const AttentionProblem& problem);

/// Byte sizes of the workspace's parts. The preprocess kernel stores V, rounded to TF32, as tiles [batch, heads,
/// key_tiles, tile] with zeros past the last key, in the layout in which they are copied to shared memory: the panels
/// [cols / 32, head_dim, 32] of V^T, with the 128-byte swizzle.
struct FwdWorkspace {
  std::size_t counter_bytes{}, values_bytes{};
  std::int64_t key_tiles{};  // per head
  [[nodiscard]] std::size_t bytes() const { return counter_bytes + values_bytes; }
};
[[nodiscard]] FwdWorkspace forward_workspace(const AttentionShape& shape, FwdPlan choice);

[[nodiscard]] TileOrder forward_order(const AttentionShape& shape, FwdPlan choice);
[[nodiscard]] Launch forward_launch(const AttentionShape& shape, const DeviceLimits& limits);

[[nodiscard]] Launch prepare_launch(const AttentionShape& shape);

/// Launches the planned kernels on `stream` without synchronising. The problem is one that forward_supports_layout()
/// accepts.
/// @throws  cuda::CudaError
void launch_forward(const AttentionProblem& problem, const AttentionForward& arguments, FwdPlan choice,
                    const DeviceLimits& limits, cudaStream_t stream);

}  // namespace tbench::kernels::sm90_tf32
