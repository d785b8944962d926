#include "gate/judging_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tbench/compare/case_comparison.hpp"
#include "tbench/stats/descriptive.hpp"
#include "tbench/stats/robust.hpp"

namespace tbench::gate {
namespace {

constexpr double kFamilyWiseError = 0.01;
constexpr std::size_t kMinBlocks = 3;

void add_note(CaseReport& c, const std::string& text) {
  if (text.empty()) return;
  c.note += (c.note.empty() ? "" : "; ") + text;
}

/// A case's processes on one side of a block, or of all.
using Processes = std::vector<const results::Replicate*>;

void collect(const std::vector<compare::ComparisonSide>& runs, const std::string& key, Processes& found) {
  for (const compare::ComparisonSide& run : runs) {
    for (const results::MeasuredCase& c : run.cases) {
      if (c.key != key) continue;
      for (const results::Replicate& replicate : c.replicates) found.push_back(&replicate);
    }
  }
}

/// What a process says of a step; nothing where it does not know.
using Measure = std::optional<double> (*)(const results::Replicate&);

std::optional<double> time_of(const results::Replicate& r) {
  return r.time ? std::optional{r.time->value} : std::nullopt;
}
std::optional<double> cycles_of(const results::Replicate& r) {
  return r.time && r.sm_clock ? std::optional{r.time->value * r.sm_clock->value} : std::nullopt;
}
std::optional<double> device_time_of(const results::Replicate& r) {
  return r.device_time ? std::optional{r.device_time->value} : std::nullopt;
}

/// The mean of the measure's logarithm over the processes that are `ok`.
std::optional<double> mean_of(const Processes& processes, Measure measure) {
  std::vector<double> values;
  for (const results::Replicate* r : processes) {
    const std::optional<double> value = r->status == Status::kOk ? measure(*r) : std::nullopt;
    if (value) values.push_back(std::log(*value));
  }
  return values.empty() ? std::nullopt : std::optional{stats::mean(values)};
}

/// What the blocks measured of one case.
struct Evidence {
  JudgedCase* judged;
  Processes base;
  Processes next;
  std::vector<double> differences;  // of ln(time), one a block
  std::vector<double> in_cycles;    // the same of cycles, of the blocks that know them
  std::vector<double> of_device;    // and of the GPU's time
  std::optional<stats::ModeratedTest> test;
};

Evidence evidence_of(JudgedCase& judged, const std::vector<ConfirmationBlock>& blocks) {
  Evidence evidence{
      .judged = &judged, .base = {}, .next = {}, .differences = {}, .in_cycles = {}, .of_device = {}, .test = {}};
  const std::string& key = judged.result.key;
  for (const ConfirmationBlock& block : blocks) {
    Processes base;
    Processes next;
    collect(block.base, key, base);
    collect(block.next, key, next);
    const auto add_difference = [&](Measure measure, std::vector<double>& differences) {
      const std::optional<double> of_base = mean_of(base, measure);
      const std::optional<double> of_next = mean_of(next, measure);
      if (of_base && of_next) differences.push_back(*of_next - *of_base);
    };
    add_difference(time_of, evidence.differences);
    add_difference(cycles_of, evidence.in_cycles);
    add_difference(device_time_of, evidence.of_device);
    std::ranges::move(base, std::back_inserter(evidence.base));
    std::ranges::move(next, std::back_inserter(evidence.next));
  }
  if (evidence.differences.size() >= kMinBlocks) evidence.test = stats::paired_t_test(evidence.differences);
  return evidence;
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

/// The verdict where a process of the new build failed; otherwise absent.
std::optional<Verdict> status_verdict(const Evidence& evidence, CaseReport& c) {
  const results::Replicate* in_next = first_bad(evidence.next);
  const results::Replicate* in_base = first_bad(evidence.base);
  if (in_next == nullptr) return std::nullopt;
  if (in_base == nullptr && !evidence.base.empty()) {
    add_note(c, "failed again in the confirmation: " + described(*in_next));
    return Verdict::kRegressed;
  }
  add_note(c,
           in_base == nullptr ? "the kept build has no results" : "the kept build fails too: " + described(*in_base));
  return Verdict::kInvalid;
}

bool memory_regressed(const Evidence& evidence) {
  const bool all_know = know_requested_peaks(evidence.base) && know_requested_peaks(evidence.next);
  const PeakOf peak_of = all_know ? &results::Replicate::requested_peak_bytes : &results::Replicate::peak_bytes;
  const auto base = largest(evidence.base, peak_of);
  const auto next = largest(evidence.next, peak_of);
  return base && next && compare::memory_verdict(*base, *next) == compare::Verdict::kRegressed;
}

/// The sides ran in turns on one machine: a lower clock is the new build's own doing, by the power that it draws, and a
/// slower host is the host's part of the new build.
Verdict time_verdict(const Evidence& evidence, CaseReport& c) {
  const stats::ModeratedTest& test = *evidence.test;
  const bool is_slower = *c.adjusted_p <= kFamilyWiseError && test.difference > std::log1p(c.threshold);
  if (!is_slower) return Verdict::kRetried;
  const auto is_unshared = [&](const std::vector<double>& differences) {
    return differences.size() == evidence.differences.size() &&
           !compare::shares_change(test.difference, stats::mean(differences));
  };
  if (is_unshared(evidence.of_device)) {
    add_note(c, "the GPU's time is the same with the new build: its host takes longer");
  } else if (is_unshared(evidence.in_cycles)) {
    add_note(c, "the clock is lower with the new build, the cycles are not more: it draws more power");
  }
  return Verdict::kRegressed;
}

void decide(const Evidence& evidence, std::optional<double> adjusted_p, std::size_t blocks) {
  CaseReport& c = evidence.judged->result;
  c.blocks = static_cast<std::int64_t>(evidence.differences.size());
  c.adjusted_p = adjusted_p;
  if (evidence.test) {
    c.confirmed_ratio = std::exp(evidence.test->difference);
    c.confirmed_low = std::exp(evidence.test->interval.low);
    c.confirmed_high = std::exp(evidence.test->interval.high);
  }
  if (const auto status = status_verdict(evidence, c)) {
    c.verdict = *status;
  } else if (memory_regressed(evidence)) {
    c.verdict = Verdict::kRegressed;
  } else if (evidence.test) {
    c.verdict = time_verdict(evidence, c);
  } else {
    c.verdict = Verdict::kInvalid;
    add_note(c, fmt::format("confirmation: only {} of {} blocks measured it on both sides", evidence.differences.size(),
                            blocks));
  }
}

/// Failures first, then by how much slower.
double gravity(const JudgedCase* c) {
  return c->value ? c->result.ratio.value_or(1) : std::numeric_limits<double>::infinity();
}

/// Runs the suspects again and decides them all.
void run_again(const std::vector<JudgedCase*>& suspects, const Confirm& confirm, std::size_t blocks) {
  if (suspects.empty()) return;
  std::vector<std::string> names;
  for (const JudgedCase* c : suspects) names.push_back(c->result.name);
  const std::vector<ConfirmationBlock> measured = confirm(names, blocks);
  std::vector<Evidence> all;
  std::vector<double> p_values;
  for (JudgedCase* c : suspects) {
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
std::vector<JudgedCase*> cut(std::vector<JudgedCase*>& suspects, std::size_t max_suspects) {
  std::ranges::stable_sort(suspects, std::ranges::greater{}, gravity);
  const std::size_t kept = std::min(suspects.size(), max_suspects);
  std::vector<JudgedCase*> others{suspects.begin() + static_cast<std::ptrdiff_t>(kept), suspects.end()};
  suspects.resize(kept);
  return others;
}

void leave(JudgedCase& c, Verdict verdict, const std::string& why) {
  c.result.verdict = verdict;
  add_note(c.result, why);
}

constexpr const char* kNoKeptBuild = "not confirmed: there is no kept build to run against";

}  // namespace

void confirm_suspects(std::vector<JudgedCase*> suspects, const Confirm& confirm, std::size_t max_suspects) {
  if (!confirm) {
    for (JudgedCase* c : suspects) leave(*c, Verdict::kUnconfirmed, kNoKeptBuild);
    return;
  }
  const std::size_t count = suspects.size();
  for (JudgedCase* c : cut(suspects, max_suspects)) {
    leave(*c, Verdict::kUnconfirmed,
          fmt::format("not confirmed: one of {} suspects, of which only {} were run again", count, max_suspects));
  }
  run_again(suspects, confirm, kConfirmationBlocks);
}

void confirm_creeps(std::vector<JudgedCase*> suspects, const Confirm& confirm, std::size_t max_suspects) {
  const auto leave_open = [](JudgedCase& c, const std::string& why) {
    if (c.creeps) leave(c, Verdict::kCreep, why);
  };
  if (!confirm) {
    for (JudgedCase* c : suspects) leave_open(*c, kNoKeptBuild);
    return;
  }
  const std::size_t count = suspects.size();
  for (JudgedCase* c : cut(suspects, max_suspects)) {
    leave_open(*c, fmt::format("not confirmed: one of {} that may creep, of which only {} were run again", count,
                               max_suspects));
  }
  std::vector<CaseReport> before;
  for (JudgedCase* c : suspects) {
    before.push_back(c->result);
    c->result.threshold = kCreepThreshold;
  }
  run_again(suspects, confirm, kCreepBlocks);
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    JudgedCase& c = *suspects[i];
    if (c.result.verdict == Verdict::kRetried && !c.creeps) {
      c.result = std::move(before[i]);
    } else if (c.result.found_by.empty()) {
      c.result.found_by = "creep";
    }
  }
}

}  // namespace tbench::gate
