// Our fused attention kernels on LibTorch's tensors: forward and backward as single functions, and one operation with
// autograd support. CUDA only.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "tbench/core/enums.hpp"
#include "tbench/core/work.hpp"

namespace tbench::model {

/// The dropout probability passed to ATen's fused operators.
inline constexpr double kNoDropout = 0.0;

struct FlashOptions {
  bool causal{};          // requires seq_q == seq_kv
  double scale{};         // factor of q k^T
  Precision precision{};  // must match the tensors' dtype: kBf16, kFp16, or kFp32 or kTf32 for float32
  bool deterministic{};   // makes the backward pass bitwise reproducible
};

struct FlashOutput {
  at::Tensor o;    // [batch, heads, seq_q, head_dim], with q's memory order of dimensions
  at::Tensor lse;  // [batch, heads, seq_q] float
};

struct FlashGradients {
  at::Tensor dq, dk, dv;  // shapes and memory order of q, k and v
};

/// Returns why the kernels cannot compute this shape on the first visible GPU, or nullopt if they can. Needs a GPU.
[[nodiscard]] std::optional<std::string> flash_unsupported_reason(const AttentionShape& shape, Precision precision);

/// Runs the forward kernel.
/// @param q, k, v  [batch, heads, seq, head_dim], contiguous in the last dimension, with any other strides; k and v may
///                 have fewer heads, each of which serves heads / kv_heads consecutive heads of q
/// @throws         std::invalid_argument  if flash_unsupported_reason() refuses the shape
[[nodiscard]] FlashOutput flash_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                        const FlashOptions& options);
/// Runs the backward kernels.
/// @param output  the result of flash_forward() for the same operands
/// @param grad_o  [batch, heads, seq_q, head_dim]; strides may be 0; if the last dimension is not contiguous, the
///                tensor is copied first
[[nodiscard]] FlashGradients flash_backward(const at::Tensor& grad_o, const at::Tensor& q, const at::Tensor& k,
                                            const at::Tensor& v, const FlashOutput& output,
                                            const FlashOptions& options);

/// Returns softmax(scale q k^T) v, with autograd for q, k and v. Saves these three, the output and the row sums'
/// logarithms for backward.
[[nodiscard]] at::Tensor flash_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                         const FlashOptions& options);

}  // namespace tbench::model
