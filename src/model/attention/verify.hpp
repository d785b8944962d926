// The run-time check of an attention case: a reference in float64, written from the formulas rather than from an
// implementation's operations, in blocks of query rows (memory does not grow with the square of the sequence), and how
// far rounding may move the results of a core with normal inputs.
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
  Tolerance o, dv;  // sums over p alone
  Tolerance lse;
  Tolerance dq, dk;       // see the difference of two numbers near each other
  double dq_of_rowsum{};  // times AttentionReference::dq_of_rowsum, what dq may be off besides
};

/// @param pairs  of batch and head that are compared
[[nodiscard]] AttentionTolerances attention_tolerances(Precision precision, const AttentionShape& shape,
                                                       std::int64_t pairs);

/// Compares what a step has computed of the operands as they are now. The gradients suffice for a backward pass alone.
/// Synchronises.
/// @param choice  of pairs and queries, where not all are compared
[[nodiscard]] Verification compare_attention(const AttentionRunner& runner, const AttentionOutputs& outputs,
                                             std::uint64_t choice);
[[nodiscard]] inline Verification compare_attention(const AttentionRunner& runner, const AttentionOutputs& outputs) {
  return compare_attention(runner, outputs, runner.operands().config.seed);
}

/// Adds some rows of one pair of batch and head to a comparison with float64 of the operands as they are now: dk and
/// dv, which need the whole pair, of as many launches as kGpuPairScores allows.
void add_attention_rows(const AttentionRunner& runner, const HiddenRows& hidden, Comparison& comparison);
/// Adds the signed sums of all rows of as many pairs as are compared at once, divided by the number of launches, which
/// hidden numbers choose.
void add_attention_sums(const AttentionRunner& runner, const RowDigests& sums, Comparison& comparison);

/// Runs everything twice, the results of the first run overwritten with NaN, and compares the results of the second.
/// Fills the operands by `seed` between the two, unless they are filled by it already: the memory that the first left
/// does not help the second. Fails, too, if an operand was changed. Leaves the runner ready to be timed on these
/// operands. Synchronises.
[[nodiscard]] Verification verify_attention(AttentionRunner& runner, std::uint64_t seed);
[[nodiscard]] inline Verification verify_attention(AttentionRunner& runner) {
  return verify_attention(runner, runner.operands().config.seed);
}

/// Returns the pairs of batch and head, ascending, that are compared with float64 as a whole: all where that is cheap
/// on the device, else the last, whose offsets are the largest, and others chosen by the seed; in that case some
/// queries of all pairs are compared, too.
/// @param launches  that share the cost
[[nodiscard]] std::vector<std::int64_t> compared_pairs(const AttentionConfig& config, std::int64_t launches = 1);

struct AttentionReferenceInput {
  at::Tensor q, k, v;    // [pairs, seq_q | seq_kv, head_dim], any dtype; pairs of batch and head
  at::Tensor queries{};  // [seq_q], places of the queries where q and grad_o are a selection; dk and dv are of it alone
  at::Tensor grad_o;     // [pairs, seq_q, head_dim], or undefined: no gradients
  double scale{};
  bool causal{};  // needs seq_q == seq_kv
  /// Elements of scores that are computed at once. The default block is 256 MiB in float64; half a dozen such matrices
  /// live at a time.
  std::int64_t block_elements{std::int64_t{1} << 25};
};

/// All float64. With p = exp(scale q k^T - lse):
///   lse = log sum exp(scale q k^T), o = p v
///   dv = p^T grad_o, ds = p (grad_o v^T - rowsum(grad_o o)), dq = scale ds k, dk = scale ds^T q
struct AttentionReference {
  at::Tensor o;           // [pairs, seq_q, head_dim]
  at::Tensor lse;         // [pairs, seq_q]
  at::Tensor dq, dk, dv;  // undefined without grad_o
  /// [pairs, seq_q, 1]: scale ||grad_o o|| rms(p k), by which a relative error of the products in rowsum(grad_o o)
  /// moves the elements of a row of dq; undefined without grad_o
  at::Tensor dq_of_rowsum;
};

/// Does not synchronise.
/// @see  Dao et al., FlashAttention (arXiv:2205.14135), appendix B.4
[[nodiscard]] AttentionReference attention_reference(const AttentionReferenceInput& input);

}  // namespace tbench::model
