// Our fused attention kernels on LibTorch's tensors: forward and backward for who calls them one by one, and as an
// operation that autograd knows. CUDA alone.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "tbench/core/enums.hpp"
#include "tbench/core/work.hpp"

namespace tbench::model {

/// The dropout that ATen's fused operators are given.
inline constexpr double kNoDropout = 0.0;

struct FlashOptions {
  bool causal{};          // needs as many queries as keys
  double scale{};         // of q k^T
  Precision precision{};  // kBf16 and kFp16 as the tensors' dtype says; kFp32 or kTf32 for float32
  bool deterministic{};   // the backward pass: the same bits every time
};

struct FlashOutput {
  at::Tensor o;    // [batch, heads, seq_q, head_dim], its memory in q's order of dimensions
  at::Tensor lse;  // [batch, heads, seq_q] float
};

struct FlashGradients {
  at::Tensor dq, dk, dv;  // as q, k and v, their memory in the same order of dimensions
};

/// Why the kernels cannot compute this on the first visible GPU, or nothing. Needs a GPU.
[[nodiscard]] std::optional<std::string> flash_unsupported_reason(const AttentionShape& shape, Precision precision);

/// @param q, k, v  [batch, heads, seq, head_dim], the last dimension contiguous, any other strides
/// @throws         std::invalid_argument  for what flash_unsupported_reason() refuses
[[nodiscard]] FlashOutput flash_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                        const FlashOptions& options);
/// @param output  what flash_forward() gave for the same operands
/// @param grad_o  [batch, heads, seq_q, head_dim]; strides of 0 are taken, a last dimension that is not contiguous is
///                copied first
[[nodiscard]] FlashGradients flash_backward(const at::Tensor& grad_o, const at::Tensor& q, const at::Tensor& k,
                                            const at::Tensor& v, const FlashOutput& output,
                                            const FlashOptions& options);

/// softmax(scale q k^T) v with a gradient for q, k and v. Keeps them, the output and its row sums' logarithms.
[[nodiscard]] at::Tensor flash_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                         const FlashOptions& options);

}  // namespace tbench::model
