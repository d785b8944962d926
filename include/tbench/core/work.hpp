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
  std::optional<Flop> min_flop{};  // the part no implementation can avoid, where that is less: ceiling_share uses it
  std::int64_t tokens{};
  std::int64_t bytes{};  // read and written by the formula of the case's family; 0: not counted
  /// The ceiling that the rate is compared with, a `what` of the Ceiling family: bytes per second where bytes are
  /// counted, else FLOP/s. Filled in from the case's family.
  std::string ceiling{};  // empty: nothing
  /// The optimizer that updates the weights of a train step: adamw_foreach, adamw_fused, adamw_own. Empty: nothing
  /// does.
  std::string optimizer{};
  bool operator==(const Work&) const = default;
};

/// The FLOP of `mfu`, which no implementation can avoid. A training step has 6 N + 6 L s d per token, where N are the
/// weights in products, the LM head's included and the embedding's not, and attention is causal; of a forward pass a
/// third of it. What a backward computes once more does not count.
/// @see  Narayanan et al., Megatron-LM (arXiv:2104.04473), section 5, without recomputation
[[nodiscard]] Flop model_flop(const Work& work);

/// The numerator of ceiling_share: bytes where they are counted, else model_flop().
struct CeilingNumerator {
  double value{};  // 0: neither is counted
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
};

/// FLOP of one attention forward pass: QK^T and PV, a multiply and an add each. Softmax is not counted.
/// @param shape  extents > 0; a causal mask requires seq_q == seq_kv
/// @return       4 * batch * heads * seq_q * seq_kv * head_dim, halved if causal (the diagonal's 1/seq is ignored)
/// @throws       std::invalid_argument if a requirement on `shape` fails
/// @see          Dao, FlashAttention-2 (arXiv:2307.08691), section 4.1
[[nodiscard]] Flop attention_forward_flop(const AttentionShape& shape);

/// Work of one attention pass. Backward is 2.5 times the forward: five products (scores again, dP, dQ, dK, dV) where
/// that has two, however an implementation comes by them. One that kept the scores makes four: min_flop has 2 times.
/// Tokens are batch * seq_q.
/// @throws  as attention_forward_flop
[[nodiscard]] Work attention_work(const AttentionShape& shape, AttentionPass pass);

/// Bytes that an attention pass holds at once at the very least, in tensors of `element_bytes` an element: q, k, v and
/// the output, and with a backward their four gradients. Scores, where an implementation keeps them, come on top.
[[nodiscard]] std::int64_t attention_min_bytes(const AttentionShape& shape, AttentionPass pass,
                                               std::int64_t element_bytes);

/// Work of one step of a causal transformer: dense layers 2 * tokens * weights forward (the embedding is a look-up
/// and not counted), attention as `attention_forward_flop`, causal. Backward is twice the dense layers' forward and 2.5
/// times attention's (2 times in min_flop). The optimizer, norms, softmax and activations are not counted.
/// @param size     extents > 0
/// @param context  tokens per sequence, > 0
/// @param batch    sequences, > 0
/// @throws         std::invalid_argument if an extent is not positive
[[nodiscard]] Work model_step_work(const ModelSize& size, std::int64_t context, std::int64_t batch, Pass pass);

/// Bytes that a step holds at once at the very least: float32 parameters, gradients if the pass has a backward, two
/// moments if it has an optimizer. Activations come on top.
[[nodiscard]] std::int64_t model_min_bytes(const ModelSize& size, Pass pass);

/// `send_recv`: every rank sends to the next one around a ring while it receives from the one before.
enum class CollectiveOp { kAllReduce, kAllGather, kReduceScatter, kBroadcast, kAllToAll, kSendRecv };

template <>
struct EnumNames<CollectiveOp> {
  static constexpr std::array<std::string_view, 6> kNames{"all_reduce", "all_gather", "reduce_scatter",
                                                          "broadcast",  "all_to_all", "send_recv"};
};

/// The factor of the algorithm bandwidth that crosses the slowest link of `ranks` ranks: bus bandwidth = factor * bytes
/// / time.
/// @param ranks  > 0
/// @see  nccl-tests, doc/PERFORMANCE.md: all_reduce 2 (n - 1) / n; all_gather, reduce_scatter, all_to_all (n - 1) / n;
///       broadcast, send_recv 1
[[nodiscard]] double bus_factor(CollectiveOp op, std::int64_t ranks);

/// A GPU's dense matrix rate by its datasheet: FLOP per SM and clock cycle, so that the peak at a measured clock is
/// flop_per_sm_clock * sm_count * clock. Nothing for a GPU that is not in the table (work.cpp gives the sources).
[[nodiscard]] std::optional<double> datasheet_flop_per_sm_clock(std::string_view gpu_name, Precision precision);

/// A GPU's dense matrix rate as its datasheet has it, at the boost clock: of an H100 SXM in bf16 989.4 TFLOP/s. A part
/// of a GPU has its share. Nothing for a GPU that is not in the table.
/// @param sm_count  multiprocessors, > 0
[[nodiscard]] std::optional<FlopPerSecond> datasheet_peak(std::string_view gpu_name, std::int64_t sm_count,
                                                          Precision precision);

}  // namespace tbench
