#include "tbench/gate/gate_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "gate/run_outcomes.hpp"
#include "tbench/core/error.hpp"

namespace tbench::gate {
namespace {

bool has_failed_control(const GateReport& report) { return report.null_control && report.null_control->has_failed; }

/// Returns whether a case counts. A case that could never be judged, for instance one that the GPU does not support,
/// does not.
bool counts(const CaseReport& c) { return c.is_expected || c.outcome != Outcome::kNotJudged; }

/// Returns whether the kept build's own run replaces the earlier runs that the machine lacks.
bool was_compared(const KeptBuildRun& run) { return run.cases > 0 && run.lacking.empty(); }

/// Returns whether a finding is excused: a build is not to blame for changed facts of the
/// machine if it was compared with the kept build on that machine.
bool is_excused(const GateReport& report, const OfRun& of) {
  return report.kept_build_run && of.subject == Subject::kMachine && of.outcome == Outcome::kEnvironment;
}

}  // namespace

std::vector<OfRun> of_run(const GateReport& report) {
  std::vector<OfRun> all;
  for (const Finding& finding : report.findings) all.push_back({finding.subject, finding.outcome, finding.text});
  if (!report.is_valid) {
    all.push_back({Subject::kCeilings, Outcome::kEnvironment, "the GPU differs from earlier runs"});
  }
  if (has_failed_control(report)) {
    all.push_back({Subject::kNullControl, Outcome::kNullControlFailed, "two runs of one build differ"});
  }
  if (report.machine_change) {
    all.push_back({Subject::kCeilings, Outcome::kMachineChanged, "the machine is another one from this run on"});
  }
  if (report.blind_runs > kMaxBlindRuns) {
    all.push_back({Subject::kHeartbeat, Outcome::kBlind,
                   fmt::format("nothing was judged in {} runs in a row", report.blind_runs)});
  }
  std::ranges::stable_sort(all, {}, &OfRun::outcome);
  return all;
}

std::size_t count_of(const GateReport& report, Outcome outcome) {
  return static_cast<std::size_t>(std::ranges::count(report.cases, outcome, &CaseReport::outcome));
}

results::OutcomeCounts count_outcomes(const GateReport& report) {
  results::OutcomeCounts counts;
  for (const CaseReport& c : report.cases) ++counts[c.outcome];
  return counts;
}

results::OutcomeCounts count_all_outcomes(const GateReport& report) {
  results::OutcomeCounts counts = count_outcomes(report);
  for (const OfRun& of : of_run(report)) ++counts[of.outcome];
  return counts;
}

Outcome outcome_of(const GateReport& report) {
  Outcome gravest = Outcome::kSame;
  for (const CaseReport& c : report.cases) {
    if (counts(c)) gravest = std::min(gravest, c.outcome);
  }
  for (const OfRun& of : of_run(report)) gravest = std::min(gravest, of.outcome);
  return gravest;
}

int exit_status(const GateReport& report, bool strict) {
  std::optional<Outcome> gravest;
  int status = kExitOk;
  bool is_uncertain = false;
  const auto note = [&](Outcome outcome, bool is_confirmed) {
    if (!results::is_failure(outcome, /*strict=*/false, is_confirmed)) {
      is_uncertain = is_uncertain || results::is_failure(outcome, /*strict=*/true, is_confirmed);
    } else if (!gravest || outcome < *gravest) {
      gravest = outcome;
      status = results::exit_status_of(outcome, is_confirmed);
    }
  };
  for (const CaseReport& c : report.cases) {
    if (counts(c)) note(c.outcome, c.is_confirmed);
  }
  for (const OfRun& of : of_run(report)) note(of.outcome, false);
  if (gravest) return status;
  return strict && is_uncertain ? kExitUncertain : kExitOk;
}

Headline headline_of(const GateReport& report) { return results::headline_of_status(exit_status(report, true)); }

bool is_judged(const GateReport& report) {
  return report.is_valid && !has_failed_control(report) &&
         std::ranges::none_of(report.findings, &Finding::stops_judging);
}

bool is_baseline(const CaseReport& c) {
  return c.outcome >= Outcome::kRetried || c.outcome == Outcome::kCreep || c.outcome == Outcome::kUndecided;
}

std::size_t unconfirmed_improvements(const GateReport& report) {
  return static_cast<std::size_t>(std::ranges::count_if(
      report.cases, [](const CaseReport& c) { return c.outcome == Outcome::kImproved && !c.is_confirmed; }));
}

bool is_good(const GateReport& report) {
  if (!is_judged(report) || !report.is_checked || report.is_partial) return false;
  if (report.kept_build_run && !was_compared(*report.kept_build_run)) return false;
  const auto is_grave = [](Outcome outcome) { return outcome < Outcome::kHost; };
  return unconfirmed_improvements(report) == 0 &&
         std::ranges::none_of(report.cases, [&](const CaseReport& c) { return counts(c) && is_grave(c.outcome); }) &&
         std::ranges::none_of(of_run(report),
                              [&](const OfRun& of) { return !is_excused(report, of) && is_grave(of.outcome); });
}

}  // namespace tbench::gate
