// Summarises the traced steps of a case as one step, and cuts them out of a trace at the times that the host marked.
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

/// Summarises a trace of several steps as one step. An operation belongs to the step and phase in which its launching
/// call began, on any thread. The first step is left out: it begins on an idle device, and its launches may include
/// one-time work. Operations launched outside every step (a flush, a spin) do not count.
/// @param trace   trace of one device
/// @param steps   in order, at least two, each with an end for each of `phases`
/// @param regime  in sustained steps the gaps between steps count; a burst begins on an idle device, so that only the
///                gaps inside a step count
/// @throws        std::invalid_argument  for fewer than two steps, or a step with another number of phases
[[nodiscard]] StepTrace summarise_steps(const Trace& trace, const KernelRules& rules,
                                        std::span<const EnqueuedStep> steps, std::span<const std::string_view> phases,
                                        Regime regime);

struct Interval {
  std::int64_t start_ns{};
  std::int64_t end_ns{};  // at least start_ns
};

/// The time that a set of operations took.
struct Exposure {
  std::int64_t total_ns{};    // union of their intervals
  std::int64_t exposed_ns{};  // the part of it in which none of the other operations ran
  bool operator==(const Exposure&) const = default;
};

/// Returns the exposure of `intervals` next to `others`.
/// @param intervals, others  each in the order of their starts; intervals may overlap within a list and between lists
[[nodiscard]] Exposure exposure_of(std::span<const Interval> intervals, std::span<const Interval> others);

/// Returns the exposure of the trace's kernels of class collective next to all other operations, including copies and
/// fills. Returns nullopt without such a kernel. A kernel's wait for another rank counts as communication.
/// @param trace  trace of one GPU
[[nodiscard]] std::optional<Exposure> communication_of(const Trace& trace, const KernelRules& rules);

/// Fills `ranges`, `range_kernels`, `phases`, `parts` and `attention` of a step. A kernel that the step's `kernels` do
/// not have in its phase is not part of `range_kernels`. Ranges of bursts have no gaps, because the device rests
/// between bursts.
/// @param step     as summarise_steps() returns it
/// @param profile  profile of the result of cut_steps
/// @param steps    number of steps in that result
/// @param phases   the case's phases, which are the names in records for the profile's phases FORWARD, BACKWARD, ...
void add_ranges(StepTrace& step, const Profile& profile, std::int64_t steps, std::span<const std::string_view> phases,
                Regime regime);

/// Returns the course of the middle layer (range `layer.N`) in the first FORWARD of a trace, or nullopt if there is no
/// such range. Ranges inside more than kMaxTimelineDepth other ranges, and calls made inside another call, are left
/// out.
/// @param counted  result of cut_steps()
[[nodiscard]] std::optional<StepTimeline> layer_timeline(const Trace& counted);

inline constexpr std::int64_t kMaxTimelineDepth = 2;
inline constexpr std::size_t kMaxTimelineEntries = 320;

// Locates a moment in the traced steps, and cuts the steps out as a trace that can be kept.

struct StepPlace {
  std::size_t step{};
  std::size_t phase{};
};

/// Returns the step and phase of a moment, or nullopt outside every step.
[[nodiscard]] std::optional<StepPlace> place_of(std::int64_t moment_ns, std::span<const EnqueuedStep> steps);

/// Checks the marks of the steps.
/// @throws  std::invalid_argument  for fewer than two steps, or a step with another number of phases
void check_steps(std::span<const EnqueuedStep> steps, std::size_t phases);

/// Cuts out the operations, calls and ranges of `steps` without the first step, which summarise_steps leaves out too.
/// Each phase becomes a range on every thread that launched in it, named in capitals (FORWARD), unless a range of that
/// name exists. Therefore each operation has its phase, also on autograd's own thread. Names and threads without an
/// event are left out.
/// @param steps  in order, at least two, each with an end for each of `phases`
/// @throws       std::invalid_argument  as summarise_steps
[[nodiscard]] Trace cut_steps(const Trace& trace, std::span<const EnqueuedStep> steps,
                              std::span<const std::string_view> phases);

}  // namespace tbench::profile
