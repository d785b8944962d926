#include "profile/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/range_names.hpp"

namespace tbench::profile {
namespace {

constexpr std::size_t kMaxOutermostPhases = 8;

std::string lower(std::string_view text) {
  std::string lowered{text};
  for (char& c : lowered) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lowered;
}

constexpr std::array<std::string_view, 2> kProjections{"attention.qkv", "attention.out_proj"};
constexpr std::array<std::string_view, 1> kLayers{"layer.*"};
constexpr std::array<std::string_view, 1> kAttention{"attention"};

bool is_pass(const RangeTime& range) { return is_label(range.label, "FORWARD") || is_label(range.label, "BACKWARD"); }

/// Returns the index after the last row inside row `outer`. Relies on the tree order of the rows.
std::size_t end_of(const std::vector<RangeTime>& ranges, std::size_t outer) {
  std::size_t end = outer + 1;
  while (end < ranges.size() && ranges[end].depth > ranges[outer].depth) ++end;
  return end;
}

/// Returns the rows with one of the labels inside row `outer`. Rows inside another row with such a label are left out.
std::vector<std::size_t> labelled_inside(const std::vector<RangeTime>& ranges, std::size_t outer,
                                         std::span<const std::string_view> labels) {
  std::vector<std::size_t> found;
  const std::size_t end = end_of(ranges, outer);
  for (std::size_t i = outer + 1; i < end;) {
    const bool is_labelled = std::ranges::find(labels, ranges[i].label) != labels.end();
    if (is_labelled) found.push_back(i);
    i = is_labelled ? end_of(ranges, i) : i + 1;
  }
  return found;
}

/// Adds `sign` times the inclusive figures of `range`.
void add(DerivedRange& sum, const RangeTime& range, int sign) {
  sum.host_ns += sign * range.host.total_ns();
  sum.gpu_sum_ns += sign * range.gpu_sum_ns;
  sum.operations += sign * range.operations;
  sum.launches += sign * range.launches;
}

/// Adds the figures of a row minus the figures of its direct inner rows.
void add_alone(DerivedRange& sum, const std::vector<RangeTime>& ranges, std::size_t outer) {
  add(sum, ranges[outer], 1);
  const std::size_t end = end_of(ranges, outer);
  for (std::size_t i = outer + 1; i < end; ++i) {
    if (ranges[i].parent == outer) add(sum, ranges[i], -1);
  }
}

std::vector<std::size_t> with_parts(const std::vector<RangeTime>& ranges, std::vector<std::size_t> rows) {
  std::erase_if(rows, [&](std::size_t row) { return end_of(ranges, row) == row + 1; });
  return rows;
}

/// Returns the label of the innermost attention range around the row, including the row itself, or an empty text.
std::string_view part_of_attention(const std::vector<RangeTime>& ranges, std::size_t row) {
  while (true) {
    const RangeTime& range = ranges[row];
    if (range.label == "attention.scores" || range.label == "attention.softmax" || range.label == "attention.context") {
      return range.label;
    }
    if (range.depth == 0) return {};
    row = range.parent;
  }
}

std::int64_t AttentionTime::*time_of(std::string_view part, KernelClass kernel_class) {
  const bool is_softmax = kernel_class == KernelClass::kSoftmaxForward || kernel_class == KernelClass::kSoftmaxBackward;
  if (part == "attention.softmax" || is_softmax) return &AttentionTime::softmax_ns;
  if (kernel_class != KernelClass::kGemm) return &AttentionTime::other_ns;
  return part == "attention.scores" ? &AttentionTime::scores_ns : &AttentionTime::context_ns;
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

Index Phases::outermost_around(Index range) const {
  Index outermost = range_around(range);
  for (Index next = outermost; next != kNone; next = range_around(tree_.parent_of_range[next])) {
    if (phase_of_range_[next] != phase_of_range_[outermost]) break;
    outermost = next;
  }
  return outermost;
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
    if (!found.contains(phase)) throw UsageError{no_such_range(trace_, phase)};
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

std::string no_such_range(const Trace& trace, const std::string& name) {
  constexpr std::size_t kMaxCompared = 1000;
  constexpr std::size_t kMaxLength = 80;
  std::set<std::string> known;
  for (const Range& range : trace.ranges) {
    if (known.size() < kMaxCompared) known.insert(trace.names[range.name].substr(0, kMaxLength));
  }
  const std::vector<std::string> names{known.begin(), known.end()};
  const std::string message = fmt::format("no range is named '{}'", name);
  return names.empty() ? message + "; the trace has no ranges" : with_suggestion(message, name, names, "ranges");
}

Index Phases::phase_named(const std::string& label) {
  const auto found = std::ranges::find(names_, label);
  if (found != names_.end()) return static_cast<Index>(found - names_.begin());
  names_.push_back(label);
  return static_cast<Index>(names_.size() - 1);
}

std::vector<DerivedRange> derived_ranges(const std::vector<RangeTime>& ranges) {
  const bool has_passes = std::ranges::any_of(ranges, is_pass);
  std::vector<DerivedRange> derived;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (has_passes ? !is_pass(ranges[i]) : ranges[i].depth > 0) continue;
    const auto add_if_any = [&](std::string name, const std::vector<std::size_t>& parts, const auto& add_part) {
      if (parts.empty()) return;
      DerivedRange& sum = derived.emplace_back(DerivedRange{.of = i, .name = std::move(name)});
      for (const std::size_t part : parts) add_part(sum, part);
    };
    add_if_any("projections", labelled_inside(ranges, i, kProjections),
               [&](DerivedRange& sum, std::size_t part) { add(sum, ranges[part], 1); });
    add_if_any("residual", with_parts(ranges, labelled_inside(ranges, i, kLayers)),
               [&](DerivedRange& sum, std::size_t layer) { add_alone(sum, ranges, layer); });
    const std::vector<std::size_t> attention = labelled_inside(ranges, i, kAttention);
    add_if_any("not attention", attention, [&](DerivedRange& sum, std::size_t part) { add(sum, ranges[part], -1); });
    if (!attention.empty()) add(derived.back(), ranges[i], 1);
  }
  return derived;
}

std::vector<AttentionTime> attention_times(const Profile& profile) {
  std::vector<std::optional<AttentionTime>> by_phase(profile.phases.size());
  for (const RangeKernelTime& kernel : profile.range_kernels) {
    if (!kernel.range) continue;
    const std::string_view part = part_of_attention(profile.ranges, *kernel.range);
    if (part.empty()) continue;
    std::optional<AttentionTime>& time = by_phase[kernel.phase];
    if (!time) time = AttentionTime{.phase = kernel.phase};
    (*time).*time_of(part, kernel.kernel_class) += kernel.total_ns;
  }
  std::vector<AttentionTime> times;
  for (const auto& time : by_phase) {
    if (time) times.push_back(*time);
  }
  return times;
}

}  // namespace tbench::profile
