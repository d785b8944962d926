#include "studies/engine/study_traces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tbench/stats/descriptive.hpp"

namespace tbench::studies {
namespace {

constexpr double kMaxOtherShare = 0.02;  // of the time; more makes every share of a class doubtful

/// One kernel in one phase, over the records.
struct KernelValues {
  TracedKernel kernel;  // as the first record has it
  std::vector<double> calls;
  std::vector<double> totals;
  std::vector<double> deviations;

  void add(const TracedKernel& other) {
    kernel.min = std::min(kernel.min, other.min, [](Seconds a, Seconds b) { return a.value < b.value; });
    kernel.max = std::max(kernel.max, other.max, [](Seconds a, Seconds b) { return a.value < b.value; });
    calls.push_back(other.calls);
    totals.push_back(other.total.value);
    if (other.standard_deviation) deviations.push_back(other.standard_deviation->value);
  }

  [[nodiscard]] TracedKernel median(std::size_t records) && {
    calls.resize(records);
    totals.resize(records);
    kernel.calls = stats::median(calls);
    kernel.total = Seconds{stats::median(totals)};
    kernel.standard_deviation = deviations.empty() ? std::nullopt : std::optional{Seconds{stats::median(deviations)}};
    return std::move(kernel);
  }
};

std::vector<const StepTrace*> traces_of(std::span<const Record* const> records) {
  std::vector<const StepTrace*> traces;
  for (const Record* record : records) {
    if (record->trace) traces.push_back(&*record->trace);
  }
  return traces;
}

TracedPhase& phase_of(std::vector<TracedPhase>& phases, const std::string& name) {
  const auto found = std::ranges::find(phases, name, &TracedPhase::name);
  return found != phases.end() ? *found : phases.emplace_back(TracedPhase{.name = name, .operations = {}, .total = {}});
}

}  // namespace

std::vector<TracedPhase> traced_phases(std::span<const Record* const> records) {
  const std::vector<const StepTrace*> traces = traces_of(records);
  std::map<std::tuple<std::string, std::string, std::string>, KernelValues> kernels;
  std::vector<TracedPhase> phases;
  for (const StepTrace* trace : traces) {
    for (const TracedKernel& kernel : trace->kernels) {
      static_cast<void>(phase_of(phases, kernel.phase));
      kernels
          .try_emplace({kernel.phase, kernel.kernel_class, kernel.name},
                       KernelValues{.kernel = kernel, .calls = {}, .totals = {}, .deviations = {}})
          .first->second.add(kernel);
    }
  }
  for (auto& [key, values] : kernels) {
    TracedKernel kernel = std::move(values).median(traces.size());
    if (kernel.calls == 0) continue;
    TracedPhase& phase = phase_of(phases, kernel.phase);
    phase.total = phase.total + kernel.total;
    phase.operations.push_back(std::move(kernel));
  }
  for (TracedPhase& phase : phases) {
    std::ranges::stable_sort(phase.operations, std::ranges::greater{},
                             [](const TracedKernel& kernel) { return kernel.total.value; });
  }
  return phases;
}

std::vector<std::string> trace_notes(const StudyCells& cells) {
  std::vector<std::string> notes;
  if (cells.untraced > 0) {
    notes.push_back(fmt::format("{} of {} cases have a time and no trace: --tb_trace=on records one.", cells.untraced,
                                cells.cases.size()));
  }
  std::int64_t lacking = 0;
  double total = 0;
  double other = 0;
  for (const auto& [name, records] : cells.measured) {
    for (const StepTrace* trace : traces_of(records)) {
      lacking += trace->without_launch + trace->dropped;
      for (const TracedKernel& kernel : trace->kernels) {
        total += kernel.total.value;
        other += kernel.kernel_class == "other" ? kernel.total.value : 0;
      }
    }
  }
  if (lacking > 0) notes.push_back(fmt::format("The traces lack {} operations, dropped or without a launch.", lacking));
  if (other > kMaxOtherShare * total) {
    notes.push_back(fmt::format("{:.1f} % of the time is of class other: 'tbench classify' names the rules' gaps.",
                                100 * other / total));
  }
  return notes;
}

}  // namespace tbench::studies
