#include "profile/phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <tuple>

#include "profile/device_time.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench::profile {
namespace {

constexpr std::size_t kMaxOutermostPhases = 8;

std::string lower(std::string_view text) {
  std::string lowered{text};
  for (char& c : lowered) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lowered;
}

}  // namespace

Phases::Phases(const Trace& trace, const RangeTree& tree, const ProfileOptions& options) : trace_{trace}, tree_{tree} {
  find_names(options);
  phase_of_range_.resize(trace.ranges.size(), kNone);
  std::vector<Index> order;
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    if (is_phase_name_[trace.ranges[i].name] || uses_outermost_) order.push_back(static_cast<Index>(i));
  }
  std::ranges::stable_sort(order, {}, [&](Index range) { return trace.ranges[range].start_ns; });
  for (const Index range : order) {
    const bool is_phase = uses_outermost_ ? tree.parent_of_range[range] == kNone : true;
    if (is_phase) phase_of_range_[range] = phase_named(range_label(trace.names[trace.ranges[range].name]));
  }
}

Index Phases::range_around(Index range) const {
  while (range != kNone && phase_of_range_[range] == kNone) range = tree_.parent_of_range[range];
  return range;
}

std::size_t Phases::phase_of(Index range) const {
  const Index around = range_around(range);
  return around == kNone ? names_.size() : phase_of_range_[around];
}

void Phases::find_names(const ProfileOptions& options) {
  const std::set<std::string> usual{"forward", "backward", "optimizer"};
  const std::set<std::string> wanted{options.phases.begin(), options.phases.end()};
  std::vector<bool> is_used(trace_.names.size());
  for (const Range& range : trace_.ranges) is_used[range.name] = true;
  is_phase_name_.resize(trace_.names.size());
  std::set<std::string> found;
  for (std::size_t i = 0; i < trace_.names.size(); ++i) {
    const std::string& name = trace_.names[i];
    is_phase_name_[i] = is_used[i] && (wanted.empty() ? usual.contains(lower(name)) : wanted.contains(name));
    if (is_phase_name_[i]) found.insert(name);
  }
  for (const std::string& phase : options.phases) {
    if (!found.contains(phase)) throw UsageError{no_such_phase(phase)};
  }
  uses_outermost_ = wanted.empty() && found.empty() && outermost_labels().size() <= kMaxOutermostPhases;
}

std::set<std::string> Phases::outermost_labels() const {
  std::set<Index> names;
  for (std::size_t i = 0; i < trace_.ranges.size(); ++i) {
    if (tree_.parent_of_range[i] == kNone) names.insert(trace_.ranges[i].name);
  }
  std::set<std::string> labels;
  for (const Index name : names) labels.insert(range_label(trace_.names[name]));
  return labels;
}

std::string Phases::no_such_phase(const std::string& phase) const {
  std::set<std::string> known;
  for (const Range& range : trace_.ranges) known.insert(trace_.names[range.name]);
  const std::vector<std::string> names{known.begin(), known.end()};
  constexpr std::size_t kMaxListed = 12;
  const auto listed = std::span{names}.first(std::min(names.size(), kMaxListed));
  return fmt::format("no range is named '{}'{}; ranges: {}{}", phase, did_you_mean(phase, names),
                     names.empty() ? "none" : join(listed, ", "), names.size() > kMaxListed ? ", ..." : "");
}

Index Phases::phase_named(const std::string& label) {
  const auto found = std::ranges::find(names_, label);
  if (found != names_.end()) return static_cast<Index>(found - names_.begin());
  names_.push_back(label);
  return static_cast<Index>(names_.size() - 1);
}

void add_phase_spans(const Trace& trace, const RangeTree& tree, const Phases& phases,
                     std::span<const Index> launched_by, std::vector<PhaseTime>& times) {
  std::map<std::tuple<Index, std::uint16_t, std::uint16_t>, Window> windows;  // by range, process and device
  for (std::size_t i = 0; i < trace.operations.size(); ++i) {
    if (launched_by[i] == kNone) continue;
    const Index range = phases.range_around(tree.range_of_call[launched_by[i]]);
    if (range == kNone) continue;
    const Operation& operation = trace.operations[i];
    const auto [found, is_new] =
        windows.try_emplace({range, operation.process, operation.device}, Window{operation.start_ns, operation.end_ns});
    if (!is_new) found->second.end_ns = std::max(found->second.end_ns, operation.end_ns);
  }
  for (const auto& [key, window] : windows) {
    const auto& [range, process, device] = key;
    const DeviceTime time = device_time(trace, launched_by, process, device, window);
    PhaseTime& phase = times[phases.phase_of(range)];
    phase.span_ns += time.span_ns;
    phase.busy_ns += time.busy_ns;
    phase.gaps.add(time.gaps);
  }
}

}  // namespace tbench::profile
