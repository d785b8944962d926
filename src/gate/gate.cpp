#include "tbench/gate/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "gate/gate_evidence.hpp"
#include "gate/judging_steps.hpp"
#include "tbench/compare/case_values.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/core/text.hpp"
#include "tbench/gate/gate_output.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::gate {
namespace {

CaseReport described(const results::MeasuredCase& c) {
  CaseReport result;
  result.name = c.id.name();
  result.family = c.id.family();
  result.key = c.key;
  if (const std::optional<double> value = compare::value_of(c)) result.candidate = Seconds{std::exp(*value)};
  return result;
}

std::vector<CaseVerdict> cases_of(const RunsByCase& runs, const history::MeasuredRun& candidate) {
  std::vector<CaseVerdict> cases;
  cases.reserve(candidate.cases.size());
  for (const results::MeasuredCase& c : candidate.cases) {
    if (is_ceiling(c.id)) continue;
    CaseVerdict& judged = cases.emplace_back();
    judged.result = described(c);
    judged.measured = &c;
    judged.value = compare::value_of(c);
    judged.runs = &runs_of(runs, c.key);
    judged.reference = references_of(*judged.runs);
  }
  return cases;
}

/// Makes the candidate the first bad run, unless an earlier run was bad already.
void complete_since(CaseReport& c, const history::MeasuredRun& candidate) {
  if (!c.found_by.empty() && !c.first_bad) c.first_bad = {candidate.started, candidate.environment.commit};
}

void accept(std::vector<CaseVerdict>& cases, const std::set<std::string>& keys) {
  for (CaseVerdict& c : cases) {
    if (!c.value || !keys.contains(c.result.key)) continue;
    c.is_suspect = c.creeps = c.creeps_clearly = c.is_split = false;
    c.result.outcome = Outcome::kSame;
    c.result.note = c.result.note.empty() ? "accepted as the new normal" : c.result.note + "; accepted";
  }
}

void confirm(std::vector<CaseVerdict>& cases, const GateOptions& options) {
  std::vector<CaseVerdict*> sudden;
  std::vector<CaseVerdict*> split;
  for (CaseVerdict& c : cases) {
    // Without a kept build, a case that clearly creeps is reported as a creep: many runs are better evidence than the
    // last one.
    const bool is_sudden = c.is_suspect && (options.confirm_last_good || !c.creeps_clearly);
    if (is_sudden) (c.is_split ? split : sudden).push_back(&c);
  }
  confirm_suspects(std::move(sudden), options.confirm_last_good, options.max_suspects);
  confirm_splits(std::move(split), options.confirm_last_good, options.max_suspects);
  std::vector<CaseVerdict*> faster;
  for (CaseVerdict& c : cases) {
    if (c.result.outcome == Outcome::kImproved) faster.push_back(&c);
  }
  confirm_improvements(std::move(faster), options.confirm_last_good, options.max_suspects);
  std::vector<CaseVerdict*> slow;
  for (CaseVerdict& c : cases) {
    const bool is_open = c.result.outcome == Outcome::kSame || c.result.outcome == Outcome::kRetried;
    if (c.creeps && is_open) slow.push_back(&c);
  }
  confirm_creeps(std::move(slow), options.confirm_pinned, options.max_suspects);
}

/// Returns whether the host limits the case in most processes.
bool is_host_bound(const results::MeasuredCase& c) {
  const auto bound =
      std::ranges::count_if(c.replicates, [](const results::Replicate& r) { return r.host_bound.value_or(false); });
  return 2 * static_cast<std::size_t>(bound) > c.replicates.size();
}

/// Drops the cases that the host limits if the host changed; other cases stay valid. A case that is HOST keeps its
/// outcome, since its GPU time did not change.
void drop_host_bound(std::vector<CaseVerdict>& cases) {
  for (CaseVerdict& c : cases) {
    if (!c.value || c.result.outcome == Outcome::kHost || !is_host_bound(*c.measured)) continue;
    c.is_suspect = c.creeps = c.creeps_clearly = c.is_split = false;
    c.result.outcome = Outcome::kNotJudged;
    c.result.found_by.clear();
    c.result.note = "the host limits it, and is not as in earlier runs";
  }
}

/// Marks the cases for which some earlier run had a valid value.
void mark_expected(std::vector<CaseVerdict>& cases, const std::optional<NightFacts>& night) {
  std::set<std::string> expected;
  if (night) {
    for (const history::ExpectedCase& c : night->expected) expected.insert(c.key);
  }
  for (CaseVerdict& c : cases) c.result.is_expected = !c.reference.empty() || expected.contains(c.result.key);
}

void judge_cases(GateReport& report, const RunsByCase& runs, const history::MeasuredRun& candidate,
                 const std::map<std::string, stats::DispersionPrior>& dispersions, const GateOptions& options) {
  std::vector<CaseVerdict> cases = cases_of(runs, candidate);
  mark_expected(cases, options.night);
  if (is_judged(report)) {
    screen(cases, dispersions, options.tau);
    screen_impossible(cases, candidate.environment);
    if (report.kept_build_run) {
      report.kept_build_run = screen_by_kept_build(cases, candidate.environment, options.run_last_good, options.tau);
    }
    if (!report.host_is_valid) drop_host_bound(cases);
    accept(cases, options.accepted);
    confirm(cases, options);
  } else {
    screen_failures(cases, candidate.environment);
  }
  for (CaseVerdict& c : cases) {
    complete_since(c.result, candidate);
    report.cases.push_back(std::move(c.result));
  }
}

/// Determines the state of the machine from its ceilings. A permanent change begins an epoch, to which the candidate
/// belongs.
void judge_machine(GateReport& report, const std::vector<history::PastRun>& past, const history::MeasuredRun& candidate,
                   bool is_accepted) {
  report.epoch = current_epoch(past, candidate.epoch);
  if (!changed_way(past, candidate).empty()) {
    report.epoch = history::machine_epoch(candidate.epoch, candidate.started);
    return;
  }
  report.ceilings = check_ceilings(runs_by_case(past, report.epoch), candidate);
  report.host_is_valid = are_within(report.ceilings, Resource::kHost);
  report.is_valid = are_within(report.ceilings, Resource::kDevice);
  if (report.is_valid) return;
  report.machine_change = machine_change(past, report.epoch, candidate, report.ceilings);
  if (is_accepted && !report.machine_change) {
    report.machine_change = MachineChange{.ceilings = {}, .runs = 1, .was_accepted = true};
    std::ranges::copy_if(report.ceilings, std::back_inserter(report.machine_change->ceilings),
                         [](const CeilingCheck& c) { return c.resource == Resource::kDevice && !c.is_within; });
  }
  if (!report.machine_change) return;
  report.is_valid = true;
  report.epoch = history::machine_epoch(candidate.epoch, candidate.started);
}

/// Returns a note with the usual number of processes if the candidate has another number.
std::optional<std::string> processes_note(const std::vector<history::PastRun>& past, std::size_t processes) {
  std::map<std::size_t, std::size_t> runs;
  for (const history::PastRun& run : past) {
    if (run.is_valid) ++runs[processes_of(run.run.cases)];
  }
  const auto usual = std::ranges::max_element(runs, {}, [](const auto& entry) { return entry.second; });
  if (usual == runs.end() || usual->first == processes) return std::nullopt;
  return fmt::format("{} processes where {} had {}", processes,
                     counted(static_cast<std::int64_t>(usual->second), "run"), usual->first);
}

/// Returns the CPUs that a run may use: "CPUs 0-7", and its quota if there is one.
std::string text_of(const CpuLimits& limits) {
  return fmt::format("CPUs {}{}", limits.affinity, limits.quota ? fmt::format(" ({:g} of them)", *limits.quota) : "");
}

/// Says that the run may use other CPUs than the last valid one, if both record theirs.
std::optional<std::string> cpu_limits_note(const std::vector<history::PastRun>& past, const Environment& now) {
  const auto last = std::ranges::find_if(past.rbegin(), past.rend(), &history::PastRun::is_valid);
  if (last == past.rend()) return std::nullopt;
  const std::optional<CpuLimits>& then = last->run.environment.cpu_limits;
  if (!then || !now.cpu_limits || *then == *now.cpu_limits) return std::nullopt;
  return fmt::format("the run may use {}, and the last one {}: what waits for the host may take another time",
                     text_of(*now.cpu_limits), text_of(*then));
}

/// Evaluates the evidence about the run as a whole, before any of its cases.
void judge_evidence(GateReport& report, const std::vector<history::PastRun>& past,
                    const history::MeasuredRun& candidate, const GateOptions& options, bool has_null_control) {
  if (!has_ceilings(candidate.cases)) {
    report.warnings.emplace_back(
        "no Ceiling cases were measured: a change of the machine would go unnoticed, so the build is not kept");
  }
  if (!options.night) return;
  report.findings = evidence_of(past, candidate, *options.night, has_null_control);
  report.is_partial = options.night->is_partial;
  report.is_checked = has_null_control && has_ceilings(candidate.cases);
  if (!has_null_control) report.warnings.emplace_back("no null control was given, so the build is not kept");
  if (auto note = processes_note(past, processes_of(candidate.cases))) report.warnings.push_back(*std::move(note));
  if (auto note = cpu_limits_note(past, candidate.environment)) report.warnings.push_back(*std::move(note));
}

/// Requires a run of the kept build if the machine has too few runs since one of its facts changed.
void note_young_epoch(GateReport& report, const std::vector<history::PastRun>& past,
                      const history::MeasuredRun& candidate, const GateOptions& options) {
  if (!options.night || !is_judged(report)) return;
  const std::vector<std::string> facts = facts_of_young_epoch(past, candidate, *options.night, report.epoch);
  if (facts.empty()) return;
  report.kept_build_run = KeptBuildRun{};
  if (options.run_last_good) return;
  report.warnings.push_back(
      fmt::format("{}, and no kept build was run beside it (--good, --new): the build is not kept", join(facts, ", ")));
}

}  // namespace

GateReport judge_run(const std::vector<history::PastRun>& past, const history::MeasuredRun& candidate,
                     const std::optional<AaControlSides>& null_control, const GateOptions& options) {
  GateReport report;
  report.started = candidate.started;
  report.commit = candidate.environment.commit;
  report.fingerprint = candidate.fingerprint;
  report.processes = static_cast<std::int64_t>(processes_of(candidate.cases));
  report.warnings = candidate.warnings;
  judge_evidence(report, past, candidate, options, null_control.has_value());
  judge_machine(report, past, candidate, !options.accepted.empty());
  report.runs = std::ranges::count_if(
      past, [&](const history::PastRun& run) { return run.is_valid && run.run.epoch == report.epoch; });
  RunsByCase runs = runs_by_case(past, report.epoch);
  add_other_machines(runs, options.other_machines, candidate.epoch);
  const std::map<std::string, stats::DispersionPrior> dispersions = known_dispersions(runs);
  if (null_control) report.null_control = check_aa_control(*null_control, dispersions);
  note_young_epoch(report, past, candidate, options);
  judge_cases(report, runs, candidate, dispersions, options);
  if (const std::size_t open = unconfirmed_improvements(report); open > 0) {
    report.warnings.push_back(fmt::format(
        "{} IMPROVED and not confirmed: a kernel that does nothing is fast, so the build is not kept", open));
  }
  if (is_judged(report)) report.epoch_shift = epoch_shift(past, report.epoch, candidate, options.tau);
  if (options.night && is_judged(report)) {
    auto finding = find_changed_facts(past, candidate, *options.night, report.epoch, report.epoch_shift, options.tau);
    if (finding) report.findings.push_back(*std::move(finding));
  }
  if (options.night) {
    std::ranges::move(missing_cases(past, candidate, *options.night, report.cases), std::back_inserter(report.cases));
  }
  for (const CaseReport& c : report.cases) {
    if (c.outcome == Outcome::kMissing) report.missing.push_back(c.name);
  }
  report.stale = stale_cases(past, options.other_machines, candidate, is_judged(report));
  if (!is_judged(report)) report.blind_runs = blind_runs_before(past) + 1;
  return report;
}

std::optional<GateReport> recorded_judgement(const history::History& history, std::int64_t run) {
  GateReport report;
  const bool is_judged = history.read_judgement(
      run, [&report](const std::string& text) { report = report_from_json(results::parse_json(text)); });
  return is_judged ? std::optional{std::move(report)} : std::nullopt;
}

void record_judgement(history::History& history, std::int64_t run, const GateReport& report,
                      const std::set<std::string>& accepted) {
  history::GateVerdict judgement{.is_valid = is_judged(report),
                                 .is_blind = !is_judged(report),
                                 .epoch = report.epoch,
                                 .regressed = {},
                                 .text = results::compact(report_to_json(report))};
  for (const CaseReport& c : report.cases) {
    if (c.outcome == Outcome::kRegressed) {
      judgement.regressed.insert(c.key);
    } else if (!is_baseline(c)) {
      judgement.excluded.insert(c.key);
    } else if (judgement.is_valid) {
      judgement.baseline.insert(c.key);
    }
    if (!is_baseline(c)) judgement.findings.push_back({std::string{to_string(c.outcome)}, c.name, case_line(c)});
  }
  for (const Finding& finding : report.findings) {
    judgement.findings.push_back(
        {std::string{to_string(finding.outcome)}, std::string{to_string(finding.subject)}, finding.text});
  }
  history.record(run, judgement, accepted);
}

}  // namespace tbench::gate
