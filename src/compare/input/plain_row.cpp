#include "compare/input/plain_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tbench/compare/case_values.hpp"

namespace tbench::compare {
namespace {

using results::Json;

constexpr std::array<std::pair<std::string_view, double>, 4> kTimeUnits{
    {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
constexpr std::size_t kMaxName = 1024;  // bytes; CaseFilter accepts no longer names
constexpr std::size_t kMaxShown = 100;

std::string text_at(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<std::int64_t> integer_at(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

bool is_set(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_boolean() && found->get<bool>();
}

results::Replicate without_time(Status status, std::string reason) {
  results::Replicate replicate;
  replicate.status = status;
  replicate.reason = std::move(reason);
  return replicate;
}

results::Replicate not_comparable(const std::string& why) {
  return without_time(Status::kUnsupported, fmt::format("{}: {}", kNotComparable, why));
}

results::Replicate timed(const Json& entry) {
  const auto time = entry.find("real_time");
  if (time == entry.end()) return not_comparable("neither a time nor an error");
  if (!time->is_number()) return not_comparable("time is not a finite number");
  const std::string unit = entry.contains("time_unit") ? text_at(entry, "time_unit") : "ns";
  const auto* known = std::ranges::find(kTimeUnits, unit, &std::pair<std::string_view, double>::first);
  if (known == kTimeUnits.end()) {
    return not_comparable(fmt::format("unknown time unit '{}'", unit.substr(0, kMaxShown)));
  }
  const double seconds = time->get<double>() * known->second;
  if (!(seconds > 0) || !std::isfinite(seconds)) {
    return not_comparable(fmt::format("time {} {}", time->get<double>(), unit));
  }
  results::Replicate replicate;
  replicate.time = Seconds{seconds};
  return replicate;
}

results::Replicate replicate_of(const Json& entry) {
  if (is_set(entry, "error_occurred")) return without_time(Status::kCrashed, text_at(entry, "error_message"));
  if (is_set(entry, "skipped")) return without_time(Status::kUnsupported, text_at(entry, "skip_message"));
  return timed(entry);
}

/// Returns the name of a row. Removes the statistic from the end of an aggregate's name.
std::string name_of_benchmark(const PlainRow& row, const std::string& name) {
  const std::string ending = "_" + row.statistic;
  const bool has_ending = row.kind == PlainRow::Kind::kAggregate && name.ends_with(ending);
  return has_ending ? name.substr(0, name.size() - ending.size()) : name;
}

/// Returns whether a row is a fitted complexity, which has no time. Needed for rows that do not say what they are.
bool is_complexity(const Json& entry, const std::string& name) {
  return !entry.contains("real_time") && (name.ends_with("_BigO") || name.ends_with("_RMS"));
}

}  // namespace

PlainRow plain_row(const Json& entry, const std::string& where) {
  PlainRow row;
  const std::string name = text_at(entry, "name");
  const std::string run_type = text_at(entry, "run_type");
  row.kind = run_type.empty()          ? PlainRow::Kind::kUntold
             : run_type == "aggregate" ? PlainRow::Kind::kAggregate
                                       : PlainRow::Kind::kMeasurement;
  if (row.kind == PlainRow::Kind::kUntold && is_complexity(entry, name)) row.kind = PlainRow::Kind::kAggregate;
  row.statistic = text_at(entry, "aggregate_name");
  row.name = text_at(entry, "run_name");
  if (row.name.empty()) row.name = name_of_benchmark(row, name);
  row.repetition = integer_at(entry, "repetition_index");
  row.repetitions = integer_at(entry, "repetitions").value_or(1);
  const auto family = integer_at(entry, "family_index");
  const auto index = integer_at(entry, "per_family_instance_index");
  if (family && index) row.instance = {*family, *index};
  row.replicate = replicate_of(entry);
  if (!row.name.empty() && row.name.size() <= kMaxName) return row;
  row.replicate = not_comparable(
      row.name.empty() ? "no name" : fmt::format("name of {} bytes, of at most {}", row.name.size(), kMaxName));
  row.name = where;
  return row;
}

}  // namespace tbench::compare
