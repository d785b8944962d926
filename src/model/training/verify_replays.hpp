// The check of a captured step that one step cannot make: that what a training run carries from step to step goes on.
#pragma once

#include "model/training/graphed_step.hpp"
#include "model/training/trainer.hpp"
#include "tbench/core/record.hpp"

namespace tbench::model {

/// Makes four plain steps, twice, captures, makes four replays, and compares how far they have moved every parameter,
/// and whereto all of them: a bias correction that the capture froze, an optimizer that it missed or a state that it
/// copied shows here and not in one step. A pass without an optimizer carries nothing: its plain steps and replays (one
/// of a forward pass) are made, and the check of a step that follows sees them. Needs a copy of the parameters. Ends
/// with the trainer as it was built. Synchronises.
/// @throws  as GraphedStep::launch
[[nodiscard]] Verification verify_replays(Trainer& trainer, GraphedStep& graphed);

}  // namespace tbench::model
