// Traced steps by the moments at which the host marked them: where it was, and the steps alone, as a trace that can be
// kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tbench/core/step_trace.hpp"
#include "tbench/profile/trace.hpp"

namespace tbench::profile {

struct StepPlace {
  std::size_t step{};
  std::size_t phase{};
};

/// Nothing outside of any step.
[[nodiscard]] std::optional<StepPlace> place_of(std::int64_t moment_ns, std::span<const EnqueuedStep> steps);

/// @throws  std::invalid_argument  for fewer than two steps, or a step that marked another number of phases
void check_steps(std::span<const EnqueuedStep> steps, std::size_t phases);

/// What was launched, called and entered in `steps` but the first one, which summarise_steps does not count either. On
/// every thread that launched in a phase the phase is a range, named in capitals (FORWARD), unless a range of that name
/// is there: so each operation has its phase, those of autograd's own thread too. Names and threads without an event
/// are left out.
/// @param steps  in their order, at least two, each with an end for each of `phases`
/// @throws       std::invalid_argument  as summarise_steps
[[nodiscard]] Trace cut_steps(const Trace& trace, std::span<const EnqueuedStep> steps,
                              std::span<const std::string_view> phases);

}  // namespace tbench::profile
