// Fused attention, forward and backward, as plain launch functions: pointers, shapes, strides, a stream. The kernels'
// design is in src/kernels/attention/design.md, what was measured in src/kernels/experiments.csv.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tbench/core/enums.hpp"
#include "tbench/core/work.hpp"

namespace tbench::kernels {

/// A tensor [batch, heads, seq, head_dim] on the device, its last dimension contiguous. Elements are float for
/// Precision::kFp32 and kTf32, __nv_bfloat16 for kBf16, __half for kFp16.
struct TensorView {
  void* data{};
  std::array<std::int64_t, 3> strides{};  // of batch, heads and seq, in elements; 0 repeats
};

/// What both passes need to know. Pointers that are aligned to 16 bytes with strides that are multiples of 16 bytes
/// are read in vectors; any others are taken too, element by element.
struct AttentionProblem {
  AttentionShape shape;  // a causal mask requires seq_q == seq_kv
  Precision precision{};
  float scale{};         // of q k^T, 1 / sqrt(head_dim) as a rule
  bool deterministic{};  // backward: the same bits every time, without atomic additions
};

struct AttentionForward {
  TensorView q, k, v;  // [batch, heads, seq_q | seq_kv, head_dim]
  TensorView o;        // [batch, heads, seq_q, head_dim], written
  float* lse{};        // [batch, heads, seq_q] contiguous, written: log of the sum of exp(scale * q k^T), natural
  void* workspace{};   // attention_forward_workspace_bytes(), aligned to 256 bytes; contents do not matter
};

struct AttentionBackward {
  TensorView q, k, v, o;  // as in the forward pass; o is its result
  const float* lse{};     // its result
  TensorView grad_o;      // [batch, heads, seq_q, head_dim]; strides of 0 are taken
  TensorView dq, dk, dv;  // written, in the input's dtype
  void* workspace{};      // attention_backward_workspace_bytes(), aligned to 256 bytes; contents do not matter
};

/// Facts of a device that decide what can run on it and how.
struct DeviceLimits {
  int compute_capability_major{};
  int compute_capability_minor{};
  int multiprocessors{};
  std::size_t shared_bytes_per_block{};  // the opt-in limit
};

/// Of the current device. The device is asked once, then remembered.
/// @throws  cuda::CudaError
[[nodiscard]] DeviceLimits current_device_limits();

/// Why these kernels cannot compute `problem` on a device, or nothing: head_dim 16, 32, 64, 80, 96 or 128 (16-bit also
/// 256, forward and backward), a compute capability that this build has machine code for, extents within the grid's
/// limits.
[[nodiscard]] std::optional<std::string> attention_unsupported_reason(const AttentionProblem& problem,
                                                                      const DeviceLimits& limits);

/// Bytes that attention_forward() needs of device memory besides its arguments; 0 where it needs none. At most
/// 32 MiB on an H200, whatever the lengths; but where Hopper's TF32 kernel is chosen as many as v has, a head's keys
/// rounded up to a multiple of 128 at most, and 256.
[[nodiscard]] std::size_t attention_forward_workspace_bytes(const AttentionProblem& problem,
                                                            const DeviceLimits& limits);

/// Enqueues o = softmax(scale * q k^T, masked) v and its row sums' logarithms. One or two launches. Does not
/// synchronise.
/// @throws  std::invalid_argument  for what attention_unsupported_reason() refuses, or a workspace that is needed and
///                                  null; cuda::CudaError
void attention_forward(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream);

/// Bytes that attention_backward() needs of device memory besides its arguments; 0 where it needs none.
[[nodiscard]] std::size_t attention_backward_workspace_bytes(const AttentionProblem& problem,
                                                             const DeviceLimits& limits);

/// Enqueues the gradients of q, k and v. One to three launches. Does not synchronise.
/// @throws  std::invalid_argument  for what attention_unsupported_reason() refuses, or a workspace that is needed and
///                                  null; cuda::CudaError
void attention_backward(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream);

}  // namespace tbench::kernels
