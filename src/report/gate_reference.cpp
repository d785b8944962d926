#include "gate_reference.hpp"

#include <algorithm>
#include <cmath>

#include "case_comparison.hpp"
#include "tbench/core/statistics.hpp"

namespace tbench::report {
namespace {

/// Degrees of freedom below which a spread says less than the prior that it is to be.
constexpr std::size_t kLeastFreedom = 10;

std::vector<double> logarithms(const ComparedCase& c) {
  std::vector<double> values;
  for (const Replicate& replicate : c.replicates) {
    if (replicate.time) values.push_back(std::log(replicate.time->value));
  }
  return values;
}

CaseNight night_of(const PastRun& night, const ComparedCase& c) {
  CaseNight result{.night = &night,
                   .measured = &c,
                   .status = worst_of(c).status,
                   .value = value_of(c),
                   .peak_bytes = peak_of(c),
                   .is_reference = false};
  result.is_reference = night.is_valid && result.value && !night.regressed.contains(c.key);
  return result;
}

}  // namespace

const Replicate& worst_of(const ComparedCase& c) {
  return *std::ranges::max_element(c.replicates, {}, [](const Replicate& r) { return severity(r.status); });
}

std::optional<double> value_of(const ComparedCase& c) {
  if (worst_of(c).status != Status::kOk) return std::nullopt;
  const std::vector<double> values = logarithms(c);
  return values.empty() ? std::nullopt : std::optional{median(values)};
}

std::optional<std::int64_t> peak_of(const ComparedCase& c) {
  std::optional<std::int64_t> peak;
  for (const Replicate& replicate : c.replicates) {
    if (replicate.peak_bytes) peak = std::max(peak.value_or(0), *replicate.peak_bytes);
  }
  return peak;
}

bool is_ceiling(const CaseId& id) { return id.family() == "Ceiling"; }

NightsByCase nights_by_case(const std::vector<PastRun>& past, const std::string& epoch) {
  NightsByCase cases;
  for (const PastRun& night : past) {
    if (night.run.epoch != epoch) continue;
    for (const ComparedCase& c : night.run.cases) {
      CaseNights& nights = cases[c.key];
      if (night.baseline_of.contains(c.key)) nights.clear();
      nights.push_back(night_of(night, c));
    }
  }
  return cases;
}

std::vector<const CaseNight*> references_of(const CaseNights& nights) {
  std::vector<const CaseNight*> references;
  for (const CaseNight& night : nights) {
    if (night.is_reference) references.push_back(&night);
  }
  return references;
}

std::vector<const CaseNight*> newest(const std::vector<const CaseNight*>& nights, std::size_t count) {
  const std::size_t taken = std::min(count, nights.size());
  return {nights.end() - static_cast<std::ptrdiff_t>(taken), nights.end()};
}

std::vector<double> values_of(const std::vector<const CaseNight*>& nights) {
  std::vector<double> values;
  values.reserve(nights.size());
  for (const CaseNight* night : nights) values.push_back(*night->value);
  return values;
}

const CaseNights& nights_of(const NightsByCase& nights, const std::string& key) {
  static const CaseNights kNone;
  const auto found = nights.find(key);
  return found == nights.end() ? kNone : found->second;
}

std::map<std::string, double> known_spreads(const NightsByCase& all) {
  std::map<std::string, double> spreads;
  for (const auto& [key, nights] : all) {
    double squares = 0;
    std::size_t freedom = 0;
    for (const CaseNight* night : newest(references_of(nights), kScreenNights)) {
      const std::vector<double> values = logarithms(*night->measured);
      if (values.size() < 2) continue;
      const double deviation = standard_deviation(values).value();
      squares += deviation * deviation * static_cast<double>(values.size() - 1);
      freedom += values.size() - 1;
    }
    if (freedom >= kLeastFreedom) spreads[key] = std::sqrt(squares / static_cast<double>(freedom));
  }
  return spreads;
}

std::map<std::string, double> known_spreads(const std::vector<PastRun>& past, const std::string& epoch) {
  return known_spreads(nights_by_case(past, epoch));
}

}  // namespace tbench::report
