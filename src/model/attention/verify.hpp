// The run-time check of an attention case: a reference in float64, written from the formulas rather than from an
// implementation's operations, in blocks of query rows (memory does not grow with the square of the sequence); and how
// far apart the two may be.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "model/attention/runner.hpp"
#include "model/torch/compare.hpp"
#include "tbench/core/record.hpp"

namespace tbench::model {

/// What verify() of an attention case does. Leaves the runner as it was built. Synchronises.
[[nodiscard]] Verification verify_attention(AttentionRunner& runner);

/// Of the batch * heads pairs, those that are compared with float64, ascending: all where that is cheap on the device,
/// else the last, whose offsets are the largest, and others chosen by the seed.
[[nodiscard]] std::vector<std::int64_t> compared_pairs(const AttentionConfig& config);

/// How far rounding may move the results: see verify.cpp for the derivation.
/// @param seq_q, seq_kv  o and dq are sums over the one, dk and dv over the other
struct AttentionTolerances {
  Tolerance output;  // o and dv, which are sums over p alone
  Tolerance lse;
  Tolerance score_gradient;  // dq and dk, which see the difference of two numbers near each other
  double dq_of_rowsum{};     // times AttentionReference::dq_of_rowsum, what dq may be off besides
};
[[nodiscard]] AttentionTolerances attention_tolerances(Precision precision, std::int64_t seq_q, std::int64_t seq_kv);

struct AttentionReferenceInput {
  at::Tensor q, k, v;  // [pairs, seq_q | seq_kv, head_dim], any dtype; pairs of batch and head
  at::Tensor grad_o;   // [pairs, seq_q, head_dim], or undefined: no gradients
  double scale{};
  bool causal{};  // needs seq_q == seq_kv
  /// Scores at once. By default a block is 256 MiB in float64; half a dozen such matrices live at a time.
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
