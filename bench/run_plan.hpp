// In which order the selected cases run, and which of them begin in a fresh process.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/record.hpp"

namespace tbench::bench {

struct PlannedCase {
  CaseId id;
  std::int64_t process{};      // which replicate, from 0
  bool needs_fresh_process{};  // measured in a process that has measured nothing before
};

/// The cases in their order for one process. For several, process after process, each with all cases in a random order
/// of its own, the first of which needs a fresh process: no case is always the one after the same other.
/// @param processes  > 0
/// @param seed       of the orders; the same on every machine
[[nodiscard]] std::vector<PlannedCase> plan_runs(std::span<const CaseId> cases, std::int64_t processes,
                                                 std::uint64_t seed);

/// The Ceiling cases that some are held against.
using NeededCeilings = std::function<std::vector<CaseId>(std::span<const CaseId>)>;

/// Puts the Ceiling cases of every process before its others: those that `needed` names, planned or not, and after them
/// the rest of those planned.
void put_ceilings_first(std::vector<PlannedCase>& plan, const NeededCeilings& needed);

/// Gives each case of these families a process of its own. To be called last.
/// @param always_fresh  names of families
void isolate(std::vector<PlannedCase>& plan, const std::set<std::string>& always_fresh);

/// The process that measured a record, from 0. Of one process several records of a case are its repetitions.
[[nodiscard]] std::int64_t process_of(const Record& record, std::int64_t processes);

/// Takes out what earlier records hold: a case's name, of several processes with the same number. The first case that
/// is left of a process still needs a fresh one.
void drop_finished(std::vector<PlannedCase>& plan, std::span<const Record> finished, std::int64_t processes);

}  // namespace tbench::bench
