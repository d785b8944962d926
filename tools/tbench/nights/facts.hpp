// The knowledge that `tbench gate` has of a night besides its files: what is expected of it, and the user's changes to
// that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tbench/gate/gate.hpp"
#include "tbench/history/history.hpp"

namespace tbench::tool {

/// Changes to the cases expected of every run.
struct ExpectationChanges {
  std::string retire;                // regular expression for names of expected cases; empty if none
  std::vector<std::string> renamed;  // OLD=NEW
  [[nodiscard]] bool any() const { return !retire.empty() || !renamed.empty(); }
};

/// Applies them to the history.
/// @param run  the run to judge: its machine's expectations are changed, and it has the new names
/// @throws     UsageError  naming the flag and the value: no expected case matches, a name that is not unique or not in
///                         the run
void apply(const ExpectationChanges& changes, history::History& history, const history::MeasuredRun& run);

/// @param past  earlier runs of the run's machine
/// @param id    of the run in the history
[[nodiscard]] gate::NightFacts night_facts(const history::History& history, const history::MeasuredRun& run,
                                           std::int64_t id, const std::vector<history::PastRun>& past, bool is_partial);

}  // namespace tbench::tool
