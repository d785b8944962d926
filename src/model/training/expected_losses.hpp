// The expected losses of a step that never has all logits at once, with the errors that they may have.
#pragma once

#include <ATen/core/Tensor.h>

#include "model/training/tolerances.hpp"
#include "tbench/model/model_case.hpp"

namespace tbench::model {

/// The expected lse = log(sum(exp(logits))) of some tokens, and the logits of their targets. A token's loss is the
/// difference of the two.
struct ExpectedLosses {
  at::Tensor lse, of_targets;                  // [tokens], in the dtype of the logits
  at::Tensor lse_allowance, target_allowance;  // [tokens], float64: largest absolute errors
  double target_relative{};                    // further error of a target's logit, relative to this logit
};

/// Returns the values and their tolerances, which follow from rounding_tolerance() of the logits.
/// @param config    config of the step
/// @param logits    expected logits, [tokens, vocab_size]
/// @param targets   [tokens] int64
/// @param products  as in rounding_tolerance()
[[nodiscard]] ExpectedLosses expected_losses(const ModelConfig& config, const at::Tensor& logits,
                                             const at::Tensor& targets, ReferenceProducts products);

}  // namespace tbench::model
