// An attention problem and the arguments of its passes. The functions that compute it are in attention.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "tbench/core/enums.hpp"
#include "tbench/core/work.hpp"

namespace tbench::kernels {

/// A tensor [batch, heads, seq, head_dim] on the device, its last dimension contiguous. Elements are float for
/// Precision::kFp32 and kTf32, __nv_bfloat16 for kBf16, __half for kFp16.
struct TensorView {
  void* data{};
  std::array<std::int64_t, 3> strides{};  // strides of batch, heads and seq, in elements; 0 repeats
};

/// The part of a TensorView that a plan depends on. Tensors with 16-byte aligned addresses and strides that are
/// multiples of 16 bytes are read in vectors, other tensors element by element.
struct TensorLayout {
  std::array<std::int64_t, 3> strides{};  // as in TensorView
  int alignment{};                        // alignment of the address in bytes: 1, 2, 4, 8 or 16; 0: unknown
  bool operator==(const TensorLayout&) const = default;
};

/// Layouts of the tensors of a pass. The forward pass uses only the first four.
struct AttentionLayout {
  TensorLayout q{}, k{}, v{}, o{};
  TensorLayout grad_o{}, dq{}, dk{}, dv{};
  bool operator==(const AttentionLayout&) const = default;
};

struct AttentionProblem {
  AttentionShape shape;  // a causal mask requires seq_q == seq_kv
  Precision precision{};
  float scale{};         // factor of q k^T, usually 1 / sqrt(head_dim)
  bool deterministic{};  // backward pass: bitwise identical results in every run, without atomic additions
  AttentionLayout layout{};
};

struct AttentionForward {
  TensorView q;       // [batch, heads, seq_q, head_dim]
  TensorView k, v;    // [batch, kv_heads, seq_kv, head_dim]; head h of q reads head h / (heads / kv_heads)
  TensorView o;       // as q, written
  float* lse{};       // [batch, heads, seq_q] contiguous, written: natural logarithm of the sum of exp(scale * q k^T)
  void* workspace{};  // AttentionPlan::workspace_bytes(), aligned to 256 bytes; contents do not matter
};

struct AttentionBackward {
  TensorView q, k, v, o;  // as in the forward pass; o is that pass's result
  const float* lse{};     // result of the forward pass
  TensorView grad_o;      // [batch, heads, seq_q, head_dim]; strides of 0 are allowed
  TensorView dq, dk, dv;  // as q, k and v, written; dk and dv are sums over the heads of q that share a head of k and v
  void* workspace{};      // AttentionPlan::workspace_bytes(), aligned to 256 bytes; contents do not matter
};

}  // namespace tbench::kernels
