// What a trace of a few steps of a case says of one step: what its record keeps.
#pragma once

#include <span>
#include <string_view>

#include "tbench/core/enums.hpp"
#include "tbench/core/step_trace.hpp"
#include "tbench/profile/kernel_rules.hpp"
#include "tbench/profile/trace.hpp"

namespace tbench::profile {

/// Operations belong to the step and phase in which their launching call began, on whichever thread. The first step is
/// left out: it begins on an idle device, and its launches may do what is done once. What was launched outside of any
/// step (a flush, a spin) does not count.
/// @param trace   of one device
/// @param steps   in their order, at least two, each with an end for each of `phases`
/// @param regime  sustained: the gaps between steps count. Bursts begin on an idle device: only the gaps inside a step
/// @throws        std::invalid_argument  for fewer steps, or a step of another number of phases
[[nodiscard]] StepTrace summarise_steps(const Trace& trace, const KernelRules& rules,
                                        std::span<const EnqueuedStep> steps, std::span<const std::string_view> phases,
                                        Regime regime);

}  // namespace tbench::profile
