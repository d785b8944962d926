// Attention cores with one fault per core, of kinds that occur in fused kernels. The verification of a core must find
// them. They compute on the CPU from the scores in float64, and tile by tile if the fault concerns tiles.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "model/attention/implementation.hpp"

namespace tbench::model::planted_attention {

/// All tensors of one pass, in float64: [batch, heads, seq, head_dim or seq_kv].
struct Core {
  double scale{};
  at::Tensor q, k, v, grad_o;
  at::Tensor visible;  // [seq_q, seq_kv] bool
  at::Tensor p, lse, o;
  at::Tensor rowsum, ds;  // ds is without the scale
  at::Tensor dq, dk, dv;
};

/// The state that a fault keeps from one launch to the next.
struct State {
  at::Tensor a, b;
  std::int64_t launches{};
};

struct Fault {
  std::string name;
  std::function<void(Core& core)> before{};                        // changes the inputs of the forward pass
  std::function<void(Core& core)> after_scores{};                  // changes p and lse, before o is computed
  std::function<void(Core& core, State& state)> after_forward{};   // changes o and lse
  std::function<void(Core& core)> before_backward{};               // changes p, o and the inputs
  std::function<void(Core& core, State& state)> after_backward{};  // changes dq, dk and dv
  std::function<void(const AttentionOperands& operands, const AttentionState& state)> at_the_end{};  // after backward
  AttentionShape shape{.batch = 2, .heads = 3, .seq_q = 100, .seq_kv = 100, .head_dim = 32, .causal = true};
  AttentionPass pass{AttentionPass::kForwardBackward};
  std::vector<Precision> precisions{Precision::kFp32, Precision::kBf16};
};

[[nodiscard]] std::vector<Fault> forward_faults();
[[nodiscard]] std::vector<Fault> backward_faults();

/// Returns an attention core with this fault. Forgets the state of the fault before.
[[nodiscard]] AttentionImpl planted(const Fault& fault);

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::int64_t kTile = 32;  // rows of a Q or K/V tile

}  // namespace tbench::model::planted_attention
