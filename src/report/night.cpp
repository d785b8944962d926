#include "tbench/report/night.hpp"

#include <algorithm>

#include "tbench/core/error.hpp"
#include "tbench/report/comparison.hpp"

namespace tbench::report {
namespace {

constexpr std::array<std::string_view, kAllNightVerdicts.size()> kNames{
    "REGRESSED", "CREEP", "UNCONFIRMED", "RETRIED", "CLOCK", "INVALID", "IMPROVED", "NEW", "PASSED"};

constexpr std::array kUncertain{NightVerdict::kCreep, NightVerdict::kUnconfirmed, NightVerdict::kClock,
                                NightVerdict::kInvalid};

bool has_failed_control(const NightReport& report) { return report.null_control && report.null_control->has_failed; }

}  // namespace

std::string_view to_string(NightVerdict verdict) { return kNames.at(static_cast<std::size_t>(verdict)); }

std::optional<NightVerdict> parse_night_verdict(std::string_view text) {
  const auto found = std::ranges::find(kNames, text);
  if (found == kNames.end()) return std::nullopt;
  return kAllNightVerdicts.at(static_cast<std::size_t>(found - kNames.begin()));
}

std::size_t count_of(const NightReport& report, NightVerdict verdict) {
  return static_cast<std::size_t>(std::ranges::count(report.cases, verdict, &NightCase::verdict));
}

std::string_view outcome_of(const NightReport& report) {
  if (!report.is_valid) return "ENVIRONMENT";
  if (has_failed_control(report)) return "NULL_CONTROL_FAILED";
  return count_of(report, NightVerdict::kRegressed) > 0 ? "REGRESSED" : "PASSED";
}

int exit_status(const NightReport& report, bool strict) {
  const bool is_uncertain = std::ranges::any_of(kUncertain, [&](NightVerdict v) { return count_of(report, v) > 0; });
  if (!report.is_valid) return strict ? kExitUncertain : kExitOk;
  if (has_failed_control(report)) return kExitNullControlFailed;
  if (count_of(report, NightVerdict::kRegressed) > 0) return kExitRegressed;
  return strict && is_uncertain ? kExitUncertain : kExitOk;
}

bool is_good(const NightReport& report) {
  return report.is_valid && exit_status(report, false) == kExitOk &&
         count_of(report, NightVerdict::kUnconfirmed) == 0 && count_of(report, NightVerdict::kCreep) == 0;
}

}  // namespace tbench::report
