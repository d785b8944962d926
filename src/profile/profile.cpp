#include "tbench/profile/profile.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "profile/device_time.hpp"
#include "profile/ranges.hpp"

namespace tbench::profile {
namespace {

bool is_copy(const Operation& operation) {
  return operation.kind == OperationKind::kMemcpy || operation.kind == OperationKind::kMemset;
}

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
    profile_.phases.push_back({.name = phases.names().empty() ? "all" : std::string{kNoPhase}});
    is_counted_.resize(trace.calls.size());
  }

  /// @param launch  kNone: no call launched it
  /// @param row     index of Profile::ranges of the innermost range that holds the call, or kNone
  /// @param phase   index of Profile::phases
  void add(const Operation& operation, Index launch, Index row, std::size_t phase) {
    const std::int64_t duration_ns = operation.end_ns - operation.start_ns;
    ++profile_.operations;
    profile_.operations_ns += duration_ns;
    profile_.graph_replays += operation.kind == OperationKind::kGraph ? 1 : 0;
    profile_.operations_without_launch += launch == kNone ? 1 : 0;
    if (row == kNone) {
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
    RangeKernelTime& in_range = by_range_[{row, phase, operation.name, operation.kind}];
    in_range.kernel_class = kernel_class;
    ++in_range.operations;
    in_range.total_ns += duration_ns;
    if (is_copy(operation)) return add_copy(operation, phase, duration_ns);
    ++sums.kernels;
    if (launch != kNone && !is_counted_[launch]) {
      is_counted_[launch] = true;
      ++sums.launches;
    }
    KernelTime& kernel = by_name_[{phase, operation.name}];
    kernel.kernel_class = kernel_class;
    kernel.durations.add(duration_ns);
  }

  /// Counts an operation that was added and whose range belongs to another thread.
  void add_by_time(const Operation& operation, std::size_t phase) {
    ++profile_.operations_by_time;
    profile_.operations_by_time_ns += operation.end_ns - operation.start_ns;
    ++profile_.phases[phase].operations_by_time;
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
    for (auto& [key, time] : by_range_) {
      const auto& [row, phase, name, kind] = key;
      if (row != kNone) time.range = row;
      time.phase = phase;
      time.name = trace_.names[name];
      time.kind = kind;
      profile_.range_kernels.push_back(std::move(time));
    }
    take_copies();
    std::ranges::stable_sort(profile_.kernels, [](const KernelTime& a, const KernelTime& b) {
      return std::pair{a.phase, -a.durations.total_ns()} < std::pair{b.phase, -b.durations.total_ns()};
    });
    std::ranges::stable_sort(profile_.classes, [](const ClassTime& a, const ClassTime& b) {
      return std::pair{a.phase, -a.total_ns} < std::pair{b.phase, -b.total_ns};
    });
    std::ranges::stable_sort(profile_.range_kernels, [](const RangeKernelTime& a, const RangeKernelTime& b) {
      return std::pair{a.range.value_or(kNone), -a.total_ns} < std::pair{b.range.value_or(kNone), -b.total_ns};
    });
    if (profile_.phases.size() > 1 && profile_.phases.back().operations == 0) profile_.phases.pop_back();
    return std::move(profile_);
  }

 private:
  void add_copy(const Operation& operation, std::size_t phase, std::int64_t duration_ns) {
    CopyTime& copy = copies_[{operation.name, phase}];
    ++copy.count;
    copy.bytes += operation.bytes;
    copy.total_ns += duration_ns;
  }

  /// Takes the copies by name and, for each name, by phase.
  void take_copies() {
    const Index* last_name = nullptr;
    for (auto& [key, time] : copies_) {
      time.name = trace_.names[key.first];
      if (last_name == nullptr || *last_name != key.first) profile_.copies.push_back({.name = time.name});
      last_name = &key.first;
      CopyTime& sum = profile_.copies.back();
      sum.count += time.count;
      sum.bytes += time.bytes;
      sum.total_ns += time.total_ns;
      profile_.phases[key.second].copies.push_back(std::move(time));
    }
    std::ranges::stable_sort(profile_.copies, std::ranges::greater{}, &CopyTime::total_ns);
    for (PhaseTime& phase : profile_.phases) {
      std::ranges::stable_sort(phase.copies, std::ranges::greater{}, &CopyTime::total_ns);
    }
  }

  const Trace& trace_;
  Classes classes_;
  Profile profile_;
  std::map<std::pair<std::size_t, Index>, KernelTime> by_name_;
  std::map<std::pair<std::size_t, KernelClass>, ClassTime> by_class_;
  std::map<std::pair<Index, std::size_t>, CopyTime> copies_;  // by name and phase
  std::map<std::tuple<Index, std::size_t, Index, OperationKind>, RangeKernelTime> by_range_;
  std::vector<bool> is_counted_;
};

std::vector<ApiTime> longest_first(const Trace& trace, const std::map<Index, Durations>& by_name) {
  std::vector<ApiTime> times;
  for (const auto& [name, durations] : by_name) times.push_back({trace.names[name], durations});
  std::ranges::stable_sort(times, std::ranges::greater{},
                           [](const ApiTime& time) { return time.durations.total_ns(); });
  return times;
}

/// Adds to every phase the number of its calls outside other calls, and their time.
void add_time_in_calls(const Trace& trace, const RangeTree& tree, const Phases& phases, Profile& profile) {
  std::vector<std::size_t> order(trace.calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t call) { return trace.calls[call].start_ns; });
  std::vector<std::int64_t> covered_until_ns(trace.threads.size(), INT64_MIN);
  for (const std::size_t i : order) {
    const ApiCall& call = trace.calls[i];
    const std::size_t phase = phases.phase_of(tree.range_of_call[i]);
    if (call.start_ns < covered_until_ns[call.thread] || phase >= profile.phases.size()) continue;
    covered_until_ns[call.thread] = call.end_ns;
    ++profile.phases[phase].outer_calls;
    profile.phases[phase].calls_ns += call.end_ns - call.start_ns;
  }
}

/// Adds the calls of the whole trace and of every phase.
void add_calls(const Trace& trace, const RangeTree& tree, const Phases& phases, Profile& profile) {
  std::map<Index, Durations> all;
  std::vector<std::map<Index, Durations>> of_phase(phases.names().size() + 1);
  for (std::size_t i = 0; i < trace.calls.size(); ++i) {
    const ApiCall& call = trace.calls[i];
    all[call.name].add(call.end_ns - call.start_ns);
    of_phase[phases.phase_of(tree.range_of_call[i])][call.name].add(call.end_ns - call.start_ns);
  }
  profile.calls = longest_first(trace, all);
  for (std::size_t i = 0; i < profile.phases.size(); ++i) profile.phases[i].calls = longest_first(trace, of_phase[i]);
  add_time_in_calls(trace, tree, phases, profile);
}

/// Fills the only phase of a trace without phases with the time of all devices.
void add_whole_span(Profile& profile) {
  PhaseTime& all = profile.phases.front();
  for (const DeviceTime& device : profile.devices) {
    all.span_ns += device.span_ns;
    all.busy_ns += device.busy_ns;
    all.gaps.add(device.gaps);
  }
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
  RangeTree tree = range_tree(trace);
  place_by_time(trace, launched_by, tree);
  const Phases phases{trace, tree, options};
  RangeRows rows = range_rows(trace, tree, launched_by);
  Sums sums{trace, rules, phases};
  for (std::size_t i = 0; i < trace.operations.size(); ++i) {
    const Index launch = launched_by[i];
    const Index range = launch == kNone ? kNone : tree.range_of_call[launch];
    const std::size_t phase = phases.phase_of(range);
    sums.add(trace.operations[i], launch, range == kNone ? kNone : rows.row_of_range[range], phase);
    if (launch != kNone && tree.is_by_time[launch]) sums.add_by_time(trace.operations[i], phase);
  }
  Profile profile = std::move(sums).take();
  profile.devices = device_times(trace, launched_by);
  profile.ranges = std::move(rows.rows);
  profile.derived_ranges = derived_ranges(profile.ranges);
  profile.attention = attention_times(profile);
  add_calls(trace, tree, phases, profile);
  if (phases.names().empty()) {
    add_whole_span(profile);
  } else {
    add_phase_spans(trace, tree, phases, launched_by, profile.phases);
  }
  return profile;
}

}  // namespace tbench::profile
