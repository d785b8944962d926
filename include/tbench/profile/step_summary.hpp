// Traced steps of a case: where the host marked them, the steps alone as a trace, and what they say of one step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tbench/core/enums.hpp"
#include "tbench/core/step_trace.hpp"
#include "tbench/profile/kernel_rules.hpp"
#include "tbench/profile/profile.hpp"
#include "tbench/profile/trace.hpp"

namespace tbench::profile {

// Derives one step from a trace of a few steps of a case, for its record.

/// Whether a label is this name in any case of letters: `FORWARD`, `forward`.
[[nodiscard]] bool is_label(std::string_view label, std::string_view name);

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

struct Interval {
  std::int64_t start_ns{};
  std::int64_t end_ns{};  // at least start_ns
};

/// The time that some operations took.
struct Exposure {
  std::int64_t total_ns{};    // union of their intervals
  std::int64_t exposed_ns{};  // the part of it in which none of the other operations ran
  bool operator==(const Exposure&) const = default;
};

/// @param intervals, others  each in the order of their starts; they may overlap, each other too
[[nodiscard]] Exposure exposure_of(std::span<const Interval> intervals, std::span<const Interval> others);

/// The exposure of the trace's kernels of class collective next to all its other operations, copies and fills among
/// them; nothing without one. A kernel that waits for another rank is communication.
/// @param trace  of one GPU
[[nodiscard]] std::optional<Exposure> communication_of(const Trace& trace, const KernelRules& rules);

/// Fills `ranges`, `parts` and `attention` of a step.
/// @param profile  of cut_steps
/// @param steps    how many those are
/// @param phases   of the case: what the phases FORWARD, BACKWARD, ... of the profile are called in records
void add_ranges(StepTrace& step, const Profile& profile, std::int64_t steps, std::span<const std::string_view> phases);

// Traced steps by the moments at which the host marked them: where it was, and the steps alone, as a trace that can be
// kept.

struct StepPlace {
  std::size_t step{};
  std::size_t phase{};
};

/// Nothing outside of any step.
[[nodiscard]] std::optional<StepPlace> place_of(std::int64_t moment_ns, std::span<const EnqueuedStep> steps);

/// @throws  std::invalid_argument  for fewer than two steps, or a step that marked another number of phases
void check_steps(std::span<const EnqueuedStep> steps, std::size_t phases);

/// Cuts out what was launched, called and entered in `steps` but the first one, which summarise_steps does not count
/// either. On every thread that launched in a phase the phase is a range, named in capitals (FORWARD), unless a range
/// of that name is there: so each operation has its phase, also on autograd's own thread. Names and threads without an
/// event are left out.
/// @param steps  in their order, at least two, each with an end for each of `phases`
/// @throws       std::invalid_argument  as summarise_steps
[[nodiscard]] Trace cut_steps(const Trace& trace, std::span<const EnqueuedStep> steps,
                              std::span<const std::string_view> phases);

}  // namespace tbench::profile
