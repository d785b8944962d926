#include "profile/step_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace tbench::profile {

std::optional<StepPlace> place_of(std::int64_t moment_ns, std::span<const EnqueuedStep> steps) {
  const auto after = std::ranges::upper_bound(steps, moment_ns, {}, &EnqueuedStep::start_ns);
  if (after == steps.begin()) return std::nullopt;
  const EnqueuedStep& step = *std::prev(after);
  const auto phase = std::ranges::upper_bound(step.phase_ends_ns, moment_ns);
  if (phase == step.phase_ends_ns.end()) return std::nullopt;
  return StepPlace{.step = static_cast<std::size_t>(std::prev(after) - steps.begin()),
                   .phase = static_cast<std::size_t>(phase - step.phase_ends_ns.begin())};
}

void check_steps(std::span<const EnqueuedStep> steps, std::size_t phases) {
  if (steps.size() < 2) throw std::invalid_argument{"a trace of steps has at least two: the first does not count"};
  for (const EnqueuedStep& step : steps) {
    if (step.phase_ends_ns.size() == phases) continue;
    throw std::invalid_argument{fmt::format("a traced step marked {} phases of {}", step.phase_ends_ns.size(), phases)};
  }
}

}  // namespace tbench::profile
