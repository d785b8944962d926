// The facts about a run that `tbench gate` does not take from the run's files: the expected cases, and the user's
// changes to them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tbench/gate/gate.hpp"
#include "tbench/history/history.hpp"

namespace tbench::tool {

/// Changes to the cases that every run is expected to have.
struct ExpectationChanges {
  std::string retire;                // regular expression for names of expected cases; empty if none
  std::vector<std::string> renamed;  // OLD=NEW
  [[nodiscard]] bool any() const { return !retire.empty() || !renamed.empty(); }
};

/// Applies the changes to the history.
/// @param run  the run to judge; its cases have the new names, and the expected cases of its machine are changed
/// @throws     UsageError  naming the flag and the value, if no expected case matches, or if a name is not unique or
///                         not in the run
void apply(const ExpectationChanges& changes, history::History& history, const history::MeasuredRun& run);

/// Collects the facts about a run for gate::judge_run().
/// @param past  earlier runs of the run's machine
/// @param id    id of the run in the history
[[nodiscard]] gate::NightFacts night_facts(const history::History& history, const history::MeasuredRun& run,
                                           std::int64_t id, const std::vector<history::PastRun>& past, bool is_partial);

}  // namespace tbench::tool
