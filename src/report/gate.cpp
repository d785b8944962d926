#include "tbench/report/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gate_confirmation.hpp"
#include "gate_machine.hpp"
#include "gate_reference.hpp"
#include "gate_screen.hpp"

namespace tbench::report {
namespace {

NightCase described(const ComparedCase& c) {
  NightCase result;
  result.name = c.id.name();
  result.family = c.id.family();
  result.key = c.key;
  if (const std::optional<double> value = value_of(c)) result.tonight = Seconds{std::exp(*value)};
  return result;
}

std::vector<JudgedCase> cases_of(const NightsByCase& nights, const MeasuredRun& tonight) {
  std::vector<JudgedCase> cases;
  cases.reserve(tonight.cases.size());
  for (const ComparedCase& c : tonight.cases) {
    if (is_ceiling(c.id)) continue;
    JudgedCase& judged = cases.emplace_back();
    judged.result = described(c);
    judged.measured = &c;
    judged.value = value_of(c);
    judged.nights = &nights_of(nights, c.key);
    judged.reference = references_of(*judged.nights);
  }
  return cases;
}

/// Since tonight, unless a night before was bad already.
void complete_since(NightCase& c, const MeasuredRun& tonight) {
  if (!c.found_by.empty() && !c.first_bad) c.first_bad = {tonight.started, tonight.environment.commit};
}

void accept(std::vector<JudgedCase>& cases, const std::set<std::string>& keys) {
  for (JudgedCase& c : cases) {
    if (!c.value || !keys.contains(c.result.key)) continue;
    c.is_candidate = false;
    c.creeps = false;
    c.result.verdict = NightVerdict::kPassed;
    c.result.note = c.result.note.empty() ? "accepted as the new normal" : c.result.note + "; accepted";
  }
}

void confirm(std::vector<JudgedCase>& cases, const GateOptions& options) {
  std::vector<JudgedCase*> sudden;
  for (JudgedCase& c : cases) {
    if (c.is_candidate) sudden.push_back(&c);
  }
  confirm_candidates(std::move(sudden), options.confirm_last_good, options.most_candidates, NightVerdict::kUnconfirmed);
  std::vector<JudgedCase*> slow;
  for (JudgedCase& c : cases) {
    const bool is_open = !c.is_candidate || c.result.verdict == NightVerdict::kRetried;
    if (c.creeps && is_open) slow.push_back(&c);
  }
  confirm_candidates(std::move(slow), options.confirm_pinned, options.most_candidates, NightVerdict::kCreep);
}

void judge_cases(NightReport& report, const NightsByCase& nights, const MeasuredRun& tonight,
                 const std::map<std::string, double>& spreads, const GateOptions& options) {
  std::vector<JudgedCase> cases = cases_of(nights, tonight);
  if (report.is_valid) {
    screen(cases, spreads, options.tau);
    accept(cases, options.accepted);
    confirm(cases, options);
  }
  for (JudgedCase& c : cases) {
    if (!report.is_valid) c.result.verdict = NightVerdict::kInvalid;
    complete_since(c.result, tonight);
    report.cases.push_back(std::move(c.result));
  }
}

std::size_t processes_of(const MeasuredRun& run) {
  std::size_t most = 0;
  for (const ComparedCase& c : run.cases) most = std::max(most, c.replicates.size());
  return most;
}

bool has_ceilings(const MeasuredRun& run) {
  return std::ranges::any_of(run.cases, [](const ComparedCase& c) { return is_ceiling(c.id); });
}

}  // namespace

NightReport judge_night(const std::vector<PastRun>& past, const MeasuredRun& tonight,
                        const std::optional<NullControlSides>& null_control, const GateOptions& options) {
  NightReport report;
  report.started = tonight.started;
  report.commit = tonight.environment.commit;
  report.fingerprint = tonight.fingerprint;
  report.epoch = tonight.epoch;
  report.processes = static_cast<std::int64_t>(processes_of(tonight));
  report.nights =
      std::ranges::count_if(past, [&](const PastRun& run) { return run.is_valid && run.run.epoch == tonight.epoch; });
  report.warnings = tonight.warnings;
  if (!has_ceilings(tonight)) {
    report.warnings.emplace_back("no Ceiling cases were measured: whether the machine is as it was is not checked");
  }
  const NightsByCase nights = nights_by_case(past, tonight.epoch);
  report.ceilings = check_ceilings(nights, tonight);
  report.is_valid = std::ranges::all_of(report.ceilings, &CeilingCheck::is_within);
  const std::map<std::string, double> spreads = known_spreads(nights);
  if (null_control) report.null_control = check_null_control(*null_control, spreads);
  judge_cases(report, nights, tonight, spreads, options);
  if (report.is_valid) report.epoch_shift = epoch_shift(past, tonight, options.tau);
  report.missing = missing_cases(past, tonight);
  report.stale = stale_cases(past, tonight, report.is_valid);
  return report;
}

}  // namespace tbench::report
