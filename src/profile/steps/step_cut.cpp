#include "tbench/profile/step_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "profile/device_time.hpp"
#include "profile/ranges.hpp"
#include "tbench/profile/range_names.hpp"

namespace tbench::profile {
namespace {

std::string capitals(std::string_view text) {
  std::string upper{text};
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

/// Builds a trace, with only the names and threads that its events use.
class TraceCut {
 public:
  explicit TraceCut(const Trace& from) : from_{from} {}

  void add(Operation operation) {
    operation.name = name(from_.names[operation.name]);
    cut_.operations.push_back(operation);
  }
  void add(ApiCall call) {
    call.name = name(from_.names[call.name]);
    call.thread = thread(call.thread);
    cut_.calls.push_back(call);
  }
  void add(Range range, const std::string& label) {
    range.name = name(label);
    range.thread = thread(range.thread);
    cut_.ranges.push_back(range);
  }
  [[nodiscard]] Trace take() && { return std::move(cut_); }

 private:
  Index name(const std::string& text) {
    const auto [found, is_new] = names_.try_emplace(text, static_cast<Index>(cut_.names.size()));
    if (is_new) cut_.names.push_back(text);
    return found->second;
  }
  Index thread(Index old) {
    const auto [found, is_new] = threads_.try_emplace(old, static_cast<Index>(cut_.threads.size()));
    if (is_new) cut_.threads.push_back(from_.threads[old]);
    return found->second;
  }

  const Trace& from_;
  Trace cut_;
  std::unordered_map<std::string, Index> names_;
  std::map<Index, Index> threads_;
};

/// A phase of a step on one thread.
using PhaseOnThread = std::tuple<std::size_t, std::size_t, Index>;  // step, phase, thread

/// Cuts the steps other than the first one, with their operations, calls and ranges, out of a trace.
class StepCut {
 public:
  StepCut(const Trace& trace, std::span<const EnqueuedStep> steps, std::span<const std::string_view> phases)
      : trace_{trace}, steps_{steps}, phases_{phases}, cut_{trace} {}

  Trace run() && {
    add_operations(launching_calls(trace_));
    for (const ApiCall& call : trace_.calls) {
      if (place(call.start_ns)) cut_.add(call);
    }
    add_ranges();
    add_phases();
    return std::move(cut_).take();
  }

 private:
  [[nodiscard]] std::optional<StepPlace> place(std::int64_t moment_ns) const {
    const std::optional<StepPlace> found = place_of(moment_ns, steps_);
    return found && found->step > 0 ? found : std::nullopt;
  }

  void add_operations(const std::vector<Index>& launched_by) {
    for (std::size_t i = 0; i < trace_.operations.size(); ++i) {
      if (launched_by[i] == kNone) continue;
      const ApiCall& call = trace_.calls[launched_by[i]];
      const std::optional<StepPlace> found = place(call.start_ns);
      if (!found) continue;
      cut_.add(trace_.operations[i]);
      launched_.emplace(found->step, found->phase, call.thread);
    }
  }

  void add_ranges() {
    for (const Range& range : trace_.ranges) {
      const std::optional<StepPlace> found = place(range.start_ns);
      if (!found) continue;
      const std::string& label = trace_.names[range.name];
      cut_.add(range, label);
      if (is_label(label, phases_[found->phase])) {
        has_range_.emplace(found->step, found->phase, range.thread);
      }
    }
  }

  void add_phases() {
    for (const PhaseOnThread& one : launched_) {
      if (has_range_.contains(one)) continue;
      const auto& [step, phase, thread] = one;
      const std::vector<std::int64_t>& ends = steps_[step].phase_ends_ns;
      const std::int64_t start = phase == 0 ? steps_[step].start_ns : ends[phase - 1];
      cut_.add({.start_ns = start, .end_ns = ends[phase], .name = kNone, .thread = thread}, capitals(phases_[phase]));
    }
  }

  const Trace& trace_;
  std::span<const EnqueuedStep> steps_;
  std::span<const std::string_view> phases_;
  TraceCut cut_;
  std::set<PhaseOnThread> launched_;   // launched an operation
  std::set<PhaseOnThread> has_range_;  // has a range with the phase's name
};

}  // namespace

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

Trace cut_steps(const Trace& trace, std::span<const EnqueuedStep> steps, std::span<const std::string_view> phases) {
  check_steps(steps, phases.size());
  return StepCut{trace, steps, phases}.run();
}

}  // namespace tbench::profile
