// The entries of a results file. An entry has the fields that Google Benchmark's own reporter would write, and the
// record under `tbench`.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tbench/results/json_fields.hpp"
#include "tbench/results/record_rules.hpp"
#include "tbench/results/result_json.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::results {
namespace {

constexpr std::string_view kTimeUnit = "ms";
/// compare.py reads the time unit of every entry that shares the name of a timed one, and compares entries with the
/// same unit. An entry without a time therefore has a unit that no entry with a time has.
constexpr std::string_view kNoTimeUnit = "s";

/// The position of a case in a file, numbered as Google Benchmark does.
struct Position {
  std::int64_t family_index{};
  std::int64_t index_in_family{};
};

std::map<std::string, Position> positions_of(std::span<const Record> records) {
  std::map<std::string, std::int64_t> families;
  std::map<std::string, std::int64_t> cases_in;
  std::map<std::string, Position> positions;
  for (const Record& record : records) {
    const std::string& family = record.id.family();
    const auto index = static_cast<std::int64_t>(families.size());
    const std::int64_t family_index = families.emplace(family, index).first->second;
    if (positions.emplace(record.id.name(), Position{family_index, cases_in[family]}).second) ++cases_in[family];
  }
  return positions;
}

/// Returns the fields with which every entry begins.
Json entry_head(const Record& record, const std::string& suffix, Position position, bool is_aggregate) {
  Json entry = Json::object();
  entry["name"] = record.id.name() + suffix;
  entry["family_index"] = position.family_index;
  entry["per_family_instance_index"] = position.index_in_family;
  entry["run_name"] = record.id.name();
  entry["run_type"] = is_aggregate ? "aggregate" : "iteration";
  entry["repetitions"] = record.repetitions;
  return entry;
}

/// Adds counters next to Google Benchmark's own fields, as Google Benchmark does.
/// @throws  std::invalid_argument  for a counter with the name of another field, or one that is not finite
void put_counters(Json& entry, const std::map<std::string, double>& counters) {
  for (const auto& [name, value] : counters) {
    if (entry.contains(name) || name == "tbench" || name == "label" || name == "error_occurred") {
      throw std::invalid_argument{
          fmt::format("{}: the counter '{}' has the name of another field", entry.at("name").get<std::string>(), name)};
    }
    entry[name] = to_value(value, name);
  }
}

Json timed_entry(const Record& record, Position position) {
  const Timing& timing = *record.timing;
  Json entry = entry_head(record, "", position, false);
  entry["repetition_index"] = record.repetition_index;
  entry["threads"] = 1;
  entry["iterations"] = timing.samples_s.size();
  entry["real_time"] = to_milliseconds(timing.median);
  entry["cpu_time"] = to_milliseconds(timing.cpu);
  entry["time_unit"] = kTimeUnit;
  put_counters(entry, counters_of(record));
  if (record.status != Status::kOk) entry["label"] = to_string(record.status);
  return entry;
}

/// Returns the entry of a record without a time. It is an aggregate, since compare.py reads the time of any other
/// entry.
Json failed_entry(const Record& record, Position position) {
  Json entry = entry_head(record, "", position, true);
  entry["repetition_index"] = record.repetition_index;
  entry["threads"] = 1;
  entry["aggregate_name"] = to_string(record.status);
  entry["error_occurred"] = true;
  entry["error_message"] = record.reason;
  entry["time_unit"] = kNoTimeUnit;
  put_counters(entry, counters_of(record));
  return entry;
}

Json record_entry(const Record& record, Position position) {
  Json tbench = record_to_json(record);  // first, because its errors name case and field
  Json entry = record.timing ? timed_entry(record, position) : failed_entry(record, position);
  entry["tbench"] = std::move(tbench);
  return entry;
}

double coefficient_of_variation(std::span<const double> values) {
  const double deviation = stats::standard_deviation(values).value();
  return deviation == 0 ? 0 : deviation / stats::mean(values);
}

struct Aggregate {
  std::string_view name;
  std::string_view unit;
  double (*of)(std::span<const double>);
};

/// Google Benchmark's four aggregates, in its order.
constexpr std::array kAggregates{
    Aggregate{"mean", "time", &stats::mean},
    Aggregate{"median", "time", &stats::median},
    Aggregate{"stddev", "time",
              [](std::span<const double> values) { return stats::standard_deviation(values).value(); }},
    Aggregate{"cv", "percentage", &coefficient_of_variation},
};

/// Returns the values of each counter that every repetition has.
std::map<std::string, std::vector<double>> common_counters(std::span<const Record* const> repetitions) {
  std::map<std::string, std::vector<double>> values;
  for (const Record* record : repetitions) {
    for (const auto& [name, value] : counters_of(*record)) values[name].push_back(value);
  }
  std::erase_if(values, [&](const auto& entry) { return entry.second.size() != repetitions.size(); });
  return values;
}

Json aggregate_entry(const Aggregate& aggregate, std::span<const Record* const> repetitions, Position position) {
  std::vector<double> real;
  std::vector<double> cpu;
  for (const Record* record : repetitions) {
    real.push_back(to_milliseconds(record->timing->median));
    cpu.push_back(to_milliseconds(record->timing->cpu));
  }
  Json entry = entry_head(*repetitions.front(), fmt::format("_{}", aggregate.name), position, true);
  entry["threads"] = 1;
  entry["aggregate_name"] = aggregate.name;
  entry["aggregate_unit"] = aggregate.unit;
  entry["iterations"] = repetitions.size();
  entry["real_time"] = to_value(aggregate.of(real), "real_time");
  entry["cpu_time"] = to_value(aggregate.of(cpu), "cpu_time");
  entry["time_unit"] = kTimeUnit;
  std::map<std::string, double> counters;
  for (const auto& [name, values] : common_counters(repetitions)) {
    const double value = aggregate.of(values);
    if (std::isfinite(value)) counters.emplace(name, value);  // the cv of a counter with mean 0 is not finite
  }
  put_counters(entry, counters);
  return entry;
}

/// Returns the aggregates of a case's repetitions; none for fewer than two repetitions with a time.
std::vector<Json> aggregate_entries(std::span<const Record> records, const std::string& name, Position position) {
  std::vector<const Record*> repetitions;
  for (const Record& record : records) {
    if (record.timing && record.id.name() == name) repetitions.push_back(&record);
  }
  std::vector<Json> entries;
  if (repetitions.size() < 2) return entries;
  for (const Aggregate& aggregate : kAggregates) entries.push_back(aggregate_entry(aggregate, repetitions, position));
  return entries;
}

/// Returns the index of the last record of each case that has several records.
std::map<std::string, std::size_t> last_of_several(std::span<const Record> records) {
  std::map<std::string, std::size_t> last;
  std::set<std::string> several;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!last.insert_or_assign(records[i].id.name(), i).second) several.insert(records[i].id.name());
  }
  std::erase_if(last, [&](const auto& entry) { return !several.contains(entry.first); });
  return last;
}

}  // namespace

Json benchmark_entries(std::span<const Record> records) {
  const std::map<std::string, Position> positions = positions_of(records);
  const std::map<std::string, std::size_t> last = last_of_several(records);
  Json entries = Json::array();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string name = records[i].id.name();
    entries.push_back(record_entry(records[i], positions.at(name)));
    const auto found = last.find(name);
    if (found == last.end() || found->second != i) continue;
    for (Json& entry : aggregate_entries(records, name, positions.at(name))) entries.push_back(std::move(entry));
  }
  return entries;
}

std::optional<Record> record_of_entry(const Json& entry, const std::string& where, std::int64_t version) {
  FieldReader in{entry, where};
  std::string run_type;
  in.field("run_type", run_type);
  const Json* ours = in.find("tbench");
  if (ours == nullptr && run_type == "aggregate") return std::nullopt;  // derived from the records
  Record record = record_from_json(in.at("tbench"), in.path("tbench"));
  check_entry(entry, record, where, version);
  return record;
}

std::vector<Record> records_of_entries(const Json& benchmarks, std::int64_t version) {
  expect_type(benchmarks.is_array(), "an array", benchmarks, "benchmarks");
  std::vector<Record> records;
  FileRuns runs;
  for (std::size_t i = 0; i < benchmarks.size(); ++i) {
    const std::string where = fmt::format("benchmarks[{}]", i);
    std::optional<Record> record = record_of_entry(benchmarks[i], where, version);
    if (!record) continue;
    runs.add(*record, where);
    records.push_back(*std::move(record));
  }
  return records;
}

}  // namespace tbench::results
