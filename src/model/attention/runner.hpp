// The tensors of one attention case and its pass. A case of the Attention family builds and launches an
// AttentionRunner; verify.hpp verifies it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/attention/implementation.hpp"
#include "tbench/core/allocation_log.hpp"

namespace tbench::model {

/// The results of a pass. Tensors are undefined if the pass does not compute them or the implementation does not return
/// them.
struct AttentionOutputs {
  at::Tensor o;    // [batch, heads, seq_q, head_dim]
  at::Tensor lse;  // [batch, heads, seq_q]
  at::Tensor dq;   // [batch, heads, seq_q, head_dim]
  at::Tensor dk;   // [batch, key_heads(), seq_kv, head_dim]
  at::Tensor dv;   // [batch, key_heads(), seq_kv, head_dim]

  [[nodiscard]] std::vector<at::Tensor> all() const { return {o, lse, dq, dk, dv}; }
};

/// Indexes into AttentionOutputs::all().
enum AttentionOutput : std::size_t { kO, kLse, kDq, kDk, kDv };

class AttentionRunner {
 public:
  /// Makes the tensors that make_attention_case() describes for build(). Synchronises.
  AttentionRunner(const AttentionConfig& config, const AttentionImpl& impl);

  /// Runs one pass. Marks the ends of the forward pass and of the backward, if the pass has them. Never synchronises.
  /// @param phases  may be null
  void step(PhaseMarker* phases = nullptr);
  /// Runs a step and, for a backward pass alone, the forward pass before it, and returns all results. A backward pass
  /// alone runs twice from the same state, like the timed steps, and the second run's gradients are returned. Releases
  /// the state of a backward pass alone: see restore().
  [[nodiscard]] AttentionOutputs outputs();
  /// Returns the results of a watched implementation's last step; for a backward pass alone, only the gradients.
  [[nodiscard]] const AttentionOutputs& last_outputs() const { return last_; }
  /// Recomputes the state that a backward pass alone starts from. Needed after outputs() and after a change of
  /// operands.
  void restore();

  /// Refills the operands in place with the values of a seed. Releases the state that a backward pass alone starts
  /// from: see restore().
  void fill(std::uint64_t seed);
  /// Returns the name of an operand whose values have changed since it was filled, or nullopt. Synchronises.
  [[nodiscard]] std::optional<std::string> changed_operand() const;

  [[nodiscard]] const AttentionOperands& operands() const { return operands_; }
  /// Returns the inputs, the activations that a backward pass alone starts from, and the results that a watched
  /// implementation keeps after its step.
  [[nodiscard]] std::vector<LiveTensor> live_tensors() const;
  /// Returns the counter `held_bytes`, see make_attention_case().
  [[nodiscard]] std::optional<std::int64_t> held_bytes() const { return held_bytes_; }

 private:
  struct Filled {
    at::Tensor q, k, v, grad_o;  // as in AttentionOperands
  };
  [[nodiscard]] Filled filled() const;
  void make_operands();
  void weigh_state();
  [[nodiscard]] AttentionState forward(bool for_backward) const;
  void keep(const AttentionState* state, AttentionGradients gradients);

  const AttentionImpl& impl_;
  AttentionOperands operands_;
  std::optional<AttentionState> state_;  // between steps, set only for a backward pass alone
  AttentionOutputs last_;                // results of a watched implementation's last step
  std::optional<std::int64_t> held_bytes_;
};

}  // namespace tbench::model
