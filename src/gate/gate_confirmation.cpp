#include "gate/confirmation_evidence.hpp"
#include "gate/judging_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tbench/compare/case_comparison.hpp"
#include "tbench/compare/case_values.hpp"
#include "tbench/stats/descriptive.hpp"
#include "tbench/stats/robust.hpp"

namespace tbench::gate {
namespace {

constexpr double kFamilyWiseError = 0.01;

void add_note(CaseReport& c, const std::string& text) {
  if (text.empty()) return;
  c.note += (c.note.empty() ? "" : "; ") + text;
}

const results::Replicate* first_bad(const Processes& processes) {
  const auto found =
      std::ranges::find_if(processes, [](const results::Replicate* r) { return compare::is_bad(r->status); });
  return found == processes.end() ? nullptr : *found;
}

using PeakOf = std::optional<std::int64_t> results::Replicate::*;

std::optional<std::int64_t> largest(const Processes& processes, PeakOf peak_of) {
  std::optional<std::int64_t> peak;
  for (const results::Replicate* r : processes) {
    if (r->*peak_of) peak = std::max(peak.value_or(0), *(r->*peak_of));
  }
  return peak;
}

bool know_requested_peaks(const Processes& processes) {
  return std::ranges::all_of(
      processes, [](const results::Replicate* r) { return !r->peak_bytes || r->requested_peak_bytes.has_value(); });
}

std::string described(const results::Replicate& replicate) {
  return fmt::format("{}{}{}", to_string(replicate.status), replicate.reason.empty() ? "" : ": ", replicate.reason);
}

/// Returns the outcome if a process of the new build failed, in the candidate or in the confirmation, otherwise
/// nullopt.
std::optional<Outcome> status_outcome(const Evidence& evidence, CaseReport& c) {
  const results::Replicate* in_next = first_bad(evidence.next);
  const results::Replicate* in_base = first_bad(evidence.base);
  if (in_next == nullptr && !evidence.judged->has_failed) return std::nullopt;
  if (in_next == nullptr && evidence.next.empty()) {
    add_note(c, "the confirmation has no results");
    return c.outcome;
  }
  if (in_next == nullptr) {
    add_note(c, fmt::format("right in {} processes when run again", evidence.next.size()));
    return c.outcome == Outcome::kError ? Outcome::kError : Outcome::kFlaky;
  }
  if (in_base == nullptr && !evidence.base.empty()) {
    add_note(c, "failed again in the confirmation: " + described(*in_next));
    c.is_confirmed = true;
    return in_next->status == Status::kIncorrect ? Outcome::kWrong : Outcome::kError;
  }
  add_note(c,
           in_base == nullptr ? "the kept build has no results" : "the kept build fails too: " + described(*in_base));
  return Outcome::kNotJudged;
}

bool memory_regressed(const Evidence& evidence) {
  const bool all_know = know_requested_peaks(evidence.base) && know_requested_peaks(evidence.next);
  const PeakOf peak_of = all_know ? &results::Replicate::requested_peak_bytes : &results::Replicate::peak_bytes;
  const auto base = largest(evidence.base, peak_of);
  const auto next = largest(evidence.next, peak_of);
  return base && next && compare::memory_outcome(*base, *next) == Outcome::kRegressed;
}

/// Returns the outcome of the times. The sides alternated on one machine. Therefore a lower clock is an effect of the
/// new build, which draws more power, and a slower host is an effect of the new build's host code.
Outcome time_outcome(const Evidence& evidence, CaseReport& c) {
  const stats::ModeratedTest& test = *evidence.test;
  const bool is_slower = *c.adjusted_p <= kFamilyWiseError && test.difference > std::log1p(c.threshold);
  if (!is_slower) return Outcome::kRetried;
  const auto is_unshared = [&](const std::vector<double>& differences) {
    return differences.size() == evidence.differences.size() &&
           !compare::shares_change(test.difference, stats::mean(differences));
  };
  if (is_unshared(evidence.of_device)) {
    add_note(c, "the GPU's time is the same with the new build: its host takes longer");
  } else if (is_unshared(evidence.in_cycles)) {
    add_note(c, "the clock is lower with the new build, the cycles are not more: it draws more power");
  }
  c.is_confirmed = true;
  return Outcome::kRegressed;
}

/// Writes the change that the blocks show, with its interval, into the report.
void tell_ratio(const stats::ModeratedTest& test, CaseReport& c) {
  c.confirmed_ratio = std::exp(test.difference);
  c.confirmed_low = std::exp(test.interval.low);
  c.confirmed_high = std::exp(test.interval.high);
}

/// Notes in the report how few of the blocks measured the case on both sides.
void tell_few_blocks(const char* what, const Evidence& evidence, std::size_t blocks) {
  add_note(evidence.judged->result, fmt::format("{}: only {} of {} blocks measured it on both sides", what,
                                                evidence.differences.size(), blocks));
}

void decide(const Evidence& evidence, std::optional<double> adjusted_p, std::size_t blocks) {
  CaseReport& c = evidence.judged->result;
  c.blocks = static_cast<std::int64_t>(evidence.differences.size());
  c.adjusted_p = adjusted_p;
  if (evidence.test) tell_ratio(*evidence.test, c);
  if (const auto status = status_outcome(evidence, c)) {
    c.outcome = *status;
  } else if (memory_regressed(evidence)) {
    c.outcome = Outcome::kRegressed;
    c.is_confirmed = true;
  } else if (evidence.test) {
    c.outcome = time_outcome(evidence, c);
  } else {
    c.outcome = Outcome::kNotJudged;
    tell_few_blocks("confirmation", evidence, blocks);
  }
}

/// Decides whether the new build has a larger share of slow processes.
void decide_split(const Evidence& evidence) {
  CaseReport& c = evidence.judged->result;
  const auto slow_of = [&](const Processes& processes) {
    return static_cast<std::size_t>(std::ranges::count_if(processes, [&](const results::Replicate* r) {
      return r->status == Status::kOk && r->time && std::log(r->time->value) > evidence.judged->limit;
    }));
  };
  const std::size_t next = slow_of(evidence.next);
  const std::size_t base = slow_of(evidence.base);
  c.blocks = static_cast<std::int64_t>(evidence.differences.size());
  if (const auto status = status_outcome(evidence, c)) {
    c.outcome = *status;
    return;
  }
  if (evidence.next.empty() || evidence.base.empty()) {
    c.outcome = Outcome::kSplit;
    add_note(c, "not confirmed: the confirmation has no results of both builds");
    return;
  }
  add_note(c, fmt::format("run again: {} of {} slow, with the kept build {} of {}", next, evidence.next.size(), base,
                          evidence.base.size()));
  const double p =
      stats::share_p_value(next, evidence.next.size(), next + base, evidence.next.size() + evidence.base.size());
  c.is_confirmed = p <= kFamilyWiseError;
  c.outcome = c.is_confirmed ? Outcome::kSplit : Outcome::kRetried;
}

/// Decides whether a case that was faster is faster in the blocks, too.
void decide_improvement(const Evidence& evidence, std::size_t blocks) {
  CaseReport& c = evidence.judged->result;
  c.blocks = static_cast<std::int64_t>(evidence.differences.size());
  if (const auto status = status_outcome(evidence, c)) {
    c.outcome = *status;
  } else if (!evidence.test) {
    tell_few_blocks("not confirmed", evidence, blocks);
  } else {
    tell_ratio(*evidence.test, c);
    c.is_confirmed = evidence.test->interval.high < 0;
    if (!c.is_confirmed) c.outcome = Outcome::kRetried;
  }
}

/// Returns the key by which suspects are sorted: failures first, then the largest slowdowns.
double gravity(const CaseVerdict* c) {
  return c->value ? c->result.ratio.value_or(1) : std::numeric_limits<double>::infinity();
}

std::vector<ConfirmationBlock> measure_again(const std::vector<CaseVerdict*>& suspects, const Confirm& confirm,
                                             std::size_t blocks) {
  std::vector<std::string> names;
  for (const CaseVerdict* c : suspects) names.push_back(c->result.name);
  return confirm(names, blocks);
}

/// Runs the suspects again and decides on each of them.
void run_again(const std::vector<CaseVerdict*>& suspects, const Confirm& confirm, std::size_t blocks) {
  if (suspects.empty()) return;
  const std::vector<ConfirmationBlock> measured = measure_again(suspects, confirm, blocks);
  std::vector<Evidence> all;
  std::vector<double> p_values;
  for (CaseVerdict* c : suspects) {
    all.push_back(evidence_of(*c, measured));
    if (all.back().test) p_values.push_back(all.back().test->p_value);
  }
  const std::vector<double> adjusted = stats::holm(p_values);
  std::size_t next = 0;
  for (const Evidence& evidence : all) {
    decide(evidence, evidence.test ? std::optional{adjusted[next++]} : std::nullopt, blocks);
  }
}

/// Keeps the gravest `max_suspects`.
/// @return  the others
std::vector<CaseVerdict*> cut(std::vector<CaseVerdict*>& suspects, std::size_t max_suspects) {
  std::ranges::stable_sort(suspects, std::ranges::greater{}, gravity);
  const std::size_t kept = std::min(suspects.size(), max_suspects);
  std::vector<CaseVerdict*> others{suspects.begin() + static_cast<std::ptrdiff_t>(kept), suspects.end()};
  suspects.resize(kept);
  return others;
}

/// Leaves a case without another run, and notes why.
/// @param outcome  outcome of a case that is slower; a failure keeps its own
void leave(CaseVerdict& c, Outcome outcome, const std::string& why) {
  if (!c.has_failed) c.result.outcome = outcome;
  add_note(c.result, why);
}

constexpr const char* kNoKeptBuild = "not confirmed: there is no kept build to run against";

}  // namespace

void confirm_suspects(std::vector<CaseVerdict*> suspects, const Confirm& confirm, std::size_t max_suspects) {
  if (!confirm) {
    for (CaseVerdict* c : suspects) leave(*c, Outcome::kUnconfirmed, kNoKeptBuild);
    return;
  }
  const std::size_t count = suspects.size();
  for (CaseVerdict* c : cut(suspects, max_suspects)) {
    leave(*c, Outcome::kUnconfirmed,
          fmt::format("not confirmed: one of {} suspects, of which only {} were run again", count, max_suspects));
  }
  run_again(suspects, confirm, kConfirmationBlocks);
}

void confirm_improvements(std::vector<CaseVerdict*> faster, const Confirm& confirm, std::size_t max_suspects) {
  if (!confirm) {
    for (CaseVerdict* c : faster) add_note(c->result, kNoKeptBuild);
    return;
  }
  if (faster.empty()) return;
  std::ranges::stable_sort(faster, {}, [](const CaseVerdict* c) { return c->result.ratio.value_or(1); });
  const std::size_t again = std::min(faster.size(), max_suspects);
  const std::vector<CaseVerdict*> largest{faster.begin(), faster.begin() + static_cast<std::ptrdiff_t>(again)};
  const std::vector<ConfirmationBlock> measured = measure_again(largest, confirm, kConfirmationBlocks);
  for (CaseVerdict* c : largest) decide_improvement(evidence_of(*c, measured), kConfirmationBlocks);
  const bool are_all = std::ranges::all_of(largest, [](const CaseVerdict* c) { return c->result.is_confirmed; });
  for (std::size_t i = again; i < faster.size(); ++i) {
    faster[i]->result.is_confirmed = are_all;
    add_note(faster[i]->result,
             fmt::format("one of {} that are faster, of which the largest {} were run again", faster.size(), again));
  }
}

void confirm_creeps(std::vector<CaseVerdict*> suspects, const Confirm& confirm, std::size_t max_suspects) {
  const auto leave_open = [](CaseVerdict& c, const std::string& why) {
    if (!c.creeps_clearly) return;
    tell_creep(c);
    leave(c, Outcome::kCreep, why);
  };
  if (!confirm) {
    for (CaseVerdict* c : suspects) leave_open(*c, kNoKeptBuild);
    return;
  }
  const std::size_t count = suspects.size();
  for (CaseVerdict* c : cut(suspects, max_suspects)) {
    leave_open(
        *c, fmt::format("not confirmed: one of {} that creep, of which only {} were run again", count, max_suspects));
  }
  for (CaseVerdict* c : suspects) {
    tell_creep(*c);
    c->result.threshold = kCreepThreshold;
  }
  run_again(suspects, confirm, kCreepBlocks);
  for (CaseVerdict* c : suspects) {
    CaseReport& report = c->result;
    const bool is_open =
        report.outcome == Outcome::kRetried && report.confirmed_ratio.value_or(1) > 1 + kCreepThreshold / 2;
    // A case that only needs more memory stays REGRESSED.
    const bool is_slower =
        report.outcome == Outcome::kRegressed && report.confirmed_ratio.value_or(1) > 1 + kCreepThreshold;
    if (is_slower || is_open) report.outcome = Outcome::kCreep;
  }
}

void confirm_splits(std::vector<CaseVerdict*> suspects, const Confirm& confirm, std::size_t max_suspects) {
  const std::size_t count = suspects.size();
  if (!confirm) {
    for (CaseVerdict* c : suspects) leave(*c, Outcome::kSplit, kNoKeptBuild);
    return;
  }
  for (CaseVerdict* c : cut(suspects, max_suspects)) {
    leave(*c, Outcome::kSplit,
          fmt::format("not confirmed: one of {} suspects, of which only {} were run again", count, max_suspects));
  }
  if (suspects.empty()) return;
  const std::vector<ConfirmationBlock> measured = measure_again(suspects, confirm, kCreepBlocks);
  for (CaseVerdict* c : suspects) decide_split(evidence_of(*c, measured));
}

std::string split_text(const results::MeasuredCase& c, double limit, Seconds usual) {
  std::vector<double> slow;
  for (const double time : compare::log_times(c)) {
    if (time > limit) slow.push_back(100 * (std::exp(time) / usual.value - 1));
  }
  if (slow.empty()) return "";
  const auto [least, most] = std::ranges::minmax(slow);
  return fmt::format("{} of {} processes slower by {:.1f} to {:.1f} %", slow.size(), c.replicates.size(), least, most);
}

}  // namespace tbench::gate
