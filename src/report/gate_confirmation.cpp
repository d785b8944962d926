#include "gate_confirmation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "case_comparison.hpp"
#include "tbench/core/gate_statistics.hpp"
#include "tbench/core/statistics.hpp"

namespace tbench::report {
namespace {

constexpr double kFamilyWiseError = 0.01;
constexpr std::size_t kLeastBlocks = 3;

void add_note(NightCase& c, const std::string& text) {
  if (text.empty()) return;
  c.note += (c.note.empty() ? "" : "; ") + text;
}

/// A case's processes on one side of a block, or of all.
using Processes = std::vector<const Replicate*>;

void collect(const std::vector<ComparedRun>& runs, const std::string& key, Processes& found) {
  for (const ComparedRun& run : runs) {
    for (const Observation& observation : run.observations) {
      if (match_key(observation.id) == key) found.push_back(&observation.replicate);
    }
  }
}

/// The mean of ln(time), or of ln(cycles), over the processes that are `ok`.
std::optional<double> mean_of(const Processes& processes, bool in_cycles) {
  std::vector<double> values;
  for (const Replicate* r : processes) {
    if (r->status != Status::kOk || !r->time || (in_cycles && !r->sm_clock)) continue;
    values.push_back(std::log(r->time->value) + (in_cycles ? std::log(r->sm_clock->value) : 0));
  }
  return values.empty() ? std::nullopt : std::optional{mean(values)};
}

/// What the blocks say about one case.
struct Evidence {
  JudgedCase* judged;
  Processes base;
  Processes next;
  std::vector<double> differences;  // of ln(time), one a block
  std::vector<double> in_cycles;    // the same of cycles, of the blocks that know them
  std::optional<ModeratedTest> test;
};

Evidence evidence_of(JudgedCase& judged, const std::vector<ConfirmationBlock>& blocks) {
  Evidence evidence{.judged = &judged, .base = {}, .next = {}, .differences = {}, .in_cycles = {}, .test = {}};
  const std::string& key = judged.result.key;
  for (const ConfirmationBlock& block : blocks) {
    Processes base;
    Processes next;
    collect(block.base, key, base);
    collect(block.next, key, next);
    const auto difference = [&](bool in_cycles) -> std::optional<double> {
      const std::optional<double> of_base = mean_of(base, in_cycles);
      const std::optional<double> of_next = mean_of(next, in_cycles);
      return of_base && of_next ? std::optional{*of_next - *of_base} : std::nullopt;
    };
    if (const auto time = difference(false)) evidence.differences.push_back(*time);
    if (const auto cycles = difference(true)) evidence.in_cycles.push_back(*cycles);
    std::ranges::move(base, std::back_inserter(evidence.base));
    std::ranges::move(next, std::back_inserter(evidence.next));
  }
  if (evidence.differences.size() >= kLeastBlocks) evidence.test = paired_t_test(evidence.differences);
  return evidence;
}

const Replicate* first_bad(const Processes& processes) {
  const auto found = std::ranges::find_if(processes, [](const Replicate* r) { return is_bad(r->status); });
  return found == processes.end() ? nullptr : *found;
}

std::optional<std::int64_t> peak_of(const Processes& processes) {
  std::optional<std::int64_t> peak;
  for (const Replicate* r : processes) {
    if (r->peak_bytes) peak = std::max(peak.value_or(0), *r->peak_bytes);
  }
  return peak;
}

std::string described(const Replicate& replicate) {
  return fmt::format("{}{}{}", to_string(replicate.status), replicate.reason.empty() ? "" : ": ", replicate.reason);
}

/// The verdict where a process of either build failed; nothing where none did.
std::optional<NightVerdict> status_verdict(const Evidence& evidence, NightCase& c) {
  const Replicate* in_next = first_bad(evidence.next);
  const Replicate* in_base = first_bad(evidence.base);
  if (in_next == nullptr) return std::nullopt;
  if (in_base == nullptr && !evidence.base.empty()) {
    add_note(c, "again when it was run again: " + described(*in_next));
    return NightVerdict::kRegressed;
  }
  add_note(c, "the kept build fails too: " + (in_base == nullptr ? std::string{"not there"} : described(*in_base)));
  return NightVerdict::kInvalid;
}

bool memory_regressed(const Evidence& evidence) {
  const auto base = peak_of(evidence.base);
  const auto next = peak_of(evidence.next);
  return base && next && memory_verdict(*base, *next) == Verdict::kRegressed;
}

NightVerdict time_verdict(const Evidence& evidence, const NightCase& c) {
  const ModeratedTest& test = *evidence.test;
  const bool is_slower = *c.adjusted_p <= kFamilyWiseError && test.difference > std::log1p(c.threshold);
  if (!is_slower) return NightVerdict::kRetried;
  const bool all_clocks = evidence.in_cycles.size() == evidence.differences.size();
  if (all_clocks && !cycles_agree(test.difference, mean(evidence.in_cycles))) return NightVerdict::kClock;
  return NightVerdict::kRegressed;
}

void decide(const Evidence& evidence, std::optional<double> adjusted_p) {
  NightCase& c = evidence.judged->result;
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
    c.verdict = NightVerdict::kRegressed;
  } else if (evidence.test) {
    c.verdict = time_verdict(evidence, c);
  } else {
    c.verdict = NightVerdict::kInvalid;
    add_note(c, fmt::format("run again: only {} of {} blocks measured it on both sides", evidence.differences.size(),
                            kConfirmationBlocks));
  }
}

/// Failures first, then by how much slower.
double gravity(const JudgedCase* c) {
  return c->value ? c->result.ratio.value_or(1) : std::numeric_limits<double>::infinity();
}

}  // namespace

void confirm_candidates(std::vector<JudgedCase*> candidates, const Confirm& confirm, std::size_t most,
                        NightVerdict unconfirmed) {
  const auto leave = [&](JudgedCase* c, const std::string& why) {
    c->result.verdict = unconfirmed;
    add_note(c->result, why);
  };
  if (!confirm) {
    for (JudgedCase* c : candidates) leave(c, "not run again: there is no kept build");
    return;
  }
  std::ranges::stable_sort(candidates, std::ranges::greater{}, gravity);
  for (std::size_t i = most; i < candidates.size(); ++i) {
    leave(candidates[i], fmt::format("not run again: one of {} candidates, of which {} were", candidates.size(), most));
  }
  candidates.resize(std::min(candidates.size(), most));
  if (candidates.empty()) return;
  std::vector<std::string> names;
  for (const JudgedCase* c : candidates) names.push_back(c->result.name);
  const std::vector<ConfirmationBlock> blocks = confirm(names);
  std::vector<Evidence> all;
  std::vector<double> p_values;
  for (JudgedCase* c : candidates) {
    all.push_back(evidence_of(*c, blocks));
    if (all.back().test) p_values.push_back(all.back().test->p_value);
  }
  const std::vector<double> adjusted = holm(p_values);
  std::size_t next = 0;
  for (const Evidence& evidence : all) {
    decide(evidence, evidence.test ? std::optional{adjusted[next++]} : std::nullopt);
  }
}

}  // namespace tbench::report
