// The work of a case, counted from its shape: the numerators of FLOP/s, tokens/s, MFU, HFU and bandwidths.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tbench/core/enums.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/units.hpp"

namespace tbench {

/// `forward` is inference, without a graph; `forward_backward` ends with gradients; `train_step` adds the optimizer.
enum class Pass { kForward, kForwardBackward, kTrainStep };

template <>
struct EnumNames<Pass> {
  static constexpr std::array<std::string_view, 3> kNames{"forward", "forward_backward", "train_step"};
};

/// Results of one attention layer's core alone, softmax(scale q k^T) v: its output, the gradients of q, k and v from a
/// forward pass that ran before, or both.
enum class AttentionPass { kForward, kBackward, kForwardBackward };

template <>
struct EnumNames<AttentionPass> {
  static constexpr std::array<std::string_view, 3> kNames{"forward", "backward", "forward_backward"};
};

struct Work {
  Flop flop{};
  std::optional<Flop> min_flop{};  // the part of `flop` that no implementation can avoid, if less; for ceiling_share
  std::int64_t tokens{};
  std::int64_t bytes{};  // bytes read and written, by the formula of the case's family; 0 if not counted
  /// The ceiling that the rate is compared with, a `what` of the Ceiling family: in bytes per second if bytes are
  /// counted, otherwise in FLOP/s. Filled in from the case's family.
  std::string ceiling{};  // empty if there is no ceiling
  /// The optimizer that updates the weights of a train step: adamw_foreach, adamw_fused or adamw_own. Empty if none.
  std::string optimizer{};
  bool operator==(const Work&) const = default;
};

/// Returns the FLOP that no implementation can avoid, the numerator of `mfu`. A training step with causal attention has
/// 6 N + 6 L s d per token, where N is the number of weights in matrix products (with the LM head, without the
/// embedding). A forward pass has a third as much. Recomputation in the backward pass does not count.
/// @see  Narayanan et al., Megatron-LM (arXiv:2104.04473), section 5, without recomputation
[[nodiscard]] Flop model_flop(const Work& work);

/// The numerator of ceiling_share: the bytes if they are counted, otherwise model_flop().
struct CeilingNumerator {
  double value{};  // 0 if neither is counted
  bool is_of_bytes{};
};
[[nodiscard]] CeilingNumerator ceiling_numerator(const Work& work);

struct AttentionShape {
  std::int64_t batch{};
  std::int64_t heads{};
  std::int64_t seq_q{};
  std::int64_t seq_kv{};
  std::int64_t head_dim{};
  bool causal{};
  std::int64_t kv_heads{};  // heads of k and v, each shared by heads / kv_heads heads of q; 0: as many as heads

  [[nodiscard]] std::int64_t key_heads() const { return kv_heads > 0 ? kv_heads : heads; }
  /// Returns how many heads of q share a head of k and v.
  [[nodiscard]] std::int64_t group() const { return kv_heads > 0 ? heads / kv_heads : 1; }
};

/// Returns the FLOP of one attention forward pass: the products QK^T and PV. Softmax is not counted.
/// @param shape  extents > 0; a causal mask requires seq_q == seq_kv
/// @return       4 * batch * heads * seq_q * seq_kv * head_dim, halved if causal (the diagonal's 1/seq is ignored)
/// @throws       std::invalid_argument if a requirement on `shape` fails
/// @see          Dao, FlashAttention-2 (arXiv:2307.08691), section 4.1
[[nodiscard]] Flop attention_forward_flop(const AttentionShape& shape);

/// Returns the work of one attention pass. A backward pass counts as 2.5 forward passes for every implementation: five
/// products (scores again, dP, dQ, dK, dV) instead of two. An implementation that keeps the scores needs only four, so
/// min_flop counts 2 forward passes. Tokens are batch * seq_q.
/// @throws  std::invalid_argument under the same conditions as attention_forward_flop()
[[nodiscard]] Work attention_work(const AttentionShape& shape, AttentionPass pass);

/// Returns a lower bound of the bytes that an attention pass holds at once, with `element_bytes` per element: q, k, v
/// and the output, and their four gradients if there is a backward pass. Scores that an implementation keeps are extra.
[[nodiscard]] std::int64_t attention_min_bytes(const AttentionShape& shape, AttentionPass pass,
                                               std::int64_t element_bytes);

/// Returns the work of one step of a causal transformer. The forward pass has 2 * tokens * weights in the dense layers
/// (the embedding is a look-up and not counted) and causal attention_forward_flop(). The backward pass has twice the
/// dense layers' forward FLOP and 2.5 times attention's (2 times in min_flop). The optimizer, norms, softmax and
/// activations are not counted.
/// @param size     extents > 0
/// @param context  tokens per sequence, > 0
/// @param batch    sequences, > 0
/// @throws         std::invalid_argument if an extent is not positive
[[nodiscard]] Work model_step_work(const ModelSize& size, std::int64_t context, std::int64_t batch, Pass pass);

/// Returns a lower bound of the bytes that a step holds at once: float32 parameters, gradients if the pass has a
/// backward, and two moments if it has an optimizer. Activations are extra.
[[nodiscard]] std::int64_t model_min_bytes(const ModelSize& size, Pass pass);

/// `send_recv`: every rank sends to the next one around a ring while it receives from the one before.
enum class CollectiveOp { kAllReduce, kAllGather, kReduceScatter, kBroadcast, kAllToAll, kSendRecv };

template <>
struct EnumNames<CollectiveOp> {
  static constexpr std::array<std::string_view, 6> kNames{"all_reduce", "all_gather", "reduce_scatter",
                                                          "broadcast",  "all_to_all", "send_recv"};
};

/// Returns the ratio of bus bandwidth to algorithm bandwidth: bus bandwidth = factor * bytes / time, the load on the
/// slowest link between the ranks.
/// @param ranks  number of ranks, > 0
/// @see  nccl-tests, doc/PERFORMANCE.md: all_reduce 2 (n - 1) / n; all_gather, reduce_scatter, all_to_all (n - 1) / n;
///       broadcast, send_recv 1
[[nodiscard]] double bus_factor(CollectiveOp op, std::int64_t ranks);

/// Returns a GPU's dense matrix rate by its datasheet in FLOP per SM and clock cycle: the peak at a measured clock is
/// flop_per_sm_clock * sm_count * clock. Returns nullopt for a GPU that is not in the table (sources: work.cpp).
[[nodiscard]] std::optional<double> datasheet_flop_per_sm_clock(std::string_view gpu_name, Precision precision);

/// Returns a GPU's dense matrix rate at the boost clock, by its datasheet: 989.4 TFLOP/s for bf16 on an H100 SXM. A
/// part of a GPU has a proportional share. Returns nullopt for a GPU that is not in the table.
/// @param sm_count  number of SMs, > 0
[[nodiscard]] std::optional<FlopPerSecond> datasheet_peak(std::string_view gpu_name, std::int64_t sm_count,
                                                          Precision precision);

}  // namespace tbench
