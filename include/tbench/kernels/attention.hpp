// Fused attention, forward and backward, as plain launch functions: pointers, shapes, strides, a stream. For the
// kernels' design see src/kernels/attention/design.md, for measurements src/kernels/experiments.csv.
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
  std::array<std::int64_t, 3> strides{};  // strides of batch, heads and seq, in elements; 0 repeats
};

/// Parameters of both passes. Tensors with 16-byte aligned pointers and strides that are multiples of 16 bytes are read
/// in vectors, others element by element.
struct AttentionProblem {
  AttentionShape shape;  // a causal mask requires seq_q == seq_kv
  Precision precision{};
  float scale{};         // factor of q k^T, 1 / sqrt(head_dim) as a rule
  bool deterministic{};  // backward: the same bits in every run, without atomic additions
};

struct AttentionForward {
  TensorView q, k, v;  // [batch, heads, seq_q | seq_kv, head_dim]
  TensorView o;        // [batch, heads, seq_q, head_dim], written
  float* lse{};        // [batch, heads, seq_q] contiguous, written: log of the sum of exp(scale * q k^T), natural
  void* workspace{};   // attention_forward_workspace_bytes(), aligned to 256 bytes; contents do not matter
};

struct AttentionBackward {
  TensorView q, k, v, o;  // as in the forward pass; o is its result
  const float* lse{};     // result of the forward pass
  TensorView grad_o;      // [batch, heads, seq_q, head_dim]; strides of 0 are allowed
  TensorView dq, dk, dv;  // written, in the dtype of the input
  void* workspace{};      // attention_backward_workspace_bytes(), aligned to 256 bytes; contents do not matter
};

/// Properties of a device that decide whether and how it can run the kernels.
struct DeviceLimits {
  int compute_capability_major{};
  int compute_capability_minor{};
  int multiprocessors{};
  std::size_t shared_bytes_per_block{};  // the opt-in maximum
};

/// Returns the limits of the current device, which is queried once.
/// @throws  cuda::CudaError
[[nodiscard]] DeviceLimits current_device_limits();

/// Returns why these kernels cannot compute `problem` on a device, or nothing if they can. Supported are head_dim 16,
/// 32, 64, 80, 96 and 128 (in 16 bits also 256, forward and backward), compute capabilities that this build has machine
/// code for, and extents within the grid's limits.
[[nodiscard]] std::optional<std::string> attention_unsupported_reason(const AttentionProblem& problem,
                                                                      const DeviceLimits& limits);

/// Bytes of device memory that attention_forward() needs besides its arguments; 0 if none. At most 32 MiB on an H200,
/// whatever the lengths. The sm90 TF32 kernel is the exception: it needs as many bytes as v has, with the keys of each
/// head rounded up to a multiple of at most 128, and 256 more.
[[nodiscard]] std::size_t attention_forward_workspace_bytes(const AttentionProblem& problem,
                                                            const DeviceLimits& limits);

/// Enqueues o = softmax(scale * q k^T, masked) v and the logarithms of its row sums. One or two launches. Does not
/// synchronise.
/// @throws  std::invalid_argument  if attention_unsupported_reason() has a reason, or a workspace is needed and null;
///          cuda::CudaError
void attention_forward(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream);

/// Bytes of device memory that attention_backward() needs besides its arguments; 0 if none.
[[nodiscard]] std::size_t attention_backward_workspace_bytes(const AttentionProblem& problem,
                                                             const DeviceLimits& limits);

/// Enqueues the gradients of q, k and v. One to three launches. Does not synchronise.
/// @throws  std::invalid_argument  if attention_unsupported_reason() has a reason, or a workspace is needed and null;
///          cuda::CudaError
void attention_backward(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream);

}  // namespace tbench::kernels
