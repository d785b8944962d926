#include "plain_benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "tbench/core/text.hpp"

namespace tbench::report {
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

/// A name in our own way is a case of parameters, so that it finds its partner among ours.
CaseId id_of(const std::string& name) {
  try {
    return CaseId::parse(name);
  } catch (const std::invalid_argument&) {
    return CaseId{name, {}};
  }
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

std::optional<Observation> plain_observation(const Json& entry, const std::string& where) {
  if (text_at(entry, "run_type") == "aggregate") return std::nullopt;
  const std::string run_name = text_at(entry, "run_name");
  const std::string name = run_name.empty() ? text_at(entry, "name") : run_name;
  if (name.empty()) throw std::runtime_error{fmt::format("{}: there is no name", where)};
  Observation observation;
  observation.id = id_of(plain_case_name(name));
  Replicate& replicate = observation.replicate;
  if (is_set(entry, "error_occurred")) {
    replicate.status = Status::kCrashed;
    replicate.reason = text_at(entry, "error_message");
  } else if (is_set(entry, "skipped")) {
    replicate.status = Status::kUnsupported;
    replicate.reason = text_at(entry, "skip_message");
  } else {
    replicate.time = time_of(entry, where);
  }
  return observation;
}

}  // namespace tbench::report
