// Attention cores that are wrong in one respect each, as fused kernels are: what the verification of a core has to
// find. They compute on the CPU from the scores in float64, tile by tile where the fault is one of tiles.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "model/attention/implementation.hpp"

namespace tbench::model::planted_attention {

/// Everything of one pass, in float64: [batch, heads, seq, head_dim or seq_kv].
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
  std::function<void(Core& core)> before{};                        // the forward pass: of its inputs
  std::function<void(Core& core)> after_scores{};                  // of p and lse, before o is made
  std::function<void(Core& core, State& state)> after_forward{};   // of o and lse
  std::function<void(Core& core)> before_backward{};               // of p, o and the inputs
  std::function<void(Core& core, State& state)> after_backward{};  // of dq, dk and dv
  std::function<void(const AttentionOperands& operands, const AttentionState& state)> at_the_end{};  // of a backward
  AttentionShape shape{.batch = 2, .heads = 3, .seq_q = 100, .seq_kv = 100, .head_dim = 32, .causal = true};
  AttentionPass pass{AttentionPass::kForwardBackward};
  std::vector<Precision> precisions{Precision::kFp32, Precision::kBf16};
};

[[nodiscard]] std::vector<Fault> forward_faults();
[[nodiscard]] std::vector<Fault> backward_faults();

/// Commits the fault that was injected last. Forgets what was remembered before.
[[nodiscard]] AttentionImpl planted(const Fault& fault);

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::int64_t kTile = 32;  // queries and keys of a block

}  // namespace tbench::model::planted_attention
