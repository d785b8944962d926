// Compares the same cases in several processes, in PyTorch, and in two sets of results from the same build.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/stats/descriptive.hpp"
#include "tbench/studies/side_by_side.hpp"

namespace tbench::studies {
namespace {

using render::Align;

constexpr std::size_t kMinRuns = 3;

/// Records with a time, by name. If several records have the same name, the last one is kept.
using TimedRecords = std::map<std::string, const Record*>;

TimedRecords timed_records(const results::ResultFile& file) {
  TimedRecords records;
  for (const Record& record : file.records) {
    if (record.timing) records[record.id.name()] = &record;
  }
  return records;
}

/// Returns the timed records of each process of a file, in the order of the processes.
std::map<std::int64_t, TimedRecords> processes_of(const results::ResultFile& file) {
  std::map<std::int64_t, TimedRecords> processes;
  for (const Record& record : file.records) {
    if (record.timing) processes[record.repetition_index][record.id.name()] = &record;
  }
  return processes;
}

double milliseconds(const Record& record) { return to_milliseconds(record.timing->median); }

std::optional<double> clock_mhz(const Record& record) {
  if (!record.device || !record.timing) return std::nullopt;
  const std::optional<Hertz> clock = record.device->mean_sm_clock();
  return clock ? std::optional{clock->value / 1e6} : std::nullopt;
}

/// Joins values with commas: "1.00, 1.01".
template <class Values>
std::string listed(const Values& values, int decimals) {
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(fmt::format("{:.{}f}", value, decimals));
  return join(texts, ", ");
}

std::vector<double> clocks_of(std::span<const Record* const> records) {
  std::vector<double> clocks;
  for (const Record* const record : records) {
    if (const auto clock = clock_mhz(*record)) clocks.push_back(*clock);
  }
  return clocks;
}

/// Returns the range from the lowest to the highest value, in percent of the median.
render::Cell range_percent(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax(values);
  return render::number_cell((high - low) / stats::median(values) * 100, 2);
}

/// Returns the range of the medians in clock cycles, in percent, or an empty cell unless every record has a clock.
render::Cell range_of_cycles(std::span<const Record* const> records) {
  std::vector<double> cycles;
  for (const Record* const record : records) {
    const auto clock = clock_mhz(*record);
    if (!clock) return {};
    cycles.push_back(milliseconds(*record) * *clock);
  }
  return range_percent(cycles);
}

/// The records of one Ceiling case, one per process.
using Processes = std::vector<const Record*>;

struct Rate {
  double value{};
  std::string_view unit;
};

/// Returns the rate of a ceiling, or its time if it counts neither bytes nor FLOP.
Rate rate_of(const Record& record) {
  if (const auto dispatch = record.counters.find("dispatch_us"); dispatch != record.counters.end()) {
    return {dispatch->second, "us"};
  }
  const double seconds = record.timing->median.value;
  if (record.work && record.work->bytes > 0) {
    return {static_cast<double>(record.work->bytes) / seconds * 1e-9, "GB/s"};
  }
  if (record.work && record.work->flop.value > 0) return {record.work->flop.value / seconds * 1e-12, "TFLOP/s"};
  return {milliseconds(record) * 1e3, "us"};
}

/// Returns the timed cases of a file of ceilings, with their processes. Bandwidths in device memory and times come
/// first, then copies between host and device, then matrix products.
std::vector<std::pair<std::string, Processes>> ceilings_of(const results::ResultFile& file) {
  std::map<std::string, Processes> by_name;
  for (const Record& record : file.records) {
    if (record.timing) by_name[record.id.name()].push_back(&record);
  }
  std::vector<std::pair<std::string, Processes>> cases{by_name.begin(), by_name.end()};
  std::ranges::stable_sort(cases, {}, [](const auto& found) {
    const auto has = [&](std::string_view part) { return found.first.find(part) != std::string::npos; };
    return std::tuple{has("gemm"), has("_p"), found.first};
  });
  for (auto& [name, processes] : cases) std::ranges::stable_sort(processes, {}, &Record::repetition_index);
  return cases;
}

render::Cell pytorch_ratio(double rate, std::string_view unit, const results::PytorchTime* pytorch) {
  if (pytorch == nullptr || !pytorch->per_second || unit == "us") return {};
  return render::number_cell(rate / (*pytorch->per_second * (unit == "GB/s" ? 1e-9 : 1e-12)), 3);
}

render::Table ceilings_table(std::span<const results::PytorchTime> pytorch, const results::ResultFile& file) {
  render::Table table{{{"what"},
                       {"unit", Align::kRight},
                       {"three processes", Align::kRight},
                       {"range, %", Align::kRight},
                       {"SM clock, MHz", Align::kRight},
                       {"of PyTorch's", Align::kRight}}};
  for (const auto& [name, processes] : ceilings_of(file)) {
    std::vector<double> rates;
    std::vector<std::string> texts;
    for (const Record* const record : processes) {
      rates.push_back(rate_of(*record).value);
      texts.push_back(fmt::format("{:.4g}", rates.back()));
    }
    const auto [low, high] = std::ranges::minmax(rates);
    const std::string_view unit = rate_of(*processes.front()).unit;
    const auto theirs = std::ranges::find(pytorch, processes.front()->id, &results::PytorchTime::id);
    table.add_row_of({{.text = values_of(processes.front()->id.parameters())},
                      {.text = std::string{unit}},
                      {.text = join(texts, ", ")},
                      render::number_cell((high / low - 1) * 100, 2),
                      {.text = listed(clocks_of(processes), 0)},
                      pytorch_ratio(stats::median(rates), unit, theirs == pytorch.end() ? nullptr : &*theirs)});
  }
  return table;
}

render::Table models_table(std::span<const results::PytorchTime> pytorch,
                           std::span<const results::NamedResults> results) {
  TimedRecords ours;
  for (const results::NamedResults& result : results) ours.merge(timed_records(result.file));  // keeps known records
  render::Table table{
      {{"case"}, {"PyTorch, ms", Align::kRight}, {"eager, ms", Align::kRight}, {"ratio", Align::kRight}}};
  for (const results::PytorchTime& theirs : pytorch) {
    const auto found = ours.find(theirs.id.name());
    if (found == ours.end()) continue;
    const double time = milliseconds(*found->second);
    table.add_row_of({{.text = values_of(theirs.id.parameters())},
                      render::number_cell(theirs.median_ms, 2),
                      render::number_cell(time, 2),
                      render::number_cell(time / theirs.median_ms, 3)});
  }
  return table;
}

/// Returns whether the peaks of the processes' memory are the "same" or "differ"; empty if no process knows its peak.
std::string peaks_text(const std::vector<const Record*>& processes) {
  std::set<std::optional<std::int64_t>> peaks;
  for (const Record* const one : processes) {
    peaks.insert(one->memory ? std::optional{one->memory->requested_peak.value_or(one->memory->allocated_peak)}
                             : std::nullopt);
  }
  if (peaks.size() > 1) return "differ";
  return peaks.contains(std::nullopt) ? "" : "same";
}

render::Cell seen(const results::SelfComparison::Seen& what) {
  const double percent = (what.ratio - 1) * 100;
  return {.text = fmt::format("{:+.2f} {}", percent, what.outcome), .value = percent};
}

}  // namespace

std::string values_of(std::span<const CaseId::Parameter> parameters) {
  std::vector<std::string> values;
  for (const auto& [key, value] : parameters) values.push_back(value);
  return join(values, " ");
}

render::Table repeat_table(std::span<const results::NamedResults> results) {
  std::vector<TimedRecords> runs;
  for (const results::NamedResults& result : results) {
    for (auto& [process, records] : processes_of(result.file)) runs.push_back(std::move(records));
  }
  render::Table table{{{"case"},
                       {"medians, ms", Align::kRight},
                       {"range, %", Align::kRight},
                       {"SM clock, MHz", Align::kRight},
                       {"cycles' range, %", Align::kRight},
                       {"peak bytes", Align::kRight}}};
  std::set<std::string> shown;
  for (const Record& record : results.back().file.records) {
    if (!record.timing || !shown.insert(record.id.name()).second) continue;
    std::vector<const Record*> found;
    for (const TimedRecords& run : runs) {
      if (const auto same = run.find(record.id.name()); same != run.end()) found.push_back(same->second);
    }
    if (found.size() < kMinRuns) continue;
    std::vector<double> times;
    for (const Record* const one : found) times.push_back(milliseconds(*one));
    table.add_row_of({{.text = values_of(record.id.parameters())},
                      {.text = listed(times, 2)},
                      range_percent(times),
                      {.text = listed(clocks_of(found), 0)},
                      range_of_cycles(found),
                      {.text = peaks_text(found)}});
  }
  if (table.empty()) {
    throw UsageError{fmt::format(
        "--repeat: no case has a time in {0} processes; give a file of --tb_processes={0}, or {0} files of one each",
        kMinRuns)};
  }
  return table;
}

render::Table pytorch_table(std::span<const results::PytorchTime> pytorch,
                            std::span<const results::NamedResults> results) {
  const bool is_of_ceilings =
      std::ranges::any_of(pytorch, [](const auto& time) { return time.per_second.has_value(); });
  render::Table table = is_of_ceilings ? ceilings_table(pytorch, results.front().file) : models_table(pytorch, results);
  if (table.empty()) {
    throw UsageError{"--pytorch: none of its cases has a time in the results; give results of the same cases"};
  }
  return table;
}

render::Table self_comparison_table(std::span<const results::SelfComparison> cases) {
  render::Table table{{{"case"},
                       {"A to A', %", Align::kRight},
                       {"A to B, %", Align::kRight},
                       {"planted in B, %", Align::kRight},
                       {"A to planted B, %", Align::kRight},
                       {"finds, %", Align::kRight}}};
  for (const results::SelfComparison& one : cases) {
    const double injected = (one.factor - 1) * 100;
    table.add_row_of({{.text = values_of(one.id.parameters())},
                      seen(one.same),
                      seen(one.other),
                      {.text = fmt::format("{:+.2f}", injected), .value = injected},
                      seen(one.planted),
                      render::number_cell(one.detectable * 100, 1)});
  }
  return table;
}

render::Table manifest_table(std::span<const results::ManifestEntry> files) {
  render::Table table{{{"file"}, {"what"}, {"machine"}, {"build"}}};
  for (const results::ManifestEntry& entry : files) {
    table.add_row({fmt::format("`{}`", entry.file), entry.what, entry.machine, entry.build.value_or("")});
  }
  return table;
}

}  // namespace tbench::studies
