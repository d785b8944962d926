#include "facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/measured_case.hpp"

namespace tbench::tool {
namespace {

using history::ExpectedCase;
using history::History;
using history::MeasuredRun;

constexpr std::int64_t kNotYetAdded = 0;  // no run of the history has this id

void retire(const std::string& pattern, History& history, const MeasuredRun& run) {
  const CaseFilter passes{pattern, "--retire"};
  const std::vector<ExpectedCase> expected = history.expected(run, kNotYetAdded);
  std::set<std::string> keys;
  for (const ExpectedCase& c : expected) {
    if (passes(c.name)) keys.insert(c.key);
  }
  if (keys.empty()) {
    throw UsageError{
        fmt::format("--retire: none of {} expected cases matches '{}'; give the name of a case that is "
                    "MISSING",
                    expected.size(), pattern)};
  }
  history.retire(run, keys);
}

/// Returns NEW by OLD for all values, and refuses a name that occurs twice.
std::map<std::string, std::string> pairs_of(const std::vector<std::string>& renamed) {
  std::map<std::string, std::string> pairs;
  std::set<std::string> targets;
  for (const std::string& value : renamed) {
    const std::size_t sign = value.find('=');
    if (sign == std::string::npos || sign == 0 || sign + 1 == value.size()) {
      throw UsageError{fmt::format("--renamed: '{}' is not OLD=NEW; give two names of cases", value)};
    }
    const std::string old_name = value.substr(0, sign);
    const std::string new_name = value.substr(sign + 1);
    if (!pairs.emplace(old_name, new_name).second || !targets.insert(new_name).second) {
      throw UsageError{
          fmt::format("--renamed: '{}' is not unique: one of its names is in another --renamed, too", value)};
    }
  }
  return pairs;
}

void rename(const std::vector<std::string>& renamed, History& history, const MeasuredRun& run) {
  for (const auto& [old_name, new_name] : pairs_of(renamed)) {
    const CaseId from = results::case_of_name(old_name);
    const CaseId to = results::case_of_name(new_name);
    const auto is_in_run = [&](const CaseId& id) {
      return std::ranges::find(run.cases, results::match_key(id), &results::MeasuredCase::key) != run.cases.end();
    };
    if (!is_in_run(to)) {
      throw UsageError{fmt::format("--renamed: '{}' is not in the run; give the name that it has now", new_name)};
    }
    if (is_in_run(from)) {
      throw UsageError{fmt::format("--renamed: '{}' is still in the run, so it was not renamed", old_name)};
    }
    history.rename(from, to);
  }
}

/// Returns the runs of another machine of this model, or with other settings, if the run's own machine has too few runs
/// that count. If there are several such machines, it returns the runs of the one that was measured last.
std::vector<history::PastRun> runs_before(const History& history, const MeasuredRun& run,
                                          const std::vector<history::PastRun>& past) {
  const auto own = static_cast<std::size_t>(std::ranges::count_if(past, &history::PastRun::is_valid));
  if (own >= gate::kYoungRuns) return {};
  std::string fingerprint;
  std::string last;
  for (const std::string& other : history.fingerprints()) {
    const std::vector<history::StoredRun> runs = history.runs(other, run.started);
    if (other == run.fingerprint || runs.empty() || runs.back().started < last) continue;
    if (history::model_of(runs.back().environment) != history::model_of(run.environment)) continue;
    fingerprint = other;
    last = runs.back().started;
  }
  if (fingerprint.empty()) return {};
  return history.past(fingerprint, run.epoch, run.started, gate::kScreenRuns);
}

/// Returns whether the last judged run had a null control.
bool had_null_control(const History& history, const std::vector<history::PastRun>& past) {
  const auto last = std::find_if(past.rbegin(), past.rend(), [](const auto& run) { return run.is_valid; });
  if (last == past.rend()) return false;
  const std::optional<gate::GateReport> report = gate::recorded_judgement(history, last->run.id);
  return report && report->null_control;
}

}  // namespace

void apply(const ExpectationChanges& changes, History& history, const MeasuredRun& run) {
  rename(changes.renamed, history, run);
  if (!changes.retire.empty()) retire(changes.retire, history, run);
}

gate::NightFacts night_facts(const History& history, const MeasuredRun& run, std::int64_t id,
                             const std::vector<history::PastRun>& past, bool is_partial) {
  return {.now = format_timestamp(std::time(nullptr)),
          .later_runs = history.later_runs(run.fingerprint, run.started, id),
          .known_samples = history.runs_with_samples(run.cases, id),
          .expected = history.expected(run, id),
          .expects_null_control = had_null_control(history, past),
          .before = runs_before(history, run, past),
          .is_partial = is_partial};
}

}  // namespace tbench::tool
