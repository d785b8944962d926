// Which TF32 problems Hopper's forward kernel takes, its tiles, what lies in its workspace, and the launches that
// follow: pure host functions. And those launches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/attention/sm90/fwd/config.hpp"
#include "kernels/attention/sm90_tf32/common/sm90_names.hpp"

namespace tbench::kernels::sm90_tf32 {

inline constexpr std::array<std::int64_t, 2> kHeadDims{64, 128};

/// A panel's row is 128 bytes: so many elements of float32.
constexpr int kPanelFloats = 32;

/// A float32 row of `head_dim` columns is as long as a 16-bit one of so many: shared memory, boxes and groups of heads
/// are those of the 16-bit kernels for this width.
[[nodiscard]] constexpr int columns_of_16_bits(int head_dim) { return 2 * head_dim; }

/// 128 queries; as many keys as make 64 KiB of two buffers of K. S, P, O and Q of 64 rows are 192 registers of a thread
/// at either width: P takes one an element, not half of one as in 16 bits.
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

/// Of one of kHeadDims.
[[nodiscard]] constexpr FwdConfig forward_tile(std::int64_t head_dim) {
  return head_dim == 64 ? FwdConfigFor<64>::tile() : FwdConfigFor<128>::tile();
}

struct FwdPlan {
  /// Blocks take their next item from a counter, which the kernel before clears. Else they are dealt out there and
  /// back.
  bool counted{};
  bool in_turns{};  // see TileOrder
  bool operator==(const FwdPlan&) const = default;
};

/// How Hopper's kernels compute `problem`; nothing where they cannot or where Ampere's are taken.
[[nodiscard]] std::optional<FwdPlan> choose_forward(const AttentionProblem& problem, const DeviceLimits& limits);

/// Whether the copy engine can read q and k, and 16 bytes at a time do for v and o.
[[nodiscard]] bool supports_layout(const AttentionProblem& problem, const AttentionForward& arguments);

/// Bytes. The kernel before leaves V, rounded, as tiles that are copied to shared memory as they are:
/// [batch, heads, key_tiles, tile], zeros beyond the last key. A tile is the panels [cols / 32, head_dim, 32] of V^T,
/// with the 128-byte swizzle.
struct FwdWorkspace {
  std::size_t counter_bytes{}, values_bytes{};
  std::int64_t key_tiles{};  // of a head
  [[nodiscard]] std::size_t bytes() const { return counter_bytes + values_bytes; }
};
[[nodiscard]] FwdWorkspace forward_workspace(const AttentionShape& shape, FwdPlan choice);
/// Of what choose_forward() chooses.
[[nodiscard]] std::size_t forward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits);

[[nodiscard]] TileOrder forward_order(const AttentionShape& shape, FwdPlan choice);
[[nodiscard]] Launch forward_launch(const AttentionShape& shape, const DeviceLimits& limits);

/// Of the kernels before: a warp takes 16 rows by 32 columns.
constexpr int kPrepareThreads = 256;
constexpr int kPrepareRows = 16;
constexpr int kPrepareColumns = 32;
[[nodiscard]] Launch prepare_launch(const AttentionShape& shape);

/// Enqueues the two kernels of what choose_forward() chose, for arguments that supports_layout() accepts.
/// @throws  cuda::CudaError
void launch_forward(const AttentionProblem& problem, const AttentionForward& arguments, FwdPlan choice,
                    const DeviceLimits& limits, cudaStream_t stream);

}  // namespace tbench::kernels::sm90_tf32
