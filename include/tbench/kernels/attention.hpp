// Fused attention, forward and backward: a plan, which selects the kernels for a problem on a device, and the launch of
// what it says. For the kernels' design see src/kernels/attention/design.md, for measurements src/kernels/README.md.
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

/// Returns why these kernels cannot compute `problem` on a device, or nothing if they can. Supported are head_dim 16,
/// 32, 64, 80, 96 and 128 (in 16 bits also 256, forward and backward), compute capabilities that this build has machine
/// code for, and extents within the grid's limits. The layout does not matter.
[[nodiscard]] std::optional<std::string> attention_unsupported_reason(const AttentionProblem& problem,
                                                                      const DeviceLimits& limits);

/// Returns the layout of the arguments of a pass.
[[nodiscard]] AttentionLayout layout_of(const AttentionForward& arguments);
[[nodiscard]] AttentionLayout layout_of(const AttentionBackward& arguments);
/// Returns the layout of contiguous tensors [batch, heads, seq, head_dim] at 16-byte aligned addresses, for both
/// passes.
[[nodiscard]] AttentionLayout contiguous_layout(const AttentionShape& shape);

/// Whether both are the same in every member, so that one plan serves both.
[[nodiscard]] bool operator==(const AttentionProblem& a, const AttentionProblem& b);

/// One launch of a plan, as --tb_explain prints it.
struct KernelDescription {
  std::string name;    // "attention_fwd_sm90_kernel<bf16, 64, FwdM128N64x2>"
  std::string launch;  // "132 CTAs x 640 threads, 199,680 B shared memory, programmatic dependent launch"
};

struct PlanDescription {
  std::vector<KernelDescription> kernels{};  // in the order of their launches
  std::string schedule{};  // of the main kernel: "static persistent, snake order: 192 work tiles for ..."
  std::size_t workspace_bytes{};
  std::vector<std::string> rules{};  // those that decided, the one that selected the config last
  std::string config{};              // its name in the measurements of src/kernels/attention/heuristics
};

/// The kernels that compute a pass of one problem on one kind of device, selected once. Immutable and cheap to copy.
class AttentionPlan {
 public:
  struct State;
  explicit AttentionPlan(std::shared_ptr<const State> state) : state_{std::move(state)} {}

  [[nodiscard]] const AttentionProblem& problem() const;
  /// Bytes of device memory that the pass needs besides its arguments; 0 if none. Forward: at most 32 MiB on an H200,
  /// whatever the lengths, except for the sm90 TF32 kernel, which needs as many bytes as v has, with the keys of each
  /// head rounded up to a multiple of at most 128, and 256 more. Does not depend on the layout.
  [[nodiscard]] std::size_t workspace_bytes() const;
  [[nodiscard]] PlanDescription describe() const;
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

/// Selects the kernels of a pass.
/// @throws  std::invalid_argument  if attention_unsupported_reason() has a reason, or a tensor of the pass has no
/// layout
[[nodiscard]] AttentionPlan plan_attention_forward(const AttentionProblem& problem, const DeviceLimits& limits);
[[nodiscard]] AttentionPlan plan_attention_backward(const AttentionProblem& problem, const DeviceLimits& limits);

/// Enqueues o = softmax(scale * q k^T, masked) v and the logarithms of its row sums. One or two launches. Does not
/// synchronise. The current device is of the kind that the plan was made for.
/// @throws  std::invalid_argument  if the plan is of the other pass or of another layout, or a workspace is needed and
///          null; cuda::CudaError
void attention_forward(const AttentionPlan& plan, const AttentionForward& arguments, cudaStream_t stream);

/// Enqueues the gradients of q, k and v. One to three launches. Otherwise as attention_forward().
void attention_backward(const AttentionPlan& plan, const AttentionBackward& arguments, cudaStream_t stream);

}  // namespace tbench::kernels
