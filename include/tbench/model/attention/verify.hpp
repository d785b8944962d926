// The run-time check of an attention case against float64, and how far apart the two may be.
#pragma once

#include <cstdint>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/model/attention/runner.hpp"
#include "tbench/model/compare.hpp"

namespace tbench::model {

/// What AttentionStep::verify does. Leaves the runner as it was built. Synchronises.
[[nodiscard]] Verification verify_attention(AttentionRunner& runner);

/// Of the batch * heads pairs, those that are compared with float64, ascending: all where that is cheap on the device,
/// else the last, whose offsets are the largest, and others chosen by the seed.
[[nodiscard]] std::vector<std::int64_t> compared_pairs(const AttentionStepConfig& config);

/// How far rounding may move the results: see verify.cpp for the derivation.
/// @param seq_q, seq_kv  o and dq are sums over the one, dk and dv over the other
struct AttentionTolerances {
  Tolerance output;  // o and dv, which are sums over p alone
  Tolerance lse;
  Tolerance score_gradient;  // dq and dk, which see the difference of two numbers near each other
  double dq_of_rowsum{};     // times AttentionReference::dq_of_rowsum, what dq may be off besides
};
[[nodiscard]] AttentionTolerances attention_tolerances(Precision precision, std::int64_t seq_q, std::int64_t seq_kv);

}  // namespace tbench::model
