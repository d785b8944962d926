// The tensors that a trainer holds, for the memory pass.
#pragma once

#include <vector>

#include "model/training/gradient_sync.hpp"
#include "model/training/trainer.hpp"
#include "tbench/core/allocation_log.hpp"

namespace tbench::model {

/// Returns the tensors of the classes parameters, gradients (also of an optimizer's share), optimizer_state and inputs
/// (tokens and targets). Passes that plan their memory add casts, and the planned gradients, activations and workspaces
/// at the peak.
/// @param sync  the gradient synchronization, or null; its buffers, and the gradients in them, are of the class
///              communication_buffers
[[nodiscard]] std::vector<LiveTensor> live_tensors_of(const Trainer& trainer, const GradientSync* sync);

}  // namespace tbench::model
