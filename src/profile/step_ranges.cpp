#include "tbench/profile/step_ranges.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "profile/per_step.hpp"
#include "profile/ranges.hpp"

namespace tbench::profile {
namespace {

std::optional<Seconds> deviation_of(const Durations& durations) {
  if (durations.count() < 2) return std::nullopt;
  return seconds_of(durations.std_ns());
}

/// Of each range its label behind those of the ranges around it.
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
                     .gpu_deviation = deviation_of(range.gpu_busy)};
  if (range.gpu_busy.count() == 0) return traced;
  traced.gpu_min = seconds_of(range.gpu_busy.min_ns());
  traced.gpu_max = seconds_of(range.gpu_busy.max_ns());
  return traced;
}

/// The case's own name of a phase: `forward` of FORWARD.
std::string phase_name(const std::string& label, std::span<const std::string_view> phases) {
  const auto found = std::ranges::find_if(phases, [&](std::string_view phase) { return is_label(label, phase); });
  return found == phases.end() ? label : std::string{*found};
}

}  // namespace

void add_ranges(StepTrace& step, const Profile& profile, std::int64_t steps, std::span<const std::string_view> phases) {
  const PerStep per_step{steps};
  const std::vector<std::string> paths = paths_of(profile.ranges);
  for (std::size_t i = 0; i < profile.ranges.size(); ++i) {
    step.ranges.push_back(traced(profile.ranges[i], paths[i], per_step));
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
