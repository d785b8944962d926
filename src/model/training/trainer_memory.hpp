// The tensors that a trainer holds, for the memory pass.
#pragma once

#include <vector>

#include "model/training/gradient_sync.hpp"
#include "model/training/trainer.hpp"
#include "tbench/core/allocation_log.hpp"

namespace tbench::model {

/// Returns parameters; gradients, also of a share of the optimizer; optimizer_state; inputs (tokens and targets).
/// Passes that plan their memory add casts, and the gradients, activations and workspaces of the plan at its peak.
/// @param sync  null: there is none; its buffers are communication_buffers, and so are the gradients in them
[[nodiscard]] std::vector<LiveTensor> live_tensors_of(const Trainer& trainer, const GradientSync* sync);

}  // namespace tbench::model
