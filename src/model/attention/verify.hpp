// The run-time check of an attention case: a float64 reference and the tolerances for the rounding errors of an
// attention core with normal inputs. The reference follows the formulas rather than an implementation's operations. It
// runs in blocks of query rows, so that memory does not grow with the square of the sequence length.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "model/attention/runner.hpp"
#include "model/torch/compare.hpp"
#include "model/torch/output_checker.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/work.hpp"

namespace tbench::model {

/// Tolerances of one verification. A right implementation exceeds one of a case's tolerances with a probability of at
/// most 1 in 1,000, both verifications counted: see tolerances.cpp for the derivation.
struct AttentionTolerances {
  Tolerance o, dv;  // results that are plain sums weighted by p
  Tolerance lse;
  Tolerance dq, dk;       // include errors of the difference of two similar numbers
  double dq_of_rowsum{};  // times AttentionReference::dq_of_rowsum: additional allowance of dq
};

/// Returns the tolerances of a comparison.
/// @param pairs  number of pairs that are compared; a pair is (batch, head of k and v), with all queries of its heads
[[nodiscard]] AttentionTolerances attention_tolerances(Precision precision, const AttentionShape& shape,
                                                       std::int64_t pairs);

/// Compares a step's results with float64 of the current operands. For a backward pass alone, outputs may have only
/// gradients. Synchronises.
/// @param choice  seed for the choice of pairs and queries, if not all are compared
[[nodiscard]] Verification compare_attention(const AttentionRunner& runner, const AttentionOutputs& results,
                                             std::uint64_t choice);
[[nodiscard]] inline Verification compare_attention(const AttentionRunner& runner, const AttentionOutputs& outputs) {
  return compare_attention(runner, outputs, runner.operands().config.seed);
}

/// Adds some rows of one (batch, head) pair to a comparison with float64 of the current operands. dk and dv need o and
/// lse of a whole pair and are only compared for as many launches as kGpuPairScores or kCpuPairScores allows.
void add_attention_rows(const AttentionRunner& runner, const HiddenRows& hidden, Comparison& comparison);
/// Adds the signed sums of all rows of some pairs to a comparison. Hidden numbers choose the pairs; there are as many
/// as compare_attention() compares, divided by kDigestedLaunches.
void add_attention_sums(const AttentionRunner& runner, const RowDigests& sums, Comparison& comparison);

/// Runs everything twice and compares the results of the second run. In between, it overwrites the first run's results
/// with NaN and fills the operands by `seed`, if they have another seed, so that the second run cannot use results that
/// the first left in memory. Also fails if an operand was changed. Leaves the runner ready to be timed on these
/// operands. Synchronises.
[[nodiscard]] Verification verify_attention(AttentionRunner& runner, std::uint64_t seed);
[[nodiscard]] inline Verification verify_attention(AttentionRunner& runner) {
  return verify_attention(runner, runner.operands().config.seed);
}

/// Returns the indexes of the (batch, head) pairs that are compared with float64 as a whole, ascending. These are all
/// pairs if that is cheap on the device. If it is not, they are the last pair, which has the largest offsets, and pairs
/// chosen by the seed; some queries of all pairs are then compared, too.
/// @param launches  number of launches among which the cost is divided
[[nodiscard]] std::vector<std::int64_t> compared_pairs(const AttentionConfig& config, std::int64_t launches = 1);

struct AttentionReferenceInput {
  at::Tensor q, k, v;    // [pairs, seq_q or seq_kv, head_dim], any dtype; a pair is (batch, head)
  at::Tensor queries{};  // [seq_q]: positions of the queries, if q and grad_o are a selection of queries; dk and dv
                         // then cover only this selection
  at::Tensor grad_o;     // [pairs, seq_q, head_dim], or undefined for no gradients
  double scale{};
  bool causal{};  // needs seq_q == seq_kv
  /// Number of scores that are computed at once. The default block is 256 MiB in float64; half a dozen such matrices
  /// are live at a time.
  std::int64_t block_elements{std::int64_t{1} << 25};
};

/// The reference's results, all in float64. With p = exp(scale q k^T - lse):
///   lse = log sum exp(scale q k^T), o = p v
///   dv = p^T grad_o, ds = p (grad_o v^T - rowsum(grad_o o)), dq = scale ds k, dk = scale ds^T q
struct AttentionReference {
  at::Tensor o;           // [pairs, seq_q, head_dim]
  at::Tensor lse;         // [pairs, seq_q]
  at::Tensor dq, dk, dv;  // undefined without grad_o
  /// [pairs, seq_q, 1]: scale ||grad_o o|| rms(p k), the change of a row's elements of dq per relative error of the
  /// products in rowsum(grad_o o); undefined without grad_o
  at::Tensor dq_of_rowsum;
};

/// Computes the reference. Does not synchronise.
/// @see  Dao et al., FlashAttention (arXiv:2205.14135), appendix B.4
[[nodiscard]] AttentionReference attention_reference(const AttentionReferenceInput& input);

/// Rows of dk and dv, [n, head_dim] each.
struct AttentionKeyGradients {
  at::Tensor dk, dv;
};

/// Computes rows of dk and dv of one pair from the reference's o and lse: one pass over a whole matrix of scores, where
/// attention_reference() with grad_o makes five. Does not synchronise.
/// @param input  one pair, without `queries`
/// @param keys   [n]: positions of the keys
[[nodiscard]] AttentionKeyGradients key_gradients(const AttentionReferenceInput& input, const at::Tensor& keys);

}  // namespace tbench::model
