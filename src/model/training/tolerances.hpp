// How far the results of a training step that is right may be from their references.
#pragma once

#include <cstdint>

#include "model/torch/compare.hpp"
#include "tbench/model/model_case.hpp"

namespace tbench::model {

/// Quantities that rounding moves by different amounts.
enum class Quantity {
  kLogits,             // of one row
  kLoss,               // a scalar
  kHeadGradient,       // of the LM head and the norm before it
  kGradient,           // of all other parameters, but for
  kAttentionGradient,  // those of the q and k projections
};

/// How a reference multiplies matrices: in the type of all else, or float32 ones with TF32's digits.
enum class ReferenceProducts { kItsOwnType, kTf32 };

/// The products of the second verification's reference: a GPU multiplies several times as fast in TF32, whose loss is a
/// fraction of bfloat16's roundoff. fp16 and TF32 do not use TF32, since they have no more digits than it.
[[nodiscard]] ReferenceProducts second_products(const ModelConfig& config);

/// How far rounding may move a tensor of `count` elements. A right implementation exceeds one of a case's tolerances
/// with a probability of at most 1 in 1,000, both verifications counted: see tolerances.cpp for the derivation.
[[nodiscard]] Tolerance rounding_tolerance(const ModelConfig& config, Quantity quantity, std::int64_t count,
                                           ReferenceProducts products = ReferenceProducts::kItsOwnType);

/// The tolerance of a parameter after its first step of AdamW, with a reference of the step's own gradients, in float32
/// or float64.
[[nodiscard]] Tolerance update_tolerance();
/// The tolerances of that update's norm, and of the elements of a moment: with a reference in float64.
[[nodiscard]] Tolerance update_norm_tolerance();
[[nodiscard]] Tolerance moment_tolerance();

}  // namespace tbench::model
