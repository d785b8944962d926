// Concludes a comparison in words, by rules over its cases.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison_commands.hpp"
#include "compare/output/words.hpp"
#include "tbench/compare/case_comparison.hpp"
#include "tbench/compare/case_values.hpp"
#include "tbench/compare/comparison_output.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::compare {
namespace {

using Case = CaseComparison;
using Texts = std::vector<std::string>;

constexpr std::size_t kMaxTold = 3;  // largest number of named cases per outcome; the JSON has all cases

constexpr const char* kCross = "CROSS";

std::vector<const Case*> cases_of(const Comparison& comparison, Outcome outcome) {
  std::vector<const Case*> cases;
  for (const Case& c : comparison.cases) {
    if (c.outcome == outcome) cases.push_back(&c);
  }
  return cases;
}

Texts names_of(const std::vector<const Case*>& cases) {
  Texts names;
  for (const Case* c : cases) names.push_back(c->id.name());
  return names;
}

std::vector<const Case*> those(const std::vector<const Case*>& cases, bool (*counts)(const Case&)) {
  std::vector<const Case*> found;
  std::ranges::copy_if(cases, std::back_inserter(found), [&](const Case* c) { return counts(*c); });
  return found;
}

bool has_failed(const Case& c) { return is_bad(c.next.status); }
bool is_slower(const Case& c) { return !has_failed(c) && c.ratio && *c.ratio > 1 + c.threshold; }

/// Returns a case's weight in the order of cases: cases that no longer run come first, then the largest change.
double weight_of(const Case* c) {
  return has_failed(*c) ? std::numeric_limits<double>::infinity() : std::abs(std::log(c->ratio.value_or(1)));
}
const Case& worst_of(const std::vector<const Case*>& cases) { return **std::ranges::max_element(cases, {}, weight_of); }

std::string percent(double ratio) { return fmt::format("{:+.2f} %", 100 * (ratio - 1)); }

/// Returns the change of a case: `+5.00 % (95 % interval +3.84 .. +6.17 %, threshold 2 %)`.
std::string change_of(const Case& c) {
  if (!c.ratio) return "";
  std::string text = percent(*c.ratio);
  if (c.judged_by == Measure::kDeviceTime) text += fmt::format(", the GPU's time in it {}", percent(*c.device_ratio));
  const std::optional<stats::Interval> interval = judged_interval(c);
  if (!interval) return text;
  return text + fmt::format(" ({}95 % interval {:+.2f} .. {:+.2f} %, threshold {:.3g} %)",
                            c.interval_is_within ? "from inside one process: " : "", 100 * (interval->low - 1),
                            100 * (interval->high - 1), 100 * c.threshold);
}

/// Returns the cause of a case's outcome, or how to decide it; empty if the change itself explains the outcome.
std::string cause_of(const Case& c) {
  switch (c.outcome.value()) {
    case Outcome::kHost:
      return fmt::format("the GPU's time in it {}: the host changed", percent(c.device_ratio.value_or(1)));
    case Outcome::kClock:
      return fmt::format("its clock cycles {}: the clock changed", percent(c.cycle_ratio.value_or(1)));
    case Outcome::kUndecided:
      if (c.known_test) {
        return fmt::format("two {} of one code differ by up to {:.1f} %, {} processes per side would tell more",
                           c.by_machines ? "machines" : "processes", 100 * c.known_limit.value(), kMinReplicates);
      }
      if (!is_tested(c)) {
        return fmt::format("{} and {} processes, a conclusion takes {} per side", c.base.replicates, c.next.replicates,
                           kMinReplicates);
      }
      return c.replicates_to_decide ? fmt::format("{} processes per side would decide", *c.replicates_to_decide)
                                    : fmt::format("more than {} processes per side would decide", kMaxReplicates);
    default:
      return "";
  }
}

/// Returns `REGRESSED CASE: CHANGE; CAUSE; NOTE` without the parts that are empty.
std::string sentence(const Case& c) {
  std::string text = fmt::format("{} {}", to_string(c.outcome.value()), c.id.name());
  const char* separator = ": ";
  for (const std::string& part : {change_of(c), cause_of(c), c.note}) {
    if (part.empty()) continue;
    text += separator + part;
    separator = "; ";
  }
  return text;
}

void add_cases(Texts& why, std::vector<const Case*> cases, Outcome outcome) {
  if (outcome == Outcome::kSame) {
    why.push_back(fmt::format("{} SAME: the 95 % interval of each change lies within the threshold", cases.size()));
    return;
  }
  std::ranges::stable_sort(cases, std::ranges::greater{}, weight_of);
  for (std::size_t i = 0; i < std::min(cases.size(), kMaxTold); ++i) why.push_back(sentence(*cases[i]));
  if (cases.size() > kMaxTold) why.push_back(fmt::format("{} more {}", cases.size() - kMaxTold, to_string(outcome)));
}

Texts cross_reasons(const Comparison& comparison) {
  const auto named = [](const std::string& device) { return device.empty() ? "an unknown device" : device; };
  Texts why{fmt::format("compared without verdicts: {} against {}", named(comparison.base.device),
                        named(comparison.next.device))};
  for (const FamilyMean& mean : comparison.families) {
    why.push_back(fmt::format("{}: new over base {:.4f}, geometric mean of {}", mean.family, mean.ratio,
                              counted(mean.cases, "case")));
  }
  return why;
}

void add_missing(Texts& why, const Texts& names, const char* side) {
  if (names.empty()) return;
  why.push_back(
      fmt::format("{} only in {}, first {}", counted(names.size(), "case is", "cases are"), side, names.front()));
}

std::string in_turns(const Comparison& comparison, Texts names) {
  if (names.size() == comparison.cases.size()) names.clear();
  return measure_in_turns(comparison.base.run, comparison.next.run, names, kUsualReplicates);
}

std::string after_regression(const Comparison& comparison, const std::vector<const Case*>& regressed) {
  const results::RunFlags& run = comparison.next.run;
  const std::vector<const Case*> failed = those(regressed, has_failed);
  if (!failed.empty()) return run_again(run, names_of(failed));
  const std::vector<const Case*> slower = those(regressed, is_slower);
  if (slower.empty()) {  // only their memory grew
    const Texts words{"tbench", "report",     comparison.base.paths.front(), comparison.next.paths.front(),
                      "-o",     "report.html"};
    return results::command_line(words);
  }
  if (comparison.one_after_the_other || run.program) return in_turns(comparison, names_of(slower));
  return results::profile_command(kNewProgram, run, worst_of(slower).id.name());
}

std::string next_of(const Comparison& comparison, Outcome outcome) {
  const std::vector<const Case*> cases = cases_of(comparison, outcome);
  switch (outcome) {
    case Outcome::kWrong:
    case Outcome::kError:
    case Outcome::kRegressed:
      return after_regression(comparison, cases);
    case Outcome::kLikelySlower:
    case Outcome::kLikelyFaster:
    case Outcome::kUndecided:
      return decide_what_is_open(comparison);
    case Outcome::kHost:
      return results::limits_command(comparison.next.paths.front(), worst_of(cases).id.name());
    case Outcome::kClock:
      return in_turns(comparison, names_of(cases));
    case Outcome::kImproved:
      return comparison.one_after_the_other ? in_turns(comparison, names_of(cases)) : "";
    case Outcome::kNotJudged: {
      const Texts failed = names_of(those(cases, has_failed));
      return failed.empty() ? "" : run_again(comparison.next.run, failed);
    }
    default:
      return "";
  }
}

}  // namespace

results::Conclusion comparison_conclusion(const Comparison& comparison) {
  results::Conclusion conclusion;
  if (comparison.cross) {
    conclusion.outcome = kCross;
    conclusion.why = cross_reasons(comparison);
  }
  std::optional<Outcome> gravest;
  for (const Outcome outcome : kAllOf<Outcome>) {
    const std::vector<const Case*> cases = cases_of(comparison, outcome);
    if (cases.empty()) continue;
    if (!gravest) gravest = outcome;
    add_cases(conclusion.why, cases, outcome);
  }
  if (gravest) {
    conclusion.outcome = to_string(*gravest);
    conclusion.next = next_of(comparison, *gravest);
    if (conclusion.next.empty() && comparison.one_after_the_other) conclusion.next = in_turns(comparison, {});
  }
  if (comparison.apart == Apart::kMachines) conclusion.why.push_back(sides_of(comparison));
  for (const std::string& shared : comparison.shared_gpus) conclusion.why.push_back(shared);
  if (comparison.one_after_the_other) conclusion.why.emplace_back(kOneAfterTheOther);
  add_missing(conclusion.why, comparison.only_in_base, "base");
  add_missing(conclusion.why, comparison.only_in_next, "new");
  return conclusion;
}

}  // namespace tbench::compare
