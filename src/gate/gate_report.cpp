#include "tbench/gate/gate_report.hpp"

#include <algorithm>

#include "tbench/compare/comparison.hpp"
#include "tbench/core/error.hpp"

namespace tbench::gate {
namespace {

constexpr std::array<std::string_view, kAllVerdicts.size()> kNames{
    "REGRESSED", "CREEP", "UNCONFIRMED", "RETRIED", "HOST", "CLOCK", "INVALID", "IMPROVED", "NEW", "PASSED"};

bool has_failed_control(const GateReport& report) { return report.null_control && report.null_control->has_failed; }

}  // namespace

std::string_view to_string(Verdict verdict) { return kNames.at(static_cast<std::size_t>(verdict)); }

std::optional<Verdict> parse_verdict(std::string_view text) {
  const auto found = std::ranges::find(kNames, text);
  if (found == kNames.end()) return std::nullopt;
  return kAllVerdicts.at(static_cast<std::size_t>(found - kNames.begin()));
}

std::size_t count_of(const GateReport& report, Verdict verdict) {
  return static_cast<std::size_t>(std::ranges::count(report.cases, verdict, &CaseReport::verdict));
}

std::string_view outcome_of(const GateReport& report) {
  if (!report.is_valid) return "ENVIRONMENT";
  if (has_failed_control(report)) return "NULL_CONTROL_FAILED";
  if (report.machine_change) return "MACHINE_CHANGED";
  return count_of(report, Verdict::kRegressed) > 0 ? "REGRESSED" : "PASSED";
}

int exit_status(const GateReport& report, bool strict) {
  const bool is_uncertain = std::ranges::any_of(kUncertain, [&](Verdict v) { return count_of(report, v) > 0; });
  if (report.blind_runs > kMaxBlindRuns) return kExitBlind;
  if (!report.is_valid) return strict ? compare::kExitUncertain : kExitOk;
  if (has_failed_control(report)) return kExitNullControlFailed;
  if (count_of(report, Verdict::kRegressed) > 0) return compare::kExitRegressed;
  return strict && is_uncertain ? compare::kExitUncertain : kExitOk;
}

bool is_blind(const GateReport& report) { return !report.is_valid || has_failed_control(report); }

bool is_good(const GateReport& report) {
  return report.is_valid && !report.machine_change && exit_status(report, true) == kExitOk;
}

}  // namespace tbench::gate
