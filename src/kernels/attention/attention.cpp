// Checks what the caller asks for and hands it to the family of kernels for its precision.
#include "tbench/kernels/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "launch.hpp"
#include "plan_32bit.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::kernels {
namespace {

constexpr std::array<std::int64_t, 6> kHeadDims{16, 32, 64, 80, 96, 128};
constexpr std::int64_t kLargeHeadDim16Bit = 256;
constexpr int kMinMajor = 8;                                  // mma.m16n8k16, cp.async
constexpr std::int64_t kMaxGridYz = 65535;                    // CUDA's limit of gridDim.y and gridDim.z
constexpr std::int64_t kMaxSequence = std::int64_t{1} << 30;  // rows are counted in int inside the kernels

bool is_16bit(Precision precision) { return precision == Precision::kBf16 || precision == Precision::kFp16; }

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

}  // namespace

DeviceLimits current_device_limits() {
  int device{};
  TBENCH_CUDA_CHECK(cudaGetDevice(&device));
  const auto attribute = [device](cudaDeviceAttr name) {
    int value{};
    TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&value, name, device));
    return value;
  };
  return {.compute_capability_major = attribute(cudaDevAttrComputeCapabilityMajor),
          .multiprocessors = attribute(cudaDevAttrMultiProcessorCount),
          .shared_bytes_per_block = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin))};
}

std::optional<std::string> attention_unsupported_reason(const AttentionProblem& problem, const DeviceLimits& limits) {
  if (limits.compute_capability_major < kMinMajor) {
    return fmt::format("the kernels need compute capability {}.0, the GPU has {}.x", kMinMajor,
                       limits.compute_capability_major);
  }
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
  return (is_16bit(problem.precision) ? &unsupported_16bit_reason : &unsupported_32bit_reason)(problem, limits);
}

std::optional<std::string> missing_workspace_reason(std::string_view pass, std::size_t needed, const void* workspace) {
  if (needed == 0 || workspace != nullptr) return std::nullopt;
  return fmt::format("workspace is null: the {} pass of this problem needs {} bytes, attention_{}_workspace_bytes()",
                     pass, needed, pass);
}

std::size_t attention_forward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  return is_16bit(problem.precision) ? forward_16bit_workspace_bytes(problem, limits) : 0;
}

void attention_forward(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream) {
  const DeviceLimits limits = current_device_limits();
  require_none(attention_unsupported_reason(problem, limits));
  require_none(
      missing_workspace_reason("forward", attention_forward_workspace_bytes(problem, limits), arguments.workspace));
  (is_16bit(problem.precision) ? &forward_16bit : &forward_32bit)(problem, arguments, stream);
}

std::size_t attention_backward_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  return is_16bit(problem.precision) ? backward_16bit_workspace_bytes(problem, limits)
                                     : backward_32bit_workspace_bytes(problem, limits);
}

void attention_backward(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream) {
  const DeviceLimits limits = current_device_limits();
  require_none(attention_unsupported_reason(problem, limits));
  require_none(
      missing_workspace_reason("backward", attention_backward_workspace_bytes(problem, limits), arguments.workspace));
  (is_16bit(problem.precision) ? &backward_16bit : &backward_32bit)(problem, arguments, stream);
}

}  // namespace tbench::kernels
