// Tolerances of the results of a right training step.
#pragma once

#include <cstdint>

#include "model/torch/compare.hpp"
#include "tbench/model/model_case.hpp"

namespace tbench::model {

/// Quantities with different rounding errors.
enum class Quantity {
  kLogits,             // logits of one row
  kLoss,               // mean loss, a scalar
  kHeadGradient,       // gradients of the LM head and of the norm before it
  kGradient,           // gradients of all parameters that no other kind has
  kAttentionGradient,  // gradients of the q and k projections and of their norms
  kTiedGradient,       // gradient of embeddings that are the LM head, too
};

/// How a reference multiplies matrices: in its own type, or, if that is float32, in TF32.
enum class ReferenceProducts { kItsOwnType, kTf32 };

/// Returns how the second verification's reference multiplies. bf16 on a GPU uses TF32, which is several times as fast
/// as float32 and whose rounding error is a fraction of the rounding error in bfloat16. References of fp16 and tf32 do
/// not, since TF32 has no more digits than these.
[[nodiscard]] ReferenceProducts second_products(const ModelConfig& config);

/// Returns the tolerance for the rounding errors of a tensor of `count` elements. A right implementation exceeds one of
/// a case's tolerances with a probability of at most 1 in 1,000, both verifications counted: see tolerances.cpp for the
/// derivation.
[[nodiscard]] Tolerance rounding_tolerance(const ModelConfig& config, Quantity quantity, std::int64_t count,
                                           ReferenceProducts products = ReferenceProducts::kItsOwnType);

/// Returns the tolerance of a parameter after its first step of AdamW. The reference is computed from the step's own
/// gradients, in float32 or float64.
[[nodiscard]] Tolerance update_tolerance();
/// Return the tolerances of this update's norm and of a moment's elements, for a reference in float64.
[[nodiscard]] Tolerance update_norm_tolerance();
[[nodiscard]] Tolerance moment_tolerance();

}  // namespace tbench::model
