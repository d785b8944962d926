// Joins several machines of the same model into one series: the runs of the other machines are shifted to the level of
// the candidate's machine.
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gate/judging_steps.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::gate {
namespace {

/// Minimum number of runs for a machine's level: their median is not moved by a single outlier.
constexpr std::size_t kMinLevelRuns = 3;

/// Returns the median over the reference runs, or nullopt if too few runs have the value.
std::optional<double> level_of(const CaseRuns& runs, std::optional<double> CaseRun::*value) {
  std::vector<double> values;
  for (const CaseRun* run : references_of(runs)) {
    if (run->*value) values.push_back(*(run->*value));
  }
  return values.size() < kMinLevelRuns ? std::nullopt : std::optional{stats::median(values)};
}

/// Returns the shift from one machine's level to the level of another, or nullopt if either is unknown.
std::optional<double> shift_between(const CaseRuns& from, const CaseRuns& to, std::optional<double> CaseRun::*value) {
  const std::optional<double> level = level_of(from, value);
  const std::optional<double> wanted = level_of(to, value);
  return level && wanted ? std::optional{*wanted - *level} : std::nullopt;
}

/// Returns the other machine's valid runs of a case, shifted to the level of the candidate's machine. Runs from before
/// the case's baseline on the candidate's machine are left out, since a change was accepted after them.
CaseRuns moved(const CaseRuns& other, const CaseRuns& own) {
  const std::optional<double> shift = shift_between(other, own, &CaseRun::value);
  const std::optional<double> device_shift = shift_between(other, own, &CaseRun::device_value);
  CaseRuns runs;
  if (!shift) return runs;
  for (CaseRun run : other) {
    if (!run.past->is_valid || !run.value || run.past->run.started < own.front().past->run.started) continue;
    *run.value += *shift;
    run.device_value =
        run.device_value && device_shift ? std::optional{*run.device_value + *device_shift} : std::nullopt;
    runs.push_back(run);
  }
  return runs;
}

/// Returns the epochs of a machine with the candidate's software. A machine that changed has a further epoch.
std::set<std::string> epochs_of(const std::vector<history::PastRun>& past, const std::string& measured) {
  std::set<std::string> epochs;
  for (const history::PastRun& run : past) {
    if (history::is_of_epoch(run.run.epoch, measured)) epochs.insert(run.run.epoch);
  }
  return epochs;
}

}  // namespace

void add_other_machines(RunsByCase& runs, const std::vector<std::vector<history::PastRun>>& machines,
                        const std::string& measured) {
  std::unordered_map<std::string, CaseRuns> added;
  for (const std::vector<history::PastRun>& past : machines) {
    for (const std::string& epoch : epochs_of(past, measured)) {
      for (const auto& [key, other] : runs_by_case(past, epoch)) {
        const auto own = runs.find(key);
        if (own == runs.end()) continue;
        std::ranges::move(moved(other, own->second), std::back_inserter(added[key]));
      }
    }
  }
  for (auto& [key, others] : added) {
    CaseRuns all = runs.at(key);
    std::ranges::move(others, std::back_inserter(all));
    // With fewer runs, a case is judged against its first run, which must be a run of the candidate's machine.
    if (references_of(all).size() < kMinScreenRuns) continue;
    std::ranges::stable_sort(all, {}, [](const CaseRun& run) { return run.past->run.started; });
    runs.at(key) = std::move(all);
  }
}

}  // namespace tbench::gate
