#include "tbench/results/measured_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"

namespace tbench::results {
namespace {

/// Appended by BenchmarkInstance::name(): how it is measured, not what.
constexpr std::array<std::string_view, 7> kSuffixes{
    "iterations:", "repeats:", "min_time:", "min_warmup_time:", "manual_time", "process_time", "real_time"};

constexpr std::array<std::pair<std::string_view, double>, 4> kTimeUnits{
    {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};

std::string text_at(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
}

bool is_set(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_boolean() && found->get<bool>();
}

Seconds time_of(const Json& entry, const std::string& where) {
  const auto time = entry.find("real_time");
  if (time == entry.end() || !time->is_number()) {
    throw std::runtime_error{fmt::format("{}: there is neither a time nor an error", where)};
  }
  const std::string unit = entry.contains("time_unit") ? text_at(entry, "time_unit") : "ns";
  const auto* known = std::ranges::find(kTimeUnits, unit, &std::pair<std::string_view, double>::first);
  if (known == kTimeUnits.end()) throw std::runtime_error{fmt::format("{}: unknown time unit '{}'", where, unit)};
  const double seconds = time->get<double>() * known->second;
  if (!(seconds > 0) || !std::isfinite(seconds)) {
    throw std::runtime_error{fmt::format("{}: a time of {} {} cannot be compared", where, time->get<double>(), unit)};
  }
  return {seconds};
}

}  // namespace

std::string match_key(const CaseId& id) {
  std::vector<CaseId::Parameter> parameters = id.parameters();
  std::ranges::sort(parameters);
  return CaseId{id.family(), std::move(parameters)}.name();
}

MeasuredCase measured_case(const Record& record) {
  MeasuredCase measured{.id = record.id, .key = match_key(record.id), .replicates = {{}}};
  Replicate& replicate = measured.replicates.front();
  replicate.status = record.status;
  replicate.reason = record.reason;
  if (record.memory) {
    replicate.peak_bytes = record.memory->allocated_peak;
    replicate.requested_peak_bytes = record.memory->requested_peak;
  }
  if (record.work) {
    replicate.work = record.work->flop;
    replicate.ceiling = record.work->ceiling;
  }
  if (record.device && record.device->sm_clock_p50) {
    replicate.sm_clock = record.timing ? cycle_clock(*record.device, *record.timing) : record.device->mean_sm_clock();
    replicate.clock_source = record.device->clock_source.value_or(ClockSource::kChunk);
  }
  if (!record.timing) return measured;
  if (!(record.timing->median.value > 0)) {
    throw std::runtime_error{
        fmt::format("{}: a median of {} s cannot be compared", record.id.name(), record.timing->median.value)};
  }
  replicate.time = record.timing->median;
  if (record.trace && record.trace->device.value > 0) replicate.device_time = record.trace->device;
  replicate.regime = record.timing->regime;
  replicate.l2 = record.timing->l2;
  replicate.host_bound = record.timing->host_bound;
  replicate.relative_half_width = record.timing->relative_half_width;
  const std::map<std::string, double> counters = counters_of(record);
  if (const auto mfu = counters.find("mfu"); mfu != counters.end()) replicate.mfu = mfu->second;
  if (const auto share = counters.find("ceiling_share"); share != counters.end())
    replicate.ceiling_share = share->second;
  return measured;
}

CaseId case_of_name(const std::string& name) {
  try {
    return CaseId::parse(name);
  } catch (const std::invalid_argument&) {
    return CaseId{name, {}};
  }
}

std::string plain_case_name(const std::string& name) {
  std::vector<std::string> parts = split(name, '/');
  const auto is_suffix = [](const std::string& part) {
    return std::ranges::any_of(kSuffixes, [&](std::string_view suffix) {
      return suffix.back() == ':' ? part.starts_with(suffix) : part == suffix;
    });
  };
  while (parts.size() > 1 && is_suffix(parts.back())) parts.pop_back();
  return join(parts, "/");
}

std::optional<MeasuredCase> plain_case(const Json& entry, const std::string& where) {
  if (text_at(entry, "run_type") == "aggregate") return std::nullopt;
  const std::string run_name = text_at(entry, "run_name");
  const std::string name = run_name.empty() ? text_at(entry, "name") : run_name;
  if (name.empty()) throw std::runtime_error{fmt::format("{}: there is no name", where)};
  CaseId id = case_of_name(plain_case_name(name));
  Replicate replicate;
  if (is_set(entry, "error_occurred")) {
    replicate.status = Status::kCrashed;
    replicate.reason = text_at(entry, "error_message");
  } else if (is_set(entry, "skipped")) {
    replicate.status = Status::kUnsupported;
    replicate.reason = text_at(entry, "skip_message");
  } else {
    replicate.time = time_of(entry, where);
  }
  std::string key = match_key(id);
  return MeasuredCase{.id = std::move(id), .key = std::move(key), .replicates = {std::move(replicate)}};
}

}  // namespace tbench::results
