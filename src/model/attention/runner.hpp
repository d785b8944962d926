// The tensors of one attention case and the pass over them: what a case of the Attention family
// builds and launches. Its verification is verify.hpp.
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

/// The results of a pass; undefined where it does not compute them, or where the implementation does not give them.
struct AttentionOutputs {
  at::Tensor o;    // [batch, heads, seq_q, head_dim]
  at::Tensor lse;  // [batch, heads, seq_q]
  at::Tensor dq;   // [batch, heads, seq_q, head_dim]
  at::Tensor dk;   // [batch, heads, seq_kv, head_dim]
  at::Tensor dv;   // as dk

  [[nodiscard]] std::vector<at::Tensor> all() const { return {o, lse, dq, dk, dv}; }
};

/// The order of AttentionOutputs::all().
enum AttentionOutput : std::size_t { kO, kLse, kDq, kDk, kDv };

class AttentionRunner {
 public:
  /// Makes what make_attention_case() says of build(). Synchronises.
  AttentionRunner(const AttentionConfig& config, const AttentionImpl& impl);

  /// One pass. Marks the end of the forward pass and of the backward, as far as it has them. Never synchronises.
  /// @param phases  may be null
  void step(PhaseMarker* phases = nullptr);
  /// Runs everything that a step and what goes before it run, and hands over what came out; of a backward alone what a
  /// second one from the same state gives, as all timed steps but the first are. That state is released: see restore().
  [[nodiscard]] AttentionOutputs outputs();
  /// Returns what the last step of a watched implementation has computed; for a backward pass alone the gradients.
  [[nodiscard]] const AttentionOutputs& last_outputs() const { return last_; }
  /// Makes the state that a backward pass alone starts from, after outputs() or for other operands.
  void restore();

  /// Gives the operands the values of another seed in place. The state that a backward pass alone starts from is
  /// released: see restore().
  void fill(std::uint64_t seed);
  /// The name of an operand that is not what it was filled with, or nothing. Synchronises.
  [[nodiscard]] std::optional<std::string> changed_operand() const;

  [[nodiscard]] const AttentionOperands& operands() const { return operands_; }
  /// Inputs: everything that was made for the pass; activations that a backward pass alone starts from; results that a
  /// watched implementation keeps behind its step.
  [[nodiscard]] std::vector<LiveTensor> live_tensors() const;
  /// See the counter of make_attention_case().
  [[nodiscard]] std::optional<std::int64_t> held_bytes() const { return held_bytes_; }

 private:
  struct Filled {
    at::Tensor q, k, v, grad_o;  // as AttentionOperands has them
  };
  [[nodiscard]] Filled filled() const;
  void make_operands();
  void weigh_state();
  [[nodiscard]] AttentionState forward(bool for_backward) const;
  void keep(const AttentionState* state, AttentionGradients gradients);

  const AttentionImpl& impl_;
  AttentionOperands operands_;
  std::optional<AttentionState> state_;  // between steps: exactly for a backward pass alone
  AttentionOutputs last_;                // of a watched implementation
  std::optional<std::int64_t> held_bytes_;
};

}  // namespace tbench::model
