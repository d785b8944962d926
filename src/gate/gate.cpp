#include "tbench/gate/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "gate/judging_steps.hpp"
#include "tbench/compare/case_comparison.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/gate/gate_output.hpp"
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

std::vector<JudgedCase> cases_of(const RunsByCase& runs, const history::MeasuredRun& candidate) {
  std::vector<JudgedCase> cases;
  cases.reserve(candidate.cases.size());
  for (const results::MeasuredCase& c : candidate.cases) {
    if (is_ceiling(c.id)) continue;
    JudgedCase& judged = cases.emplace_back();
    judged.result = described(c);
    judged.measured = &c;
    judged.value = compare::value_of(c);
    judged.runs = &runs_of(runs, c.key);
    judged.reference = references_of(*judged.runs);
  }
  return cases;
}

/// Since the candidate, unless an earlier run was bad already.
void complete_since(CaseReport& c, const history::MeasuredRun& candidate) {
  if (!c.found_by.empty() && !c.first_bad) c.first_bad = {candidate.started, candidate.environment.commit};
}

void accept(std::vector<JudgedCase>& cases, const std::set<std::string>& keys) {
  for (JudgedCase& c : cases) {
    if (!c.value || !keys.contains(c.result.key)) continue;
    c.is_suspect = c.may_creep = c.creeps = false;
    c.result.verdict = Verdict::kPassed;
    c.result.note = c.result.note.empty() ? "accepted as the new normal" : c.result.note + "; accepted";
  }
}

void confirm(std::vector<JudgedCase>& cases, const GateOptions& options) {
  // Without a build to run against, a case that crept is told as that: the runs before say more than the last one.
  const auto is_sudden = [&](const JudgedCase& c) { return c.is_suspect && (options.confirm_last_good || !c.creeps); };
  std::vector<JudgedCase*> sudden;
  for (JudgedCase& c : cases) {
    if (is_sudden(c)) sudden.push_back(&c);
  }
  confirm_suspects(std::move(sudden), options.confirm_last_good, options.max_suspects);
  std::vector<JudgedCase*> slow;
  for (JudgedCase& c : cases) {
    const bool is_open = !is_sudden(c) || c.result.verdict == Verdict::kRetried;
    if (c.may_creep && is_open) slow.push_back(&c);
  }
  confirm_creeps(std::move(slow), options.confirm_pinned, options.max_suspects);
}

/// Most of the processes say that the host's time limits the case.
bool is_host_bound(const results::MeasuredCase& c) {
  const auto bound =
      std::ranges::count_if(c.replicates, [](const results::Replicate& r) { return r.host_bound.value_or(false); });
  return 2 * static_cast<std::size_t>(bound) > c.replicates.size();
}

/// A host that is not as it was makes the cases invalid that it limits, and no others. Of one that is HOST more is
/// known: the GPU did not change.
void drop_host_bound(std::vector<JudgedCase>& cases) {
  for (JudgedCase& c : cases) {
    if (!c.value || c.result.verdict == Verdict::kHost || !is_host_bound(*c.measured)) continue;
    c.is_suspect = c.may_creep = c.creeps = false;
    c.result.verdict = Verdict::kInvalid;
    c.result.found_by.clear();
    c.result.note = "the host limits it, and is not as in earlier runs";
  }
}

void judge_cases(GateReport& report, const RunsByCase& runs, const history::MeasuredRun& candidate,
                 const std::map<std::string, stats::DispersionPrior>& dispersions, const GateOptions& options) {
  std::vector<JudgedCase> cases = cases_of(runs, candidate);
  if (report.is_valid) {
    screen(cases, dispersions, options.tau);
    if (!report.host_is_valid) drop_host_bound(cases);
    accept(cases, options.accepted);
    confirm(cases, options);
  }
  for (JudgedCase& c : cases) {
    if (!report.is_valid) c.result.verdict = Verdict::kInvalid;
    complete_since(c.result, candidate);
    report.cases.push_back(std::move(c.result));
  }
}

/// The machine as the ceilings tell of it. A change for good begins an epoch, to which the candidate belongs.
void judge_machine(GateReport& report, const std::vector<history::PastRun>& past, const history::MeasuredRun& candidate,
                   bool is_accepted) {
  report.epoch = current_epoch(past, candidate.epoch);
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

std::size_t processes_of(const history::MeasuredRun& run) {
  std::size_t processes = 0;
  for (const results::MeasuredCase& c : run.cases) processes = std::max(processes, c.replicates.size());
  return processes;
}

bool has_ceilings(const history::MeasuredRun& run) {
  return std::ranges::any_of(run.cases, [](const results::MeasuredCase& c) { return is_ceiling(c.id); });
}

}  // namespace

GateReport judge_run(const std::vector<history::PastRun>& past, const history::MeasuredRun& candidate,
                     const std::optional<NullControlSides>& null_control, const GateOptions& options) {
  GateReport report;
  report.started = candidate.started;
  report.commit = candidate.environment.commit;
  report.fingerprint = candidate.fingerprint;
  report.processes = static_cast<std::int64_t>(processes_of(candidate));
  report.warnings = candidate.warnings;
  if (!has_ceilings(candidate)) {
    report.warnings.emplace_back("no Ceiling cases were measured, so a change of the machine would go unnoticed");
  }
  judge_machine(report, past, candidate, !options.accepted.empty());
  report.runs = std::ranges::count_if(
      past, [&](const history::PastRun& run) { return run.is_valid && run.run.epoch == report.epoch; });
  RunsByCase runs = runs_by_case(past, report.epoch);
  add_other_machines(runs, options.other_machines, candidate.epoch);
  const std::map<std::string, stats::DispersionPrior> dispersions = known_dispersions(runs);
  if (null_control) report.null_control = check_null_control(*null_control, dispersions);
  judge_cases(report, runs, candidate, dispersions, options);
  if (report.is_valid) report.epoch_shift = epoch_shift(past, report.epoch, candidate, options.tau);
  report.missing = missing_cases(past, report.epoch, candidate);
  report.stale = stale_cases(past, options.other_machines, candidate, report.is_valid);
  if (is_blind(report)) report.blind_runs = blind_runs_before(past) + 1;
  return report;
}

std::optional<GateReport> recorded_judgement(const history::History& history, std::int64_t run) {
  GateReport report;
  const bool is_judged = history.read_judgement(
      run, [&report](const std::string& text) { report = report_from_json(results::Json::parse(text)); });
  return is_judged ? std::optional{std::move(report)} : std::nullopt;
}

void record_judgement(history::History& history, std::int64_t run, const GateReport& report,
                      const std::set<std::string>& accepted) {
  history::Judgement judgement{.is_valid = report.is_valid,
                               .is_blind = is_blind(report),
                               .epoch = report.epoch,
                               .regressed = {},
                               .text = results::compact(report_to_json(report))};
  for (const CaseReport& c : report.cases) {
    if (c.verdict == Verdict::kRegressed) judgement.regressed.insert(c.key);
  }
  history.record(run, judgement, accepted);
}

}  // namespace tbench::gate
