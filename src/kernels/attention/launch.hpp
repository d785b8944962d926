// The kernel families behind the public launch functions. Arguments have been checked by the caller; each function
// enqueues its launches on `stream`, checks them, and does not synchronise.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tbench/kernels/attention.hpp"

namespace tbench::kernels {

/// Why a pass, "forward" or "backward", does not run with `workspace`; or nothing.
[[nodiscard]] std::optional<std::string> missing_workspace_reason(std::string_view pass, std::size_t needed,
                                                                  const void* workspace);

/// bf16 and fp16: mma.m16n8k16, float32 accumulators.
void forward_16bit(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream);
void backward_16bit(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream);
[[nodiscard]] std::size_t forward_16bit_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits);
[[nodiscard]] std::size_t backward_16bit_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits);

/// float32 storage: mma.m16n8k8 with TF32 products (kTf32), or three of them for float32's accuracy (kFp32).
void forward_32bit(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream);
void backward_32bit(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream);
[[nodiscard]] std::size_t backward_32bit_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits);

}  // namespace tbench::kernels
