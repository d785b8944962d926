#include "gate/gate_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "tbench/core/run_order.hpp"
#include "tbench/core/text.hpp"

namespace tbench::gate {
namespace {

constexpr std::int64_t kMaxAhead = 3600;  // seconds by which a run's clock may be ahead of this machine's clock
/// Minimum number of timed records of a run without digests that is searched for copies. In a smaller run, medians and
/// clocks may be equal by chance, since both have steps.
constexpr std::size_t kMinCopied = 6;

Finding replay(std::string text) {
  return {.outcome = Outcome::kReplayed, .subject = Subject::kWhole, .text = std::move(text), .stops_judging = true};
}

using CasesByKey = std::unordered_map<std::string_view, const results::MeasuredCase*>;

bool is_copy(const results::Replicate& a, const results::Replicate& b) {
  return a.time && b.time && a.time->value == b.time->value && a.sm_clock == b.sm_clock;
}

/// Counts the records of the case that are also in the other case.
std::size_t copies_in(const results::MeasuredCase& c, const results::MeasuredCase& other) {
  return static_cast<std::size_t>(std::ranges::count_if(c.replicates, [&](const results::Replicate& r) {
    return std::ranges::any_of(other.replicates, [&](const results::Replicate& known) { return is_copy(r, known); });
  }));
}

/// Returns the earlier run from which most records are copied, or nullptr.
const history::PastRun* copied_run(const std::vector<history::PastRun>& past, const history::MeasuredRun& run) {
  CasesByKey cases;
  std::size_t records = 0;
  for (const results::MeasuredCase& c : run.cases) {
    cases.emplace(c.key, &c);
    records += static_cast<std::size_t>(
        std::ranges::count_if(c.replicates, [](const results::Replicate& r) { return r.time.has_value(); }));
  }
  if (records < kMinCopied) return nullptr;
  for (const history::PastRun& earlier : past) {
    std::size_t copies = 0;
    for (const results::MeasuredCase& known : earlier.run.cases) {
      const auto found = cases.find(known.key);
      if (found != cases.end()) copies += copies_in(*found->second, known);
    }
    if (2 * copies > records) return &earlier;
  }
  return nullptr;
}

/// Returns the name of a case with equal samples in two processes; empty if there is none.
std::string repeated_case(const history::MeasuredRun& run) {
  std::set<std::uint64_t> seen;
  for (const results::MeasuredCase& c : run.cases) {
    for (const results::Replicate& r : c.replicates) {
      if (r.samples_digest && !seen.insert(*r.samples_digest).second) return c.id.name();
    }
  }
  return "";
}

}  // namespace

std::optional<Finding> find_wrong_clock(const history::MeasuredRun& run, const NightFacts& facts) {
  std::vector<std::string> problems;
  if (facts.later_runs > 0) {
    problems.push_back(fmt::format("{} dated later than {}, and came before",
                                   counted(facts.later_runs, "run is", "runs are"), run.started));
  }
  const auto started = parse_timestamp(run.started);
  const auto now = parse_timestamp(facts.now);
  if (started && now && *started - *now >= kMaxAhead) {
    problems.push_back(fmt::format("the run began at {}, and now it is {}", run.started, facts.now));
  }
  if (problems.empty()) return std::nullopt;
  return Finding{.outcome = Outcome::kIncomplete,
                 .subject = Subject::kClock,
                 .text = "the clock is wrong: " + join(problems, "; "),
                 .stops_judging = true};
}

std::optional<Finding> find_replay(const std::vector<history::PastRun>& past, const history::MeasuredRun& run,
                                   const NightFacts& facts) {
  for (const results::MeasuredCase& c : run.cases) {
    for (const results::Replicate& r : c.replicates) {
      if (!r.samples_digest) continue;
      const auto known = facts.known_samples.find(*r.samples_digest);
      if (known == facts.known_samples.end()) continue;
      return replay(fmt::format("{} has the samples of the run of {}", c.id.name(), known->second));
    }
  }
  if (const history::PastRun* const earlier = copied_run(past, run)) {
    return replay(fmt::format("most times are those of the run of {}", earlier->run.started));
  }
  const std::string repeated = repeated_case(run);
  if (repeated.empty()) return std::nullopt;
  return replay(fmt::format("two records have the same samples, one of them {}", repeated));
}

std::optional<Finding> find_other_processes(const history::MeasuredRun& run) {
  const std::int64_t at_start = run.other_processes.value_or(0);
  const std::int64_t others = at_start > 0 ? at_start : run.other_processes_at_end.value_or(0);
  if (others == 0) return std::nullopt;
  return Finding{
      .outcome = Outcome::kEnvironment,
      .subject = Subject::kMachine,
      .text = fmt::format("{} used the GPU when the run {}", counted(others, "other process", "other processes"),
                          at_start > 0 ? "began" : "ended"),
      .stops_judging = true};
}

std::vector<Finding> evidence_of(const std::vector<history::PastRun>& past, const history::MeasuredRun& run,
                                 const NightFacts& facts, bool has_null_control) {
  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> finding) {
    if (finding) findings.push_back(*std::move(finding));
  };
  add(find_gaps(run));
  add(find_wrong_clock(run, facts));
  add(find_replay(past, run, facts));
  add(find_missing_ceilings(past, run));
  add(find_other_processes(run));
  if (facts.expects_null_control && !has_null_control) {
    add(Finding{.outcome = Outcome::kIncomplete,
                .subject = Subject::kNullControl,
                .text = "no null control was given, and the last judged run had one; give --null-a and --null-b",
                .stops_judging = true});
  }
  return findings;
}

}  // namespace tbench::gate
