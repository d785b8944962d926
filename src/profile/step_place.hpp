// Where the host was in traced steps, by the moments at which it marked them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tbench/core/step_trace.hpp"

namespace tbench::profile {

struct StepPlace {
  std::size_t step{};
  std::size_t phase{};
};

/// Nothing outside of any step.
[[nodiscard]] std::optional<StepPlace> place_of(std::int64_t moment_ns, std::span<const EnqueuedStep> steps);

/// @throws  std::invalid_argument  for fewer than two steps, or a step that marked another number of phases
void check_steps(std::span<const EnqueuedStep> steps, std::size_t phases);

}  // namespace tbench::profile
