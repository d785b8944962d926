#include "tbench/results/record_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "tbench/core/units.hpp"
#include "tbench/results/measured_case.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::results {
namespace {

/// The rounding error of a difference, relative to the numbers that are subtracted.
constexpr double kRounding = 1e-12;

using Broken = std::optional<BrokenRule>;

/// Returns whether a stated number equals the derived one, except for rounding.
/// @param scale  size of the numbers whose difference `derived` is
bool agree(double stated, double derived, double scale) {
  return std::abs(stated - derived) <= kRuleTolerance * std::abs(derived) + kRounding * scale;
}

/// Returns how the timing breaks the rule kRegime, or an empty text if it keeps the rule.
std::string regime_problem(const Timing& timing) {
  if (timing.regime == Regime::kBurst) {
    return timing.wall || timing.drain ? "a burst has no wall_s and no drain_s" : "";
  }
  if (!timing.wall || !timing.drain) return "wall_s and drain_s are missing";
  return timing.l2 || timing.launches_per_sample != 1 || timing.resolution_limited || timing.duty
             ? "only a burst has l2, launches_per_sample above 1, resolution_limited or duty"
             : "";
}

Broken reason_problem(const Record& record) {
  if (record.status != Status::kOk && record.reason.empty()) {
    return BrokenRule{RecordRule::kReason,
                      fmt::format("the status is {}, and there is no reason", to_string(record.status))};
  }
  if (record.reason.size() <= kMaxReason) return std::nullopt;
  return BrokenRule{RecordRule::kReason,
                    fmt::format("the reason has {} bytes, more than {}", record.reason.size(), kMaxReason)};
}

Broken samples_problem(const Timing& timing) {
  if (timing.samples_s.empty()) return BrokenRule{RecordRule::kSamples, "samples_s is empty"};
  const auto found = std::ranges::find_if(timing.samples_s, [](double sample) { return !(sample > 0); });
  if (found == timing.samples_s.end()) return std::nullopt;
  return BrokenRule{RecordRule::kSamples,
                    fmt::format("samples_s[{}] is {}, not above 0", found - timing.samples_s.begin(), *found)};
}

Broken flagged_problem(const Timing& timing) {
  for (const std::size_t index : timing.flagged_samples) {
    if (index < timing.samples_s.size()) continue;
    return BrokenRule{RecordRule::kFlagged,
                      fmt::format("there are {} samples, and none of index {}", timing.samples_s.size(), index)};
  }
  return std::nullopt;
}

/// A statistic, as the timing states it and as it follows from the samples.
struct Statistic {
  const char* key;
  std::optional<double> stated;
  std::optional<double> derived;
};

std::optional<double> value_of(const std::optional<Seconds>& time) {
  return time ? std::optional{time->value} : std::nullopt;
}

std::string shown(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : "nothing"; }

BrokenRule unlike(const Statistic& of) {
  return {RecordRule::kStatistics,
          fmt::format("{} is {}, and the samples give {}", of.key, shown(of.stated), shown(of.derived))};
}

std::array<Statistic, 5> locations(const Timing& timing, const stats::Summary& summary) {
  return {Statistic{"median_s", timing.median.value, summary.median},
          {"p10_s", timing.p10.value, summary.p10},
          {"p90_s", timing.p90.value, summary.p90},
          {"min_s", timing.min.value, summary.min},
          {"mean_s", timing.mean.value, summary.mean}};
}

/// Returns the broken rule of the statistics, for versions before kExactStatistics.
Broken shortened_problem(const Timing& timing, const stats::Summary& summary) {
  const Statistic median{"median_s", timing.median.value, summary.median};
  if (!(std::abs(*median.stated - *median.derived) <= kShortened * *median.derived)) return unlike(median);
  if (timing.min <= timing.p10 && timing.p10 <= timing.median && timing.median <= timing.p90) return std::nullopt;
  return BrokenRule{RecordRule::kStatistics,
                    fmt::format("min_s, p10_s, median_s and p90_s are not in order: {}, {}, {}, {}", timing.min.value,
                                timing.p10.value, timing.median.value, timing.p90.value)};
}

Broken statistics_problem(const Timing& timing, std::int64_t version) {
  const stats::Summary summary = stats::summary_of(timing.samples_s);
  if (version < kExactStatistics) return shortened_problem(timing, summary);
  const auto differs = [](const Statistic& of, double scale) {
    if (of.stated.has_value() != of.derived.has_value()) return true;
    return of.stated && !agree(*of.stated, *of.derived, scale);
  };
  for (const Statistic& of : locations(timing, summary)) {
    if (differs(of, summary.mean)) return unlike(of);
  }
  const Statistic deviation{"standard_deviation_s", value_of(timing.standard_deviation), summary.standard_deviation};
  if (differs(deviation, summary.mean)) return unlike(deviation);
  for (const Statistic& of :
       {Statistic{"relative_iqr", timing.relative_iqr, summary.relative_iqr},
        Statistic{"relative_half_width", timing.relative_half_width, summary.relative_half_width}}) {
    if (differs(of, 1)) return unlike(of);
  }
  return std::nullopt;
}

Broken timing_problem(const Record& record, std::int64_t version) {
  if (!record.timing) return std::nullopt;
  if (record.verification && !record.verification->passed) {
    return BrokenRule{RecordRule::kVerification,
                      fmt::format("the status is {}, and verification.passed is false", to_string(record.status))};
  }
  if (Broken broken = samples_problem(*record.timing)) return broken;
  if (Broken broken = flagged_problem(*record.timing)) return broken;
  return statistics_problem(*record.timing, version);
}

Broken work_problem(const Record& record) {
  if (!record.work || !record.work->min_flop || !(*record.work->min_flop > record.work->flop)) return std::nullopt;
  return BrokenRule{RecordRule::kLeastFlop, fmt::format("least_flop is {}, more than flop, {}",
                                                        record.work->min_flop->value, record.work->flop.value)};
}

Broken repetition_problem(const Record& record) {
  if (record.repetition_index >= 0 && record.repetition_index < record.repetitions) return std::nullopt;
  return BrokenRule{RecordRule::kRepetition, fmt::format("repetition_index is {}, and repetitions is {}",
                                                         record.repetition_index, record.repetitions)};
}

std::string text_at(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() ? compact(*found) : "nothing";
}

Broken name_problem(const Json& entry, const Record& record) {
  const std::string name = record.id.name();
  for (const char* key : {"name", "run_name"}) {
    const auto found = entry.find(key);
    if (found != entry.end() && *found == name) continue;
    return BrokenRule{RecordRule::kName,
                      fmt::format("{} is {}, and the record's is \"{}\"", key, text_at(entry, key), name)};
  }
  return std::nullopt;
}

Broken real_time_problem(const Json& entry, const Record& record) {
  const auto time = entry.find("real_time");
  if ((time != entry.end()) != record.timing.has_value()) {
    return BrokenRule{RecordRule::kRealTime, "there is one exactly if the record has a time"};
  }
  if (!record.timing) return std::nullopt;
  const double median = to_milliseconds(record.timing->median);
  if (time->is_number() && text_at(entry, "time_unit") == R"("ms")" && agree(time->get<double>(), median, 0)) {
    return std::nullopt;
  }
  return BrokenRule{RecordRule::kRealTime, fmt::format("it is {} {}, and the record's median is {} ms", compact(*time),
                                                       text_at(entry, "time_unit"), median)};
}

/// Returns whether an entry's key is Google Benchmark's own or `tbench`. All other keys are counters.
bool is_own_field(const std::string& key) {
  static const std::set<std::string, std::less<>> kFields{"name",
                                                          "family_index",
                                                          "per_family_instance_index",
                                                          "run_name",
                                                          "run_type",
                                                          "repetitions",
                                                          "threads",
                                                          "repetition_index",
                                                          "aggregate_name",
                                                          "aggregate_unit",
                                                          "error_occurred",
                                                          "error_message",
                                                          "iterations",
                                                          "real_time",
                                                          "cpu_time",
                                                          "time_unit",
                                                          "label",
                                                          "tbench"};
  return kFields.contains(key);
}

Broken counters_problem(const Json& entry, const Record& record) {
  const std::map<std::string, double> counters = counters_of(record);
  auto next = counters.begin();  // the expected counter, if the entry has them in the written order
  for (const auto& [key, value] : entry.items()) {
    const bool is_next = next != counters.end() && next->first == key;
    if (!is_next && is_own_field(key)) continue;
    const auto found = is_next ? next++ : counters.find(key);
    if (found != counters.end() && value.is_number() && agree(value.get<double>(), found->second, 1)) continue;
    return BrokenRule{RecordRule::kCounters,
                      fmt::format("{} is {}, and the record gives {}", key, compact(value),
                                  found == counters.end() ? "nothing" : fmt::format("{}", found->second))};
  }
  return std::nullopt;
}

/// Returns nullopt if the parts add up to the whole, or if there are no parts.
Broken split_problem(const std::map<std::string, std::int64_t>& split, std::int64_t whole, const std::string& name) {
  std::int64_t sum = 0;
  for (const auto& [memory_class, bytes] : split) sum += bytes;
  if (split.empty() || sum == whole) return std::nullopt;
  return BrokenRule{RecordRule::kMemory, fmt::format("the parts of {} add up to {} of {} bytes", name, sum, whole)};
}

Broken memory_problem(const Record& record) {
  if (!record.memory) return std::nullopt;
  if (Broken broken = split_problem(record.memory->split, record.memory->allocated_peak, "the peak")) return broken;
  for (const PhaseMemory& phase : record.memory->phases) {
    if (Broken broken = split_problem(phase.held_split, phase.held, "what " + phase.phase + " holds")) return broken;
  }
  return std::nullopt;
}

Broken index_problem(const std::string& key, std::int64_t index, std::size_t count) {
  if (index >= 0 && std::cmp_less(index, count)) return std::nullopt;
  return BrokenRule{RecordRule::kIndexes, fmt::format("{} is {}, and there are {}", key, index, count)};
}

Broken index_problem(const std::string& key, std::size_t index, std::size_t count) {
  return index_problem(key, static_cast<std::int64_t>(index), count);
}

Broken length_problem(const std::string& key, std::size_t length, std::size_t count) {
  if (length == count) return std::nullopt;
  return BrokenRule{RecordRule::kIndexes, fmt::format("{} has {} elements, and there are {}", key, length, count)};
}

Broken range_kernels_problem(const StepTrace& trace) {
  for (const TracedRangeKernel& kernel : trace.range_kernels) {
    if (Broken broken = index_problem("range_kernels.range", kernel.range, trace.ranges.size())) return broken;
    if (Broken broken = index_problem("range_kernels.kernel", kernel.kernel, trace.kernels.size())) return broken;
  }
  return std::nullopt;
}

Broken timeline_problem(const StepTimeline& timeline) {
  constexpr std::size_t kKinds = 3;
  constexpr std::size_t kDepths = 64;
  const std::size_t entries = timeline.kind.size();
  for (const auto& [key, length] : {std::pair{"timeline.name", timeline.name.size()},
                                    {"timeline.depth", timeline.depth.size()},
                                    {"timeline.start_s", timeline.start_s.size()},
                                    {"timeline.end_s", timeline.end_s.size()}}) {
    if (Broken broken = length_problem(key, length, entries)) return broken;
  }
  for (std::size_t i = 0; i < entries; ++i) {
    if (Broken broken = index_problem("timeline.kind", timeline.kind[i], kKinds)) return broken;
    if (Broken broken = index_problem("timeline.name", timeline.name[i], timeline.names.size())) return broken;
    if (Broken broken = index_problem("timeline.depth", timeline.depth[i], kDepths)) return broken;
  }
  return std::nullopt;
}

Broken timeline_problem(const MemoryTimeline& timeline) {
  const std::size_t points = timeline.events.size();
  for (const MemoryBand& band : timeline.bands) {
    if (Broken broken = length_problem("timeline.bands.bytes", band.bytes.size(), points)) return broken;
  }
  for (const MemoryPhase& phase : timeline.phases) {
    if (Broken broken = index_problem("timeline.phases.point", phase.point, points)) return broken;
  }
  return index_problem("timeline.peak", timeline.peak, points);
}

Broken indexes_problem(const Record& record) {
  if (record.trace) {
    if (Broken broken = range_kernels_problem(*record.trace)) return broken;
    if (Broken broken = record.trace->timeline ? timeline_problem(*record.trace->timeline) : std::nullopt)
      return broken;
  }
  return record.memory && record.memory->timeline ? timeline_problem(*record.memory->timeline) : std::nullopt;
}

void refuse(const Broken& broken, const Record& record, const std::string& where) {
  if (broken) throw RuleError{where, record.id, *broken};
}

}  // namespace

RuleError::RuleError(const std::string& where, const CaseId& id, const BrokenRule& broken)
    : std::runtime_error{fmt::format("{}: {} breaks the rule '{}': {}", where, id.name(), to_string(broken.rule),
                                     broken.problem)},
      rule_{broken.rule} {}

Broken contradiction_of(const Record& record) {
  if (record.timing.has_value() != has_time(record.status)) {
    return BrokenRule{RecordRule::kTime, fmt::format("there is a time exactly if the status has one, and the status "
                                                     "is {}",
                                                     to_string(record.status))};
  }
  const std::string problem = record.timing ? regime_problem(*record.timing) : "";
  return problem.empty() ? std::nullopt : std::optional{BrokenRule{RecordRule::kRegime, problem}};
}

Broken broken_rule(const Record& record, std::int64_t version) {
  if (Broken broken = contradiction_of(record)) return broken;
  if (Broken broken = reason_problem(record)) return broken;
  if (Broken broken = timing_problem(record, version)) return broken;
  if (Broken broken = work_problem(record)) return broken;
  if (version >= kWholeSplit) {
    if (Broken broken = memory_problem(record)) return broken;
  }
  if (Broken broken = indexes_problem(record)) return broken;
  return repetition_problem(record);
}

Broken broken_rule(const Json& entry, const Record& record, std::int64_t version) {
  if (Broken broken = name_problem(entry, record)) return broken;
  if (Broken broken = real_time_problem(entry, record)) return broken;
  return version < kComparedCounters ? std::nullopt : counters_problem(entry, record);
}

void check_record(const Record& record, const std::string& where, std::int64_t version) {
  refuse(broken_rule(record, version), record, where);
}

void check_machine(const Record& record, const Environment& environment, const std::string& where) {
  refuse(index_problem("machine", record.machine, machines_of(environment).size()), record, where);
}

void check_entry(const Json& entry, const Record& record, const std::string& where, std::int64_t version) {
  check_record(record, where, version);
  refuse(broken_rule(entry, record, version), record, where);
}

FileRuns::Case& FileRuns::add_to_case(const CaseId& id, std::int64_t repetition, const std::string& where) {
  Case& runs = cases_[match_key(id)];
  const auto [found, is_new] = runs.repetitions.try_emplace(repetition, where);
  if (is_new) return runs;
  throw RuleError{
      where, id, {RecordRule::kOnce, fmt::format("repetition {} is at {}, too", repetition, found->second)}};
}

void FileRuns::add(const Record& record, const std::string& where) {
  Case& runs = add_to_case(record.id, record.repetition_index, where);
  const auto digest = record.timing ? samples_digest(record.timing->samples_s) : std::nullopt;
  if (!digest) return;
  const auto [found, is_new] = runs.samples.try_emplace(*digest, where);
  if (is_new) return;
  throw RuleError{where, record.id, {RecordRule::kCopy, fmt::format("its samples are those of {}", found->second)}};
}

Record with_sound_reason(Record record) {
  if (record.status == Status::kOk) return record;
  if (record.reason.empty()) record.reason = "no reason was given";
  if (record.reason.size() <= kMaxReason / 3) return record;
  // Replaces invalid UTF-8, as the file's writer does: an invalid byte becomes three bytes.
  record.reason = Json::parse(compact(Json(record.reason))).get<std::string>();
  if (record.reason.size() <= kMaxReason) return record;
  constexpr std::string_view kCut = " ... (cut)";
  std::size_t end = kMaxReason - kCut.size();
  const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(record.reason[i]) & 0xC0U) == 0x80U; };
  while (continues(end)) --end;
  record.reason.resize(end);
  record.reason += kCut;
  return record;
}

}  // namespace tbench::results
