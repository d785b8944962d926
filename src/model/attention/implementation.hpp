// The registry of the Attention family's implementations. A new one is a file in backends/, which registers it.
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

/// The inputs of an implementation. Tensors are [batch, heads, seq_q | seq_kv, head_dim], contiguous.
struct AttentionOperands {
  AttentionConfig config;
  double scale{};             // 1 / sqrt(head_dim)
  at::Tensor q, k, v;         // those of an implementation that uses autograd require a gradient
  at::Tensor grad_o;          // undefined for a forward pass alone
  at::Tensor mask;            // filled by prepare(), where one needs it: [seq_q, seq_kv] bool, true where a query sees
  at::Tensor minus_infinity;  // the same: scalar on the device, in the operands' dtype
  std::shared_ptr<const void> made{};  // whatever else prepare() makes, of the implementation's own type
};

/// The results of a forward pass.
struct AttentionState {
  at::Tensor output;              // [batch, heads, seq_q, head_dim]
  at::Tensor lse;                 // [batch, heads, seq_q or more] float, further extents 1; undefined where not given
  std::vector<at::Tensor> saved;  // what else its backward reads
};

struct AttentionGradients {
  at::Tensor dq, dk, dv;
};

struct AttentionImpl {
  std::string name;
  int order{};                        // of the list of implementations, and so of cases
  std::vector<Precision> precisions;  // that it has GPU kernels for, and that change what they compute
  bool has_deterministic_mode{};      // a backward with the same bits every time, on request
  std::int64_t score_matrices{};      // [batch, heads, seq_q, seq_kv] matrices it holds at once, at the least
  /// A part of the name of a kernel that each of its passes launches on a GPU; empty where it is made of general
  /// operations.
  std::string_view kernel_mark{};
  /// Returns why it does not support `config` on a device that exists and knows the precision. May be null.
  std::optional<std::string> (*unsupported_reason)(const AttentionConfig& config);
  /// Adds to the operands what it needs made once. May be null.
  void (*prepare)(AttentionOperands& operands);
  /// Never synchronises. What a backward needs is kept only if there will be one.
  AttentionState (*forward)(const AttentionOperands& operands, bool for_backward);
  /// Computes the gradients from the state that forward() left. Never synchronises.
  /// @param keep_state  the same state is used again
  AttentionGradients (*backward)(const AttentionOperands& operands, const AttentionState& state, bool keep_state);
  bool is_watched{};  // by an OutputChecker, while it is timed: an implementation from a plug-in
};

/// All of them, in the order of attention_impl_names().
[[nodiscard]] Registry<AttentionImpl>& attention_impls();

/// For the backends that have no CPU kernel.
[[nodiscard]] std::optional<std::string> cpu_refusal(const AttentionConfig& config);

}  // namespace tbench::model
