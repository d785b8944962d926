#include "tbench/compare/case_values.hpp"

#include <algorithm>
#include <cmath>

#include "tbench/stats/descriptive.hpp"

namespace tbench::compare {

std::vector<double> logarithms(std::span<const results::Replicate> replicates,
                               const std::function<std::optional<double>(const results::Replicate&)>& of) {
  std::vector<double> values;
  for (const results::Replicate& replicate : replicates) {
    if (const std::optional<double> value = of(replicate)) values.push_back(std::log(*value));
  }
  return values;
}

std::optional<double> time_of(const results::Replicate& replicate) {
  return replicate.time ? std::optional{replicate.time->value} : std::nullopt;
}

std::optional<double> device_time_of(const results::Replicate& replicate) {
  return replicate.time && replicate.device_time ? std::optional{replicate.device_time->value} : std::nullopt;
}

int severity(Status status) {
  if (is_failure(status)) return 4;
  if (status == Status::kOom) return 3;
  if (status == Status::kUnsupported) return 2;
  return status == Status::kOk ? 0 : 1;
}

std::vector<double> log_times(const results::MeasuredCase& c) { return logarithms(c.replicates, time_of); }

const results::Replicate& worst_of(const results::MeasuredCase& c) {
  return *std::ranges::max_element(c.replicates, {}, [](const results::Replicate& r) { return severity(r.status); });
}

std::optional<double> value_of(const results::MeasuredCase& c) {
  if (worst_of(c).status != Status::kOk) return std::nullopt;
  const std::vector<double> values = log_times(c);
  return values.empty() ? std::nullopt : std::optional{stats::median(values)};
}

std::optional<double> device_value_of(const results::MeasuredCase& c) {
  if (!value_of(c)) return std::nullopt;
  const std::vector<double> values = logarithms(c.replicates, device_time_of);
  return values.size() == c.replicates.size() ? std::optional{stats::median(values)} : std::nullopt;
}

std::optional<std::int64_t> peak_of(const results::MeasuredCase& c) {
  std::optional<std::int64_t> peak;
  for (const results::Replicate& replicate : c.replicates) {
    if (replicate.peak_bytes) peak = std::max(peak.value_or(0), *replicate.peak_bytes);
  }
  return peak;
}

std::optional<std::int64_t> requested_peak_of(const results::MeasuredCase& c) {
  std::optional<std::int64_t> peak;
  for (const results::Replicate& replicate : c.replicates) {
    if (replicate.peak_bytes && !replicate.requested_peak_bytes) return std::nullopt;
    if (replicate.requested_peak_bytes) peak = std::max(peak.value_or(0), *replicate.requested_peak_bytes);
  }
  return peak;
}

bool is_bad(Status status) { return is_failure(status) || status == Status::kOom; }

}  // namespace tbench::compare
