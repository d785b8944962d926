#include "tbench/profile/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "profile/device_time.hpp"
#include "profile/ranges.hpp"
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

bool is_copy(const Operation& operation) {
  return operation.kind == OperationKind::kMemcpy || operation.kind == OperationKind::kMemset;
}

/// The phase of each range: that of the innermost range around it that is one, itself included.
class Phases {
 public:
  Phases(const Trace& trace, const RangeTree& tree, const ProfileOptions& options) : trace_{trace}, tree_{tree} {
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

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  /// kNone outside of any.
  [[nodiscard]] Index phase_of(Index range) const {
    while (range != kNone && phase_of_range_[range] == kNone) range = tree_.parent_of_range[range];
    return range == kNone ? kNone : phase_of_range_[range];
  }

 private:
  void find_names(const ProfileOptions& options) {
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

  [[nodiscard]] std::set<std::string> outermost_labels() const {
    std::set<Index> names;
    for (std::size_t i = 0; i < trace_.ranges.size(); ++i) {
      if (tree_.parent_of_range[i] == kNone) names.insert(trace_.ranges[i].name);
    }
    std::set<std::string> labels;
    for (const Index name : names) labels.insert(range_label(trace_.names[name]));
    return labels;
  }

  [[nodiscard]] std::string no_such_phase(const std::string& phase) const {
    std::set<std::string> known;
    for (const Range& range : trace_.ranges) known.insert(trace_.names[range.name]);
    const std::vector<std::string> names{known.begin(), known.end()};
    constexpr std::size_t kMaxListed = 12;
    const auto listed = std::span{names}.first(std::min(names.size(), kMaxListed));
    return fmt::format("no range is named '{}'{}; ranges: {}{}", phase, did_you_mean(phase, names),
                       names.empty() ? "none" : join(listed, ", "), names.size() > kMaxListed ? ", ..." : "");
  }

  Index phase_named(const std::string& label) {
    const auto found = std::ranges::find(names_, label);
    if (found != names_.end()) return static_cast<Index>(found - names_.begin());
    names_.push_back(label);
    return static_cast<Index>(names_.size() - 1);
  }

  const Trace& trace_;
  const RangeTree& tree_;
  std::vector<bool> is_phase_name_;
  bool uses_outermost_{};
  std::vector<Index> phase_of_range_;
  std::vector<std::string> names_;
};

/// The class of each name that an operation has.
class Classes {
 public:
  Classes(const Trace& trace, const KernelRules& rules) : trace_{trace}, rules_{rules} {
    classes_.resize(trace.names.size());
  }

  KernelClass of(const Operation& operation) {
    if (operation.kind == OperationKind::kMemcpy) return KernelClass::kMemcpy;
    if (operation.kind == OperationKind::kMemset) return KernelClass::kMemset;
    if (operation.kind == OperationKind::kGraph) return KernelClass::kOther;
    std::optional<KernelClass>& known = classes_[operation.name];
    if (!known) known = rules_.classify(trace_.names[operation.name]);
    return *known;
  }

 private:
  const Trace& trace_;
  const KernelRules& rules_;
  std::vector<std::optional<KernelClass>> classes_;
};

/// Adds up the operations.
class Sums {
 public:
  Sums(const Trace& trace, const KernelRules& rules, const Phases& phases) : trace_{trace}, classes_{trace, rules} {
    for (const std::string& name : phases.names()) profile_.phases.push_back({.name = name});
    profile_.phases.push_back({.name = phases.names().empty() ? "all" : "(no phase)"});
    is_counted_.resize(trace.calls.size());
  }

  /// @param launch  kNone: no call launched it
  /// @param range   the innermost one that holds the call, or kNone
  /// @param phase   index of Profile::phases
  void add(const Operation& operation, Index launch, Index range, std::size_t phase) {
    const std::int64_t duration_ns = operation.end_ns - operation.start_ns;
    ++profile_.operations;
    profile_.operations_ns += duration_ns;
    profile_.graph_replays += operation.kind == OperationKind::kGraph ? 1 : 0;
    profile_.operations_without_launch += launch == kNone ? 1 : 0;
    if (range == kNone) {
      ++profile_.operations_without_range;
      profile_.operations_without_range_ns += duration_ns;
    }
    PhaseTime& sums = profile_.phases[phase];
    ++sums.operations;
    (is_copy(operation) ? sums.copy_ns : sums.kernel_ns) += duration_ns;
    const KernelClass kernel_class = classes_.of(operation);
    ClassTime& of_class = by_class_[{phase, kernel_class}];
    ++of_class.operations;
    of_class.total_ns += duration_ns;
    if (is_copy(operation)) return add_copy(operation, duration_ns);
    ++sums.kernels;
    if (launch != kNone && !is_counted_[launch]) {
      is_counted_[launch] = true;
      ++sums.launches;
    }
    KernelTime& kernel = by_name_[{phase, operation.name}];
    kernel.kernel_class = kernel_class;
    kernel.durations.add(duration_ns);
  }

  [[nodiscard]] Profile take() && {
    for (auto& [key, time] : by_name_) {
      time.phase = key.first;
      time.name = trace_.names[key.second];
      profile_.kernels.push_back(std::move(time));
    }
    for (auto& [key, time] : by_class_) {
      time.phase = key.first;
      time.kernel_class = key.second;
      profile_.classes.push_back(time);
    }
    for (auto& [name, time] : copies_) {
      time.name = trace_.names[name];
      profile_.copies.push_back(std::move(time));
    }
    std::ranges::stable_sort(profile_.kernels, [](const KernelTime& a, const KernelTime& b) {
      return std::pair{a.phase, -a.durations.total_ns()} < std::pair{b.phase, -b.durations.total_ns()};
    });
    std::ranges::stable_sort(profile_.classes, [](const ClassTime& a, const ClassTime& b) {
      return std::pair{a.phase, -a.total_ns} < std::pair{b.phase, -b.total_ns};
    });
    std::ranges::stable_sort(profile_.copies, std::ranges::greater{}, &CopyTime::total_ns);
    if (profile_.phases.size() > 1 && profile_.phases.back().operations == 0) profile_.phases.pop_back();
    return std::move(profile_);
  }

 private:
  void add_copy(const Operation& operation, std::int64_t duration_ns) {
    CopyTime& copy = copies_[operation.name];
    ++copy.count;
    copy.bytes += operation.bytes;
    copy.total_ns += duration_ns;
  }

  const Trace& trace_;
  Classes classes_;
  Profile profile_;
  std::map<std::pair<std::size_t, Index>, KernelTime> by_name_;
  std::map<std::pair<std::size_t, KernelClass>, ClassTime> by_class_;
  std::map<Index, CopyTime> copies_;
  std::vector<bool> is_counted_;
};

std::vector<ApiTime> api_times(const Trace& trace) {
  std::map<Index, Durations> by_name;
  for (const ApiCall& call : trace.calls) by_name[call.name].add(call.end_ns - call.start_ns);
  std::vector<ApiTime> times;
  for (const auto& [name, durations] : by_name) times.push_back({trace.names[name], durations});
  std::ranges::stable_sort(times, std::ranges::greater{},
                           [](const ApiTime& time) { return time.durations.total_ns(); });
  return times;
}

}  // namespace

void Durations::add(std::int64_t duration_ns) {
  min_ns_ = count_ == 0 ? duration_ns : std::min(min_ns_, duration_ns);
  max_ns_ = count_ == 0 ? duration_ns : std::max(max_ns_, duration_ns);
  ++count_;
  total_ns_ += duration_ns;
  const double distance = static_cast<double>(duration_ns) - running_mean_ns_;
  running_mean_ns_ += distance / static_cast<double>(count_);
  squares_ += distance * (static_cast<double>(duration_ns) - running_mean_ns_);
}

double Durations::mean_ns() const {
  return count_ == 0 ? 0 : static_cast<double>(total_ns_) / static_cast<double>(count_);
}

double Durations::std_ns() const { return count_ < 2 ? 0 : std::sqrt(squares_ / static_cast<double>(count_ - 1)); }

double Profile::share(std::int64_t time_ns) const {
  return operations_ns > 0 ? static_cast<double>(time_ns) / static_cast<double>(operations_ns) : 0;
}

double Profile::other_share() const {
  std::int64_t other_ns = 0;
  for (const ClassTime& time : classes) other_ns += time.kernel_class == KernelClass::kOther ? time.total_ns : 0;
  return share(other_ns);
}

Profile analyse(const Trace& trace, const KernelRules& rules, const ProfileOptions& options) {
  const std::vector<Index> launched_by = launching_calls(trace);
  const RangeTree tree = range_tree(trace);
  const Phases phases{trace, tree, options};
  Sums sums{trace, rules, phases};
  for (std::size_t i = 0; i < trace.operations.size(); ++i) {
    const Index range = launched_by[i] == kNone ? kNone : tree.range_of_call[launched_by[i]];
    const Index phase = phases.phase_of(range);
    sums.add(trace.operations[i], launched_by[i], range, phase == kNone ? phases.names().size() : phase);
  }
  Profile profile = std::move(sums).take();
  profile.devices = device_times(trace, launched_by);
  profile.ranges = range_times(trace, tree, launched_by);
  profile.calls = api_times(trace);
  return profile;
}

}  // namespace tbench::profile
