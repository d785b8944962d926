#include "tbench/gate/gate_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "gate/run_outcomes.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/markup.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/table.hpp"

namespace tbench::gate {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t kMaxListed = 20;  // maximum number of names in a list; the JSON has them all

std::string described(const RunMark& mark) {
  return fmt::format("{} ({})", render::format_day(mark.started), render::format_commit(mark.commit));
}

std::string since_of(const CaseReport& c) { return c.first_bad ? described(*c.first_bad) : ""; }

std::string confirmed(const CaseReport& c) {
  if (!c.confirmed_ratio) return "";
  return fmt::format("{} ({} .. {})", render::format_change(*c.confirmed_ratio),
                     render::format_change(*c.confirmed_low), render::format_change(*c.confirmed_high));
}

/// Returns whether a case is listed. Cases that passed are not. New cases are not either, since in a first run every
/// case is new. Cases without a verdict are listed only if they are expected and the run was judged.
bool is_listed(const GateReport& report, const CaseReport& c) {
  if (c.outcome == Outcome::kNotJudged) return is_judged(report) && c.is_expected;
  return c.outcome != Outcome::kSame && c.outcome != Outcome::kNew;
}

render::Table table_of(const std::vector<const CaseReport*>& cases) {
  using enum render::Align;
  render::Table table{{{"outcome", kLeft},
                       {"case", kLeft},
                       {"usual ms", kRight},
                       {"new ms", kRight},
                       {"change %", kRight},
                       {"device %", kRight},
                       {"z", kRight},
                       {"confirmed %", kRight},
                       {"found by", kLeft},
                       {"since", kLeft},
                       {"note", kLeft}}};
  for (const CaseReport* c : cases) {
    table.add_row({std::string{to_string(c->outcome)}, c->name, render::format_milliseconds(c->reference),
                   render::format_milliseconds(c->candidate), render::format_change(c->ratio),
                   render::format_change(c->device_ratio), c->z ? fmt::format("{:.1f}", *c->z) : "", confirmed(*c),
                   c->found_by, since_of(*c), c->note});
  }
  return table.without_spare_columns(std::nullopt);
}

std::vector<const CaseReport*> listed_cases(const GateReport& report) {
  std::vector<const CaseReport*> cases;
  for (const CaseReport& c : report.cases) {
    if (is_listed(report, c)) cases.push_back(&c);
  }
  std::ranges::stable_sort(cases, {}, [](const CaseReport* c) { return c->outcome; });
  return cases;
}

void put_header(render::Page& page, const GateReport& report) {
  page.line("run", fmt::format("{}, commit {}, {}", report.started, render::format_commit(report.commit),
                               counted(report.processes, "process", "processes")));
  page.line("machine", report.fingerprint);
  page.line("epoch", report.epoch);
  page.line("against", report.runs == 0 ? "nothing yet: the first valid run of this epoch"
                                        : counted(report.runs, "valid run") + " of this epoch");
}

Texts described(const std::vector<CeilingCheck>& ceilings) {
  Texts lines;
  for (const CeilingCheck& check : ceilings) lines.push_back(ceiling_line(check));
  return lines;
}

/// Returns the ceilings of a resource that are not within their tolerance.
Texts off_of(const GateReport& report, Resource resource) {
  std::vector<CeilingCheck> off;
  std::ranges::copy_if(report.ceilings, std::back_inserter(off),
                       [&](const CeilingCheck& c) { return c.resource == resource && !c.is_within; });
  return described(off);
}

void put_machine_change(render::Page& page, const MachineChange& change) {
  Texts lines = described(change.ceilings);
  lines.push_back(change.was_accepted
                      ? "accepted by --accept: every series starts afresh with this run"
                      : fmt::format("for good, by {} runs that agree: every series starts afresh with this one, and is "
                                    "gated from the next one on",
                                    change.runs));
  page.list("MACHINE_CHANGED", lines, kMaxListed);
}

/// Returns the result of the kept build's new run, for the first runs of an epoch.
Texts kept_build_lines(const KeptBuildRun& run) {
  if (run.cases == 0) return {"it was not run, so tonight's build is not kept"};
  Texts lines{fmt::format("{} measured with both builds, of which {} by more than two processes do",
                          counted(run.cases, "case"), counted(run.differing.size(), "differs", "differ"))};
  for (const std::string& name : run.differing) lines.push_back("differs: " + name);
  for (const std::string& name : run.lacking) lines.push_back("no time with the kept build: " + name);
  return lines;
}

void put_machine(render::Page& page, const GateReport& report) {
  if (!report.is_valid) {
    page.list("ENVIRONMENT: the GPU differs from earlier runs, so nothing is gated and the build is not kept",
              off_of(report, Resource::kDevice), kMaxListed);
  }
  if (!report.host_is_valid) {
    page.list("The host differs from earlier runs, so cases that it limits are not gated",
              off_of(report, Resource::kHost), kMaxListed);
  }
  if (report.machine_change) put_machine_change(page, *report.machine_change);
  if (report.null_control) {
    const AaControl& control = *report.null_control;
    Texts rejected = control.rejected;
    page.list(control.has_failed ? "The null control failed: two runs of the same build differ, so no case fails"
                                 : "Null control: differs at the 1 % level, as one case in a hundred does by chance",
              rejected, kMaxListed);
  }
  if (report.kept_build_run) {
    page.list("The kept build beside it, on a machine with few runs", kept_build_lines(*report.kept_build_run),
              kMaxListed);
  }
  if (!report.epoch_shift) return;
  const EpochShift& shift = *report.epoch_shift;
  Texts lines{
      fmt::format("before: {}", shift.from), fmt::format("now: {}", shift.to),
      fmt::format("{}, geometric mean {} %", counted(shift.cases, "case"), render::format_change(shift.mean_ratio))};
  for (const ShiftOfCase& c : shift.beyond)
    lines.push_back(fmt::format("{} {} %", c.name, render::format_change(c.ratio)));
  page.list(report.machine_change
                ? "What that did to the cases"
                : "A new epoch: machine, libraries or measurement changed, so every series starts afresh",
            lines, kMaxListed);
}

void put_since(render::Page& page, const std::vector<const CaseReport*>& cases) {
  Texts lines;
  for (const CaseReport* c : cases) {
    if (!c->first_bad || !c->last_good) continue;
    std::string text =
        fmt::format("{}: good on {}, bad from {}", c->name, described(*c->last_good), described(*c->first_bad));
    if (!c->since.empty()) text += "; " + join(c->since, "; ");
    lines.push_back(std::move(text));
  }
  page.list("What changed", lines, kMaxListed);
}

/// Returns a row of the table, which begins with its outcome; in red if the outcome is a failure.
std::string coloured(const std::string& line) {
  const std::optional<Outcome> outcome = parse_enum<Outcome>(std::string_view{line}.substr(0, line.find(' ')));
  const bool is_red = outcome && results::headline_of(*outcome) == Headline::kFailed;
  return is_red ? fmt::format("{}{}{}", render::kRed, line, render::kPlain) : line;
}

Texts counts_of(const GateReport& report) {
  const auto expected = std::ranges::count_if(report.cases, &CaseReport::is_expected);
  Texts parts;
  for (const auto& [outcome, count] : count_outcomes(report)) {
    parts.push_back(outcome == Outcome::kMissing ? fmt::format("{} of {} expected cases MISSING", count, expected)
                                                 : fmt::format("{} {}", count, to_string(outcome)));
  }
  return parts;
}

}  // namespace

std::string report_summary(const GateReport& report) {
  Texts parts;
  if (!report.cases.empty()) parts.push_back(join(counts_of(report), ", "));
  for (const OfRun& of : of_run(report)) parts.push_back(fmt::format("{}: {}", to_string(of.outcome), of.text));
  const bool is_part = is_judged(report) && !report.is_partial;
  return fmt::format("{}: {}. {}{}.", to_string(headline_of(report)), parts.empty() ? "no cases" : join(parts, "; "),
                     is_good(report) ? "May be kept" : "Not kept", is_part ? "" : ", not a baseline");
}

std::string ceiling_line(const CeilingCheck& check) {
  return fmt::format("{}: {} % against the median of the last runs, {:.1f} % allowed", check.name,
                     render::format_change(check.ratio), 100 * check.tolerance);
}

std::string blind_line(const GateReport& report) {
  const std::string line = fmt::format("nothing could be gated in {} in a row", counted(report.blind_runs, "run"));
  return report.blind_runs > kMaxBlindRuns ? line
                                           : fmt::format("{}; after more than {}, the gate is blind (exit status {})",
                                                         line, kMaxBlindRuns, kExitBlind);
}

std::string case_line(const CaseReport& c) {
  Texts parts;
  if (c.ratio && c.reference && c.candidate) {
    parts.push_back(fmt::format("{} % ({} -> {} ms)", render::format_change(*c.ratio),
                                render::format_milliseconds(c.reference), render::format_milliseconds(c.candidate)));
    if (c.device_ratio) parts.push_back(fmt::format("the GPU's time {} %", render::format_change(c.device_ratio)));
  }
  if (c.confirmed_ratio) parts.push_back(fmt::format("confirmed {} %", confirmed(c)));
  if (c.first_bad) parts.push_back("since " + since_of(c));
  if (!c.note.empty()) parts.push_back(c.note);
  return join(parts, ", ");
}

std::string report_page(const GateReport& report, const render::PageOptions& options) {
  constexpr std::size_t kLabelWidth = 8;
  render::Page page{options, report_summary(report), kLabelWidth};
  put_header(page, report);
  const std::vector<const CaseReport*> cases = listed_cases(report);
  if (!cases.empty()) {
    page.table(table_of(cases), coloured);
    put_since(page, cases);
  }
  put_machine(page, report);
  Texts findings;
  for (const Finding& finding : report.findings) {
    findings.push_back(fmt::format("{} {}: {}", to_string(finding.outcome), to_string(finding.subject), finding.text));
  }
  page.list("Nothing is judged in a run that is not whole, or that is not of now", findings, kMaxListed);
  if (report.blind_runs > 1) {
    const Texts runs{blind_line(report)};
    page.list(report.blind_runs > kMaxBlindRuns ? "The gate is blind" : "Nothing is gated", runs, kMaxListed);
  }
  page.list("No valid value for 48 hours", report.stale, kMaxListed);
  page.list("Warnings", report.warnings, kMaxListed);
  return std::move(page).take();
}

}  // namespace tbench::gate
