// Fills the parts of a step that need its ranges.
#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/steps/per_step.hpp"
#include "tbench/profile/profile.hpp"
#include "tbench/profile/range_names.hpp"
#include "tbench/profile/step_summary.hpp"

namespace tbench::profile {
namespace {

std::optional<Seconds> deviation_of(const Durations& durations) {
  if (durations.count() < 2) return std::nullopt;
  return seconds_of(durations.std_ns());
}

/// Returns for each range its label after the labels of the ranges around it.
std::vector<std::string> paths_of(const std::vector<RangeTime>& ranges) {
  std::vector<std::string> paths;
  for (const RangeTime& range : ranges) {
    paths.push_back(range.depth == 0 ? range.label : paths[range.parent] + "/" + range.label);
  }
  return paths;
}

TracedRange traced(const RangeTime& range, const std::string& path, const PerStep& step) {
  TracedRange traced{.path = path,
                     .calls = step.count(range.host.count()),
                     .host = step.time(range.host.total_ns()),
                     .host_exclusive = step.time(range.host_exclusive_ns),
                     .gpu_span = step.time(range.gpu_span_ns),
                     .gpu_sum = step.time(range.gpu_sum_ns),
                     .gpu_busy = step.time(range.gpu_busy.total_ns()),
                     .gpu_exclusive = step.time(range.gpu_exclusive_ns),
                     .operations = step.count(range.operations),
                     .launches = step.count(range.launches),
                     .host_min = seconds_of(range.host.min_ns()),
                     .host_max = seconds_of(range.host.max_ns()),
                     .host_deviation = deviation_of(range.host),
                     .gpu_min = {},
                     .gpu_max = {},
                     .gpu_deviation = deviation_of(range.gpu_busy),
                     .host_gaps = step.time(range.gaps.host_ns),
                     .device_gaps = step.time(range.gaps.device_ns)};
  if (range.gpu_busy.count() == 0) return traced;
  traced.gpu_min = seconds_of(range.gpu_busy.min_ns());
  traced.gpu_max = seconds_of(range.gpu_busy.max_ns());
  return traced;
}

PhaseTrace traced(const PhaseTime& phase, std::string name, const PerStep& step) {
  PhaseTrace traced{.phase = std::move(name),
                    .span = step.time(phase.span_ns),
                    .host_gaps = step.time(phase.gaps.host_ns),
                    .device_gaps = step.time(phase.gaps.device_ns),
                    .other_gaps = step.time(phase.gaps.other_ns),
                    .api_calls = step.count(phase.outer_calls),
                    .api = step.time(phase.calls_ns),
                    .calls = {},
                    .copies = {}};
  for (const ApiTime& call : phase.calls) {
    traced.calls.push_back(
        {.name = call.name, .calls = step.count(call.durations.count()), .host = step.time(call.durations.total_ns())});
  }
  for (const CopyTime& copy : phase.copies) {
    traced.copies.push_back({.name = copy.name,
                             .count = step.count(copy.count),
                             .bytes = step.count(copy.bytes),
                             .total = step.time(copy.total_ns)});
  }
  return traced;
}

/// Returns the case's own name for the phase with this label, such as `forward` for FORWARD, or the label if it is not
/// a phase of the case.
std::string phase_name(const std::string& label, std::span<const std::string_view> phases) {
  const auto found = std::ranges::find_if(phases, [&](std::string_view phase) { return is_label(label, phase); });
  return found == phases.end() ? label : std::string{*found};
}

/// Returns the label of the outermost range around the row: the range of the case's own phase. The profile may know
/// phases inside it, such as FORWARD in the only phase of a case.
const std::string& outermost_label(const std::vector<RangeTime>& ranges, std::size_t row) {
  while (ranges[row].depth > 0) row = ranges[row].parent;
  return ranges[row].label;
}

/// Fills `range_kernels` of a step that has its kernels and ranges. Operations outside of every range are left out.
void add_range_kernels(StepTrace& step, const Profile& profile, const PerStep& per_step,
                       std::span<const std::string_view> phases) {
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> index;
  for (std::size_t i = 0; i < step.kernels.size(); ++i) index[{step.kernels[i].phase, step.kernels[i].name}] = i;
  for (const RangeKernelTime& kernel : profile.range_kernels) {
    if (!kernel.range) continue;
    const std::string phase = phase_name(outermost_label(profile.ranges, *kernel.range), phases);
    const auto found = index.find({phase, kernel.name});
    if (found == index.end()) continue;
    step.range_kernels.push_back({.range = *kernel.range,
                                  .kernel = found->second,
                                  .calls = per_step.count(kernel.operations),
                                  .total = per_step.time(kernel.total_ns)});
  }
}

}  // namespace

void add_ranges(StepTrace& step, const Profile& profile, std::int64_t steps, std::span<const std::string_view> phases,
                Regime regime) {
  const PerStep per_step{steps};
  const std::vector<std::string> paths = paths_of(profile.ranges);
  for (std::size_t i = 0; i < profile.ranges.size(); ++i) {
    TracedRange& range = step.ranges.emplace_back(traced(profile.ranges[i], paths[i], per_step));
    if (regime != Regime::kBurst) continue;
    range.host_gaps.reset();
    range.device_gaps.reset();
  }
  add_range_kernels(step, profile, per_step, phases);
  for (const PhaseTime& phase : profile.phases) {
    step.phases.push_back(traced(phase, phase.name == kNoPhase ? "" : phase_name(phase.name, phases), per_step));
  }
  for (const DerivedRange& part : profile.derived_ranges) {
    step.parts.push_back({.of = paths[part.of],
                          .name = part.name,
                          .host = per_step.time(part.host_ns),
                          .gpu_sum = per_step.time(part.gpu_sum_ns),
                          .operations = per_step.count(part.operations),
                          .launches = per_step.count(part.launches)});
  }
  for (const AttentionTime& time : profile.attention) {
    step.attention.push_back({.phase = phase_name(profile.phases[time.phase].name, phases),
                              .softmax = per_step.time(time.softmax_ns),
                              .scores = per_step.time(time.scores_ns),
                              .context = per_step.time(time.context_ns),
                              .other = per_step.time(time.other_ns)});
  }
}

}  // namespace tbench::profile
