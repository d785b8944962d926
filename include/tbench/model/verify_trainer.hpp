// The run-time check of a training step against the reference, and how far apart the two may be.
#pragma once

#include "tbench/core/record.hpp"
#include "tbench/model/compare.hpp"
#include "tbench/model/trainer.hpp"

namespace tbench::model {

/// What ModelStep::verify does. Synchronises.
[[nodiscard]] Verification verify_trainer(Trainer& trainer);

/// How far rounding may move logits, loss and gradients: see verify_trainer.cpp for the derivation.
[[nodiscard]] Tolerance forward_tolerance(const ModelStepConfig& config);
[[nodiscard]] Tolerance gradient_tolerance(const ModelStepConfig& config, bool lm_head);

}  // namespace tbench::model
