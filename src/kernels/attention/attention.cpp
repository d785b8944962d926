// The public functions: check the arguments, plan the problem for the device, and call the instance of its precision.
#include "tbench/kernels/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "kernels/attention/common/device_limits.hpp"
#include "kernels/attention/common/launch.hpp"
#include "kernels/attention/common/plan_32bit.hpp"
#include "kernels/attention/instances/launch.hpp"
#include "kernels/attention/sm90/bwd_common/config.hpp"
#include "kernels/attention/sm90/fwd/config.hpp"
#include "kernels/attention/sm90_tf32/bwd/config.hpp"
#include "kernels/attention/sm90_tf32/fwd/config.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::kernels {
namespace {

constexpr std::array<std::int64_t, 6> kHeadDims{16, 32, 64, 80, 96, 128};
constexpr std::int64_t kLargeHeadDim16Bit = 256;
constexpr std::int64_t kMaxGridYz = 65535;                    // CUDA's maximum of gridDim.y and gridDim.z
constexpr std::int64_t kMaxSequence = std::int64_t{1} << 30;  // rows are counted in int inside the kernels

std::optional<std::string> extent_problem(const AttentionShape& shape) {
  for (const auto& [name, extent, most] : {std::tuple{"batch", shape.batch, kMaxGridYz},
                                           {"heads", shape.heads, kMaxGridYz},
                                           {"seq_q", shape.seq_q, kMaxSequence},
                                           {"seq_kv", shape.seq_kv, kMaxSequence}}) {
    if (extent < 1 || extent > most) return fmt::format("{} is {}: the kernels take 1 to {}", name, extent, most);
  }
  if (shape.causal && shape.seq_q != shape.seq_kv) {
    return fmt::format("a causal mask needs as many queries as keys, not {} and {}", shape.seq_q, shape.seq_kv);
  }
  return std::nullopt;
}

void require_none(const std::optional<std::string>& reason) {
  if (reason) throw std::invalid_argument{"attention: " + *reason};
}

sm80::FwdPlan plan_forward(const AttentionProblem& problem, const DeviceLimits& limits) {
  return is_16bit(problem.precision) ? sm80::plan_forward_16bit(problem, limits)
                                     : sm80::plan_forward_32bit(problem, limits);
}

sm80::BwdPlan plan_backward(const AttentionProblem& problem, const DeviceLimits& limits) {
  return is_16bit(problem.precision) ? sm80::plan_backward_16bit(problem, limits)
                                     : sm80::plan_backward_32bit(problem, limits);
}

bool has_sm90_kernels(const DeviceLimits& limits) { return runs_sm90a(limits, built_architectures()); }

std::optional<sm90::FwdPlan> choose_sm90_forward(const AttentionProblem& problem, const DeviceLimits& limits) {
  return has_sm90_kernels(limits) ? sm90::choose_forward(problem, limits) : std::nullopt;
}

std::optional<sm90_tf32::FwdPlan> choose_sm90_tf32_forward(const AttentionProblem& problem,
                                                           const DeviceLimits& limits) {
  return has_sm90_kernels(limits) ? sm90_tf32::choose_forward(problem, limits) : std::nullopt;
}

std::optional<sm90::BwdPlan> choose_sm90_backward(const AttentionProblem& problem, const DeviceLimits& limits) {
  return has_sm90_kernels(limits) ? sm90::choose_backward(problem, limits) : std::nullopt;
}

}  // namespace

std::optional<std::string> attention_unsupported_reason(const AttentionProblem& problem, const DeviceLimits& limits) {
  if (auto reason = missing_code_reason(limits, built_architectures())) return reason;
  const bool exact = std::ranges::find(kHeadDims, problem.shape.head_dim) != kHeadDims.end();
  const bool large = is_16bit(problem.precision) && problem.shape.head_dim == kLargeHeadDim16Bit;
  if (!exact && !large) {
    return fmt::format(
        "head_dim {} has no kernel in {} (there are {}{}): its tiles would not fit shared memory or registers",
        problem.shape.head_dim, to_string(problem.precision), fmt::join(kHeadDims, ", "),
        is_16bit(problem.precision) ? ", 256" : "");
  }
  if (!(problem.scale > 0.0f) || !std::isfinite(problem.scale)) {
    return fmt::format("scale is {}: the kernels take a positive, finite one", problem.scale);
  }
  if (auto reason = extent_problem(problem.shape)) return reason;
  return (is_16bit(problem.precision) ? &sm80::unsupported_16bit_reason : &sm80::unsupported_32bit_reason)(problem,
                                                                                                           limits);
}

std::size_t attention_forward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  const std::size_t bytes = plan_forward(problem, limits).workspace_bytes;
  if (!has_sm90_kernels(limits)) return bytes;
  // Only the launch knows whether TMA supports the views, so the workspace holds the maximum of all paths.
  return std::max(
      {bytes, sm90::forward_workspace_bytes(problem, limits), sm90_tf32::forward_workspace_bytes(problem, limits)});
}

void attention_forward(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream) {
  const DeviceLimits limits = current_device_limits();
  require_none(attention_unsupported_reason(problem, limits));
  require_none(
      missing_workspace_reason("forward", attention_forward_workspace_bytes(problem, limits), arguments.workspace));
  if (const auto choice = choose_sm90_forward(problem, limits); choice && sm90::supports_layout(problem, arguments)) {
    const bool is_bf16 = problem.precision == Precision::kBf16;
    return (is_bf16 ? &sm90::launch_forward<Precision::kBf16>
                    : &sm90::launch_forward<Precision::kFp16>)(problem, arguments, *choice, limits, stream);
  }
  if (const auto choice = choose_sm90_tf32_forward(problem, limits);
      choice && sm90_tf32::supports_layout(problem, arguments)) {
    return sm90_tf32::launch_forward(problem, arguments, *choice, limits, stream);
  }
  const sm80::FwdPlan plan = plan_forward(problem, limits);
  switch (problem.precision) {
    case Precision::kBf16:
      return sm80::launch_forward<Precision::kBf16>(problem, plan, arguments, stream);
    case Precision::kFp16:
      return sm80::launch_forward<Precision::kFp16>(problem, plan, arguments, stream);
    case Precision::kTf32:
      return sm80::launch_forward<Precision::kTf32>(problem, plan, arguments, stream);
    case Precision::kFp32:
      return sm80::launch_forward<Precision::kFp32>(problem, plan, arguments, stream);
  }
}

std::size_t attention_backward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  const std::size_t bytes = plan_backward(problem, limits).workspace.bytes();
  if (!has_sm90_kernels(limits)) return bytes;
  // Only the launch knows whether TMA supports the views, as in the forward pass.
  return std::max(
      {bytes, sm90::backward_workspace_bytes(problem, limits), sm90_tf32::backward_workspace_bytes(problem, limits)});
}

void attention_backward(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream) {
  const DeviceLimits limits = current_device_limits();
  require_none(attention_unsupported_reason(problem, limits));
  require_none(
      missing_workspace_reason("backward", attention_backward_workspace_bytes(problem, limits), arguments.workspace));
  if (const auto choice = choose_sm90_backward(problem, limits);
      choice && sm90::supports_layout(problem, arguments, *choice)) {
    const bool is_bf16 = problem.precision == Precision::kBf16;
    return (is_bf16 ? &sm90::launch_backward<Precision::kBf16>
                    : &sm90::launch_backward<Precision::kFp16>)(problem, arguments, *choice, limits, stream);
  }
  if (has_sm90_kernels(limits) && sm90_tf32::takes_backward(problem, limits) &&
      sm90_tf32::supports_layout(problem, arguments)) {
    return sm90_tf32::launch_backward(problem, arguments, stream);
  }
  const sm80::BwdPlan plan = plan_backward(problem, limits);
  switch (problem.precision) {
    case Precision::kBf16:
      return sm80::launch_backward<Precision::kBf16>(problem, plan, arguments, stream);
    case Precision::kFp16:
      return sm80::launch_backward<Precision::kFp16>(problem, plan, arguments, stream);
    case Precision::kTf32:
      return sm80::launch_backward<Precision::kTf32>(problem, plan, arguments, stream);
    case Precision::kFp32:
      return sm80::launch_backward<Precision::kFp32>(problem, plan, arguments, stream);
  }
}

}  // namespace tbench::kernels
