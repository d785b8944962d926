// Checks over several steps that a captured step carries on a training run's state from step to step.
#pragma once

#include "model/training/graphed_step.hpp"
#include "model/training/trainer.hpp"
#include "tbench/core/record.hpp"

namespace tbench::model {

/// Makes four plain steps twice, captures a step, makes four replays, and compares the length of every parameter's
/// update, and the update of all parameters together. This detects a bias correction that the capture froze, an
/// optimizer that it missed and a state that it copied, which one step does not show. Passes without an optimizer have
/// no such state: their plain steps and replays (one for a forward pass) are only made, and the later check of a single
/// step verifies the result. Needs memory for a copy of the parameters. Leaves the trainer as it was built.
/// Synchronises.
/// @throws  as GraphedStep::launch
[[nodiscard]] Verification verify_replays(Trainer& trainer, GraphedStep& graphed);

}  // namespace tbench::model
