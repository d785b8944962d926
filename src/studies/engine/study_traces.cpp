#include "studies/engine/study_traces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tbench/profile/kernel_name.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::studies {
namespace {

constexpr double kMaxOtherShare = 0.02;  // share of the time; a larger one makes the shares of all classes doubtful

/// The values of one kernel in one phase, over the records.
struct KernelValues {
  TracedKernel kernel;  // the values of the first record
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

void sort_by_time(TracedPhase& phase) {
  std::ranges::stable_sort(phase.operations, std::ranges::greater{},
                           [](const TracedKernel& kernel) { return kernel.total.value; });
}

TracedPhase& phase_of(std::vector<TracedPhase>& phases, const std::string& name) {
  const auto found = std::ranges::find(phases, name, &TracedPhase::name);
  return found != phases.end() ? *found : phases.emplace_back(TracedPhase{.name = name, .operations = {}, .total = {}});
}

/// Returns one row for each name, with the sums of the values.
std::vector<TracedRow> summed(std::vector<TracedRow> rows) {
  std::map<std::vector<std::string>, std::size_t> places;
  std::vector<TracedRow> sums;
  for (TracedRow& row : rows) {
    const auto [place, is_new] = places.try_emplace(row.names, sums.size());
    if (is_new) {
      sums.push_back(std::move(row));
      continue;
    }
    std::vector<double>& values = sums[place->second].values;
    std::ranges::transform(values, row.values, values.begin(), std::plus{});
  }
  return sums;
}

}  // namespace

std::vector<TracedPhase> traced_phases(std::span<const Record* const> records) {
  const std::vector<const StepTrace*> traces = traces_of(records);
  std::map<std::tuple<std::string, std::string, std::string>, KernelValues> kernels;
  std::vector<TracedPhase> phases;
  for (const StepTrace* trace : traces) {
    for (TracedKernel kernel : trace->kernels) {
      kernel.name = profile::current_kernel_name(kernel.name);
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
  for (TracedPhase& phase : phases) sort_by_time(phase);
  return phases;
}

TracedPhase joined_phase(std::string name, std::span<const TracedPhase> phases) {
  TracedPhase joined{.name = std::move(name), .operations = {}, .total = {}};
  for (const TracedPhase& phase : phases) {
    joined.total = joined.total + phase.total;
    for (const TracedKernel& operation : phase.operations) {
      const auto same = std::ranges::find(joined.operations, operation.name, &TracedKernel::name);
      if (same == joined.operations.end()) {
        joined.operations.push_back(operation);
        continue;
      }
      same->calls += operation.calls;
      same->total = same->total + operation.total;
      same->min = std::min(same->min, operation.min);
      same->max = std::max(same->max, operation.max);
      same->standard_deviation.reset();
    }
  }
  sort_by_time(joined);
  return joined;
}

std::optional<TracedPhase> forward_and_backward(std::span<const TracedPhase> phases) {
  const auto forward = std::ranges::find(phases, "forward", &TracedPhase::name);
  const auto backward = std::ranges::find(phases, "backward", &TracedPhase::name);
  if (forward == phases.end() || backward == phases.end()) return std::nullopt;
  return joined_phase("forward and backward", std::array{*forward, *backward});
}

namespace {

/// Computes medians of several readings of the same object, field by field.
template <class Reading>
class Readings {
 public:
  explicit Readings(std::vector<const Reading*> readings) : readings_{std::move(readings)} {}

  template <class Field>
  void median(Reading& of, Field Reading::*field) const {
    std::vector<double> values;
    for (const Reading* reading : readings_) add(values, reading->*field);
    if (!values.empty()) of.*field = Field{value_type_of<Field>(stats::median(values))};
  }
  template <class Field>
  void extreme(Reading& of, Field Reading::*field, bool largest) const {
    std::vector<double> values;
    for (const Reading* reading : readings_) add(values, reading->*field);
    if (values.empty()) return;
    const double value = largest ? std::ranges::max(values) : std::ranges::min(values);
    of.*field = Field{value_type_of<Field>(value)};
  }

 private:
  template <class Field>
  static auto value_type_of(double value) {
    if constexpr (std::is_same_v<Field, double>) {
      return value;
    } else {
      return Seconds{value};
    }
  }
  static void add(std::vector<double>& values, double value) { values.push_back(value); }
  static void add(std::vector<double>& values, Seconds value) { values.push_back(value.value); }
  static void add(std::vector<double>& values, std::optional<Seconds> value) {
    if (value) values.push_back(value->value);
  }

  std::vector<const Reading*> readings_;
};

/// Merges a list over the traces. Readings with the same key become one reading if most traces have the key. The keys
/// are in the order in which they first occur.
/// @param merge  replaces the fields of a reading with the merged values of several
template <class Reading, class Key, class Merge>
std::vector<Reading> merged(const std::vector<const StepTrace*>& traces, std::vector<Reading> StepTrace::*list,
                            const Key& key, const Merge& merge) {
  std::vector<decltype(key(std::declval<Reading>()))> order;
  std::map<decltype(key(std::declval<Reading>())), std::vector<const Reading*>> readings;
  for (const StepTrace* trace : traces) {
    for (const Reading& reading : trace->*list) {
      std::vector<const Reading*>& known = readings[key(reading)];
      if (known.empty()) order.push_back(key(reading));
      known.push_back(&reading);
    }
  }
  std::vector<Reading> all;
  for (const auto& one : order) {
    if (2 * readings[one].size() <= traces.size()) continue;
    Reading reading = *readings[one].front();
    merge(reading, Readings<Reading>{readings[one]});
    all.push_back(std::move(reading));
  }
  return all;
}

void merge_range(TracedRange& range, const Readings<TracedRange>& readings) {
  for (double TracedRange::*count : {&TracedRange::calls, &TracedRange::operations, &TracedRange::launches}) {
    readings.median(range, count);
  }
  for (Seconds TracedRange::*time : {&TracedRange::host, &TracedRange::host_exclusive, &TracedRange::gpu_span,
                                     &TracedRange::gpu_sum, &TracedRange::gpu_busy, &TracedRange::gpu_exclusive}) {
    readings.median(range, time);
  }
  readings.median(range, &TracedRange::host_deviation);
  readings.median(range, &TracedRange::gpu_deviation);
  readings.extreme(range, &TracedRange::host_min, false);
  readings.extreme(range, &TracedRange::host_max, true);
  readings.extreme(range, &TracedRange::gpu_min, false);
  readings.extreme(range, &TracedRange::gpu_max, true);
}

void merge_part(TracedPart& part, const Readings<TracedPart>& readings) {
  readings.median(part, &TracedPart::host);
  readings.median(part, &TracedPart::gpu_sum);
  readings.median(part, &TracedPart::operations);
  readings.median(part, &TracedPart::launches);
}

void merge_attention(TracedAttention& time, const Readings<TracedAttention>& readings) {
  for (Seconds TracedAttention::*part :
       {&TracedAttention::softmax, &TracedAttention::scores, &TracedAttention::context, &TracedAttention::other}) {
    readings.median(time, part);
  }
}

}  // namespace

TracedRanges traced_ranges(std::span<const Record* const> records) {
  const std::vector<const StepTrace*> traces = traces_of(records);
  TracedRanges step;
  step.ranges = merged(
      traces, &StepTrace::ranges, [](const TracedRange& range) { return range.path; }, merge_range);
  step.parts = merged(
      traces, &StepTrace::parts,
      [](const TracedPart& part) {
        return std::pair{part.of, part.name};
      },
      merge_part);
  step.attention = merged(
      traces, &StepTrace::attention, [](const TracedAttention& time) { return time.phase; }, merge_attention);
  for (const TracedPhase& phase : traced_phases(records)) step.gpu_sum = step.gpu_sum + phase.total;
  return step;
}

std::optional<TracedAttention> forward_attention(std::span<const Record* const> records) {
  const std::vector<TracedAttention> times = traced_ranges(records).attention;
  const auto found = std::ranges::find(times, "forward", &TracedAttention::phase);
  return found == times.end() ? std::nullopt : std::optional{*found};
}

std::vector<TracedRow> traced_rows(std::span<const Record* const> records,
                                   const std::function<std::vector<TracedRow>(const StepTrace&)>& rows_of) {
  const std::vector<const StepTrace*> traces = traces_of(records);
  std::vector<std::vector<std::string>> order;
  std::map<std::vector<std::string>, std::vector<std::vector<double>>> readings;
  for (const StepTrace* trace : traces) {
    for (TracedRow& row : summed(rows_of(*trace))) {
      std::vector<std::vector<double>>& known = readings[row.names];
      if (known.empty()) order.push_back(row.names);
      known.push_back(std::move(row.values));
    }
  }
  std::vector<TracedRow> rows;
  for (const std::vector<std::string>& names : order) {
    const std::vector<std::vector<double>>& known = readings[names];
    if (2 * known.size() <= traces.size()) continue;
    TracedRow& row = rows.emplace_back(TracedRow{.names = names, .values = {}});
    for (std::size_t i = 0; i < known.front().size(); ++i) {
      std::vector<double> values;
      for (const std::vector<double>& reading : known) values.push_back(reading.at(i));
      row.values.push_back(stats::median(values));
    }
  }
  return rows;
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
  for (const CaseId& id : cells.cases) {
    for (const StepTrace* trace : traces_of(cells.measured.at(id.name()))) {
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
