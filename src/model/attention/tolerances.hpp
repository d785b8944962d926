// How far rounding may move the results of an attention core with normal inputs.
#pragma once

#include <cstdint>

#include "model/torch/compare.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/work.hpp"

namespace tbench::model {

/// Of one verification. A right implementation exceeds one of a case's tolerances with a probability of at most 1 in
/// 1,000, both verifications counted: see tolerances.cpp for the derivation.
struct AttentionTolerances {
  Tolerance o, dv;  // sums over p alone
  Tolerance lse;
  Tolerance dq, dk;       // see the difference of two numbers near each other
  double dq_of_rowsum{};  // times AttentionReference::dq_of_rowsum, what dq may be off besides
};

/// @param pairs  of batch and head that are compared
[[nodiscard]] AttentionTolerances attention_tolerances(Precision precision, const AttentionShape& shape,
                                                       std::int64_t pairs);

}  // namespace tbench::model
