// Draws a conclusion from a gate's report, by rules.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/text.hpp"
#include "tbench/gate/gate_output.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::gate {
namespace {

using Texts = std::vector<std::string>;

/// Outcomes that need a review, the most important first.
constexpr std::array kUncertain{Outcome::kUnconfirmed, Outcome::kCreep, Outcome::kUndecided,
                                Outcome::kHost,        Outcome::kClock, Outcome::kNotJudged};
constexpr std::size_t kMaxTold = 3;  // maximum number of cases per outcome; the JSON has them all

constexpr const char* kProgram = "transformer_bench";

std::vector<const CaseReport*> cases_of(const GateReport& report, Outcome outcome) {
  std::vector<const CaseReport*> cases;
  for (const CaseReport& c : report.cases) {
    if (c.outcome == outcome) cases.push_back(&c);
  }
  return cases;
}

Texts names_of(const std::vector<const CaseReport*>& cases) {
  Texts names;
  for (const CaseReport* c : cases) names.push_back(c->name);
  return names;
}

std::optional<Outcome> first_uncertain(const GateReport& report) {
  const auto has = [&](Outcome outcome) {
    return std::ranges::any_of(report.cases, [&](const CaseReport& c) {
      return c.outcome == outcome && (c.is_expected || outcome != Outcome::kNotJudged);
    });
  };
  const auto found = std::ranges::find_if(kUncertain, has);
  return found == kUncertain.end() ? std::nullopt : std::optional{*found};
}

bool has_failed_control(const GateReport& report) { return report.null_control && report.null_control->has_failed; }

void add_ceilings(Texts& why, const GateReport& report, Resource resource) {
  for (const CeilingCheck& check : report.ceilings) {
    if (check.resource == resource && !check.is_within) why.push_back(ceiling_line(check));
  }
}

void add_machine(Texts& why, const GateReport& report) {
  for (const Finding& finding : report.findings) {
    why.push_back(fmt::format("{} {}: {}", to_string(finding.outcome), to_string(finding.subject), finding.text));
  }
  if (!report.is_valid) {
    why.emplace_back("the GPU differs from earlier runs, so nothing is gated and the build is not kept");
    add_ceilings(why, report, Resource::kDevice);
  }
  if (!report.host_is_valid) {
    why.emplace_back("the host differs from earlier runs, so cases that it limits are not gated");
    add_ceilings(why, report, Resource::kHost);
  }
  if (has_failed_control(report)) {
    why.push_back("two runs of the same build differ, so no case fails: " + join(report.null_control->rejected, ", "));
  }
  if (report.blind_runs > 1) why.push_back(blind_line(report));
  if (!report.machine_change) return;
  why.emplace_back(report.machine_change->was_accepted
                       ? "the machine's new level was accepted: every series starts afresh"
                       : fmt::format("the machine changed for good, as {} runs agree: every series starts afresh",
                                     report.machine_change->runs));
  for (const CeilingCheck& check : report.machine_change->ceilings) why.push_back(ceiling_line(check));
}

/// Returns whether the conclusion mentions a case; for the others, a count is enough.
bool is_told(const GateReport& report, const CaseReport& c) {
  if (c.outcome == Outcome::kNotJudged) return is_judged(report) && c.is_expected;
  return c.outcome != Outcome::kNew && c.outcome != Outcome::kSame;
}

void add_cases(Texts& why, const GateReport& report) {
  for (const Outcome outcome : kAllOf<Outcome>) {
    std::vector<const CaseReport*> cases = cases_of(report, outcome);
    std::erase_if(cases, [&](const CaseReport* c) { return !is_told(report, *c); });
    for (std::size_t i = 0; i < std::min(cases.size(), kMaxTold); ++i) {
      const std::string line = case_line(*cases[i]);
      why.push_back(fmt::format("{} {}{}{}", to_string(outcome), cases[i]->name, line.empty() ? "" : ": ", line));
    }
    if (cases.size() > kMaxTold) why.push_back(fmt::format("{} more {}", cases.size() - kMaxTold, to_string(outcome)));
  }
}

/// Returns `2 earlier valid runs of this machine and its libraries`.
std::string earlier_runs(std::int64_t runs) {
  return counted(runs, "earlier valid run") + " of this machine and its libraries";
}

void add_rest(Texts& why, const GateReport& report) {
  const std::size_t same = count_of(report, Outcome::kSame);
  const std::size_t is_new = count_of(report, Outcome::kNew);
  if (same > 0) why.push_back(fmt::format("{} SAME as in {}", same, counted(report.runs, "earlier run")));
  if (is_new > 0) {
    why.push_back(fmt::format("{} NEW: {}, too few to judge by", is_new, earlier_runs(report.runs)));
  }
  const auto left = std::ranges::count_if(
      report.cases, [&](const CaseReport& c) { return c.outcome == Outcome::kNotJudged && !is_told(report, c); });
  if (left > 0) why.push_back(fmt::format("{} NOT_JUDGED", left));
}

std::string series_command(const GateInput& input, const Texts& names) {
  const Texts words{"tbench", "history", "--db=" + input.db, results::exact_filter(names)};
  return results::command_line(words);
}

/// Returns the command that judges the run again with the build in `folder`.
std::string confirm_command(const GateInput& input, const char* flag, const char* folder) {
  const auto program = [&](const char* build) {
    return fmt::format("{}/{}{}", build, kProgram, results::flags_for({.of_all = input.run.of_all, .filter = {}}, {}));
  };
  Texts words{"tbench", "gate", "--db=" + input.db};
  words.insert(words.end(), input.files.begin(), input.files.end());
  words.insert(words.end(), {"--again", fmt::format("{}={}", flag, program(folder)), "--new=" + program("NEW")});
  return results::command_line(words);
}

std::string ceilings_command(const GateReport& report, const GateInput& input, Resource resource) {
  Texts names;
  for (const CeilingCheck& check : report.ceilings) {
    if (check.resource == resource && !check.is_within) names.push_back(check.name);
  }
  return fmt::format("{}{}", kProgram, results::flags_for(input.run, names));
}

std::string control_command(const GateReport& report, const GateInput& input) {
  if (input.null_a.empty()) {
    Texts names = report.null_control->rejected;
    for (std::string& name : names) name = name.substr(0, name.rfind(" ("));  // NAME (+0.50 %)
    const std::string measure = kProgram + results::flags_for(input.run, names) + " --tb_processes=5 --benchmark_out=";
    return fmt::format("{0}a.json; {0}b.json; tbench diff a.json b.json", measure);
  }
  Texts words{"tbench", "diff"};
  words.insert(words.end(), input.null_a.begin(), input.null_a.end());
  words.emplace_back("--to");
  words.insert(words.end(), input.null_b.begin(), input.null_b.end());
  return results::command_line(words);
}

std::string after_uncertain(const GateReport& report, const GateInput& input, Outcome outcome) {
  const std::vector<const CaseReport*> cases = cases_of(report, outcome);
  const std::string& first = cases.front()->name;
  if (outcome == Outcome::kUnconfirmed) return confirm_command(input, "--good", "GOOD");
  if (outcome == Outcome::kCreep) return confirm_command(input, "--pinned", "PINNED");
  if (outcome == Outcome::kHost) return results::limits_command(input.files.front(), first);
  if (outcome == Outcome::kClock || outcome == Outcome::kUndecided) return series_command(input, {first});
  if (!report.host_is_valid) return ceilings_command(report, input, Resource::kHost);
  return results::isolate_command(kProgram, input.run, names_of(cases));
}

/// Returns the command that runs the failed cases, each in its own process. Without failures, it returns the command
/// that shows the series of the case with the largest slowdown, or nullopt if no case is slower.
std::optional<std::string> after_failures(const GateReport& report, const GateInput& input) {
  std::vector<const CaseReport*> failed;
  std::vector<const CaseReport*> slower;
  for (const CaseReport& c : report.cases) {
    if (c.outcome == Outcome::kMissing || results::headline_of(c.outcome, c.is_confirmed) != Headline::kFailed)
      continue;
    (c.candidate && c.outcome >= Outcome::kRegressed ? slower : failed).push_back(&c);
  }
  if (!failed.empty()) return results::isolate_command(kProgram, input.run, names_of(failed));
  if (slower.empty()) return std::nullopt;
  const CaseReport& worst =
      **std::ranges::max_element(slower, {}, [](const CaseReport* c) { return c->ratio.value_or(1); });
  return series_command(input, {worst.name});
}

std::string next_of(const GateReport& report, const GateInput& input) {
  if (!report.is_valid) return ceilings_command(report, input, Resource::kDevice);
  if (has_failed_control(report)) return control_command(report, input);
  if (const auto command = after_failures(report, input)) return *command;
  if (report.machine_change || !is_judged(report)) return "";
  const std::optional<Outcome> uncertain = first_uncertain(report);
  return uncertain ? after_uncertain(report, input, *uncertain) : "";
}

}  // namespace

std::string heartbeat_line(const CaseReport& planted) {
  return fmt::format("change {} %, z {}, limit {:.1f} %{}{}",
                     planted.ratio ? render::format_change(*planted.ratio) : "unknown",
                     planted.z ? fmt::format("{:.1f}", *planted.z) : "unknown", 100 * planted.threshold,
                     planted.note.empty() ? "" : ", ", planted.note);
}

results::Conclusion gate_conclusion(const GateReport& report, const GateInput& input) {
  results::Conclusion conclusion{
      .outcome = std::string{to_string(headline_of(report))}, .why = {}, .next = next_of(report, input)};
  add_machine(conclusion.why, report);
  add_cases(conclusion.why, report);
  add_rest(conclusion.why, report);
  if (report.cases.empty()) conclusion.why.emplace_back("the run has no cases but ceilings");
  return conclusion;
}

results::Conclusion heartbeat_conclusion(const GateReport& report, const CaseReport& planted, const std::string& share,
                                         const GateInput& input) {
  const Outcome outcome = planted.outcome;
  const bool is_open = outcome == Outcome::kNew || outcome == Outcome::kUndecided || outcome == Outcome::kNotJudged;
  if (!report.is_valid || is_open) {
    results::Conclusion conclusion{.outcome = kUnknown, .why = {}};
    add_machine(conclusion.why, report);
    if (report.is_valid) {
      conclusion.why.push_back(
          fmt::format("{} is {}: {}", planted.name, to_string(outcome), earlier_runs(planted.runs)));
    }
    return conclusion;
  }
  const bool is_found = outcome == Outcome::kRegressed || outcome == Outcome::kUnconfirmed;
  return {.outcome = is_found ? "FOUND" : kBlind,
          .why = {fmt::format("{} was slowed down by {} and is {}: {}", planted.name, share, to_string(outcome),
                              heartbeat_line(planted))},
          .next = is_found ? "" : series_command(input, {planted.name})};
}

}  // namespace tbench::gate
