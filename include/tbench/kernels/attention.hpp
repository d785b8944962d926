// Fused attention, forward and backward: a plan, which selects the kernels for a problem on a device, and the functions
// that launch these kernels. For the kernels' design see src/kernels/attention/design.md, for measurements
// src/kernels/README.md.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tbench/kernels/attention_problem.hpp"
#include "tbench/kernels/device_limits.hpp"

namespace tbench::kernels {

/// Returns why these kernels cannot compute `problem` on a device, or nullopt if they can. Supported are head_dim 16,
/// 32, 64, 80, 96 and 128 (in 16 bits also 256, forward and backward), compute capabilities that this build has machine
/// code for, and extents within the grid's limits. The layout does not matter.
[[nodiscard]] std::optional<std::string> attention_unsupported_reason(const AttentionProblem& problem,
                                                                      const DeviceLimits& limits);

/// Returns the layout of a pass's arguments.
[[nodiscard]] AttentionLayout layout_of(const AttentionForward& arguments);
[[nodiscard]] AttentionLayout layout_of(const AttentionBackward& arguments);
/// Returns the layout of contiguous tensors [batch, heads, seq, head_dim] at 16-byte aligned addresses, for both
/// passes.
[[nodiscard]] AttentionLayout contiguous_layout(const AttentionShape& shape);

/// Whether the problems are equal in every member, so that one plan serves both.
[[nodiscard]] bool operator==(const AttentionProblem& a, const AttentionProblem& b);

/// One launch of a plan, as --tb_explain prints it.
struct KernelDescription {
  std::string name;    // "attention_fwd_sm90_kernel<bf16, 64, FwdM128N64x2>"
  std::string launch;  // "132 CTAs x 640 threads, 199,680 B shared memory, programmatic dependent launch"
};

struct PlanDescription {
  std::vector<KernelDescription> kernels{};  // in the order of their launches
  std::string schedule{};  // schedule of the main kernel: "static persistent, snake order: 192 work tiles for ..."
  std::size_t workspace_bytes{};
  std::vector<std::string> rules{};  // the rules that decided; the last rule selected the config
  std::string config{};              // its name in the measurements of src/kernels/attention/heuristics
};

/// The kernels that compute a pass of one problem on one kind of device, selected once. Immutable and cheap to copy.
class AttentionPlan {
 public:
  struct State;
  explicit AttentionPlan(std::shared_ptr<const State> state) : state_{std::move(state)} {}

  [[nodiscard]] const AttentionProblem& problem() const;
  /// Bytes of device memory that the pass needs in addition to its arguments; may be 0. Does not depend on the layout.
  /// A forward pass needs at most 32 MiB on an H200, whatever the lengths. Only the sm90 TF32 kernel needs more: the
  /// bytes of v, with the keys of each head rounded up to a multiple of at most 128, and 256 bytes.
  [[nodiscard]] std::size_t workspace_bytes() const;
  [[nodiscard]] PlanDescription describe() const;
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

/// Selects the kernels of a pass.
/// @throws  std::invalid_argument  if attention_unsupported_reason() returns a reason, or a tensor of the pass has no
///          layout
[[nodiscard]] AttentionPlan plan_attention_forward(const AttentionProblem& problem, const DeviceLimits& limits);
[[nodiscard]] AttentionPlan plan_attention_backward(const AttentionProblem& problem, const DeviceLimits& limits);

/// Enqueues o = softmax(scale * q k^T, masked) v and the logarithms of the softmax's row sums, in one or two launches.
/// Does not synchronise. The current device has the limits that the plan was made for.
/// @throws  std::invalid_argument  if the plan was made for the other pass or another layout, or if the workspace is
///          null although the plan needs one; cuda::CudaError
void attention_forward(const AttentionPlan& plan, const AttentionForward& arguments, cudaStream_t stream);

/// Enqueues the gradients of q, k and v, in one to three launches. Has the same preconditions as attention_forward().
void attention_backward(const AttentionPlan& plan, const AttentionBackward& arguments, cudaStream_t stream);

}  // namespace tbench::kernels
