// The registry of the Attention family's implementations. A new implementation is a file in backends/ that registers
// itself.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/torch/registry.hpp"
#include "tbench/core/registration.hpp"
#include "tbench/model/attention_case.hpp"

namespace tbench::model {

/// The inputs of an implementation. Tensors are [batch, heads, seq_q or seq_kv, head_dim], contiguous; k and v have
/// AttentionShape::key_heads() heads.
struct AttentionOperands {
  AttentionConfig config;
  double scale{};             // 1 / sqrt(head_dim)
  at::Tensor q, k, v;         // require a gradient if the implementation uses autograd
  at::Tensor grad_o;          // undefined for a forward pass alone
  at::Tensor mask;            // set by prepare() if needed: [seq_q, seq_kv] bool, true if the query sees the key
  at::Tensor minus_infinity;  // set by prepare() if needed: scalar on the device, in the operands' dtype
  std::shared_ptr<const void> made{};  // other data from prepare(), of the implementation's own type
};

/// The results of a forward pass.
struct AttentionState {
  at::Tensor output;              // [batch, heads, seq_q, head_dim]
  at::Tensor lse;                 // [batch, heads, seq_q or more, 1 ...] float; undefined if the implementation does
                                  // not return it
  std::vector<at::Tensor> saved;  // other tensors that the backward reads
};

struct AttentionGradients {
  at::Tensor dq, dk, dv;
};

struct AttentionImpl {
  std::string name;
  int order{};                        // sort key in the list of implementations, and so of cases
  std::vector<Precision> precisions;  // precisions in which it computes on a GPU; kTf32 only if that differs from kFp32
  bool has_deterministic_mode{};      // whether its backward can be made bitwise reproducible
  std::int64_t score_matrices{};      // smallest number of [batch, heads, seq_q, seq_kv] matrices that are held at once
  /// Part of the name of a kernel that each of its passes launches on a GPU; empty if the implementation consists of
  /// general operations.
  std::string_view kernel_mark{};
  /// Returns why the implementation does not support `config`, on a device that exists and supports the precision. May
  /// be null.
  std::optional<std::string> (*unsupported_reason)(const AttentionConfig& config);
  /// Adds data to the operands that the implementation makes only once. May be null.
  void (*prepare)(AttentionOperands& operands);
  /// Runs the forward pass. Keeps the tensors that a backward needs only if `for_backward`. Never synchronises.
  AttentionState (*forward)(const AttentionOperands& operands, bool for_backward);
  /// Computes the gradients from the state that forward() left. Never synchronises.
  /// @param keep_state  whether the state will be used again
  AttentionGradients (*backward)(const AttentionOperands& operands, const AttentionState& state, bool keep_state);
  bool has_shared_heads{};  // whether it takes fewer heads of k and v than of q
  bool is_watched{};        // whether an OutputChecker watches the timed launches, as for implementations from plug-ins
};

/// Returns all implementations, in the order of attention_impl_names().
[[nodiscard]] Registry<AttentionImpl>& attention_impls();

/// Returns a reason if the device is a CPU, otherwise nullopt. For backends without a CPU kernel.
[[nodiscard]] std::optional<std::string> cpu_refusal(const AttentionConfig& config);

}  // namespace tbench::model
