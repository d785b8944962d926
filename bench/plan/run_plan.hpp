// The cases of a run in the order in which they run, and which of them start in a fresh process.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/record.hpp"
#include "tbench/model/plugins.hpp"

namespace tbench::bench {

struct ScheduledCase {
  CaseId id;
  std::int64_t process{};      // which replicate, from 0
  bool needs_fresh_process{};  // measured in a process that has measured nothing before
};

/// One process: the cases in their order. Several: process after process, each with all cases in its own random order,
/// so that no case always follows the same other one. The first case of a process needs a fresh process.
/// @param processes  > 0
/// @param seed       of the orders; the same on every machine
[[nodiscard]] std::vector<ScheduledCase> plan_runs(std::span<const CaseId> cases, std::int64_t processes,
                                                   std::uint64_t seed);

/// Finds the Ceiling cases that the given cases are measured against.
using NeededCeilings = std::function<std::vector<CaseId>(std::span<const CaseId>)>;

/// Puts the Ceiling cases of every process before its others: those that `needed` names, planned or not, and after them
/// the rest of those planned.
void put_ceilings_first(std::vector<ScheduledCase>& plan, const NeededCeilings& needed);

/// Takes out all cases but those named. The first case that is left of a process still needs a fresh one.
void keep_cases(std::vector<ScheduledCase>& plan, const std::set<std::string>& names);

/// Gives each case of these families its own process. Call it last.
/// @param families_needing_new_process  names of families
void isolate(std::vector<ScheduledCase>& plan, const std::set<std::string>& families_needing_new_process);

/// Gives each CUDA graph its own process, likewise. The same graph takes the same time as the first of a process, but
/// up to 4 % more behind others, 0.3 us per kernel, from the second to the fourth on: four H100s and H200s, traced or
/// not, whatever LibTorch's allocator is told.
void isolate_graphs(std::vector<ScheduledCase>& plan);

/// The process that measured a record, from 0. Several records of a case by one process are its repetitions.
[[nodiscard]] std::int64_t process_of(const Record& record, std::int64_t processes);

/// Takes out what earlier records hold: a case's name, of several processes with the same number. The first case that
/// is left of a process still needs a fresh one.
void drop_finished(std::vector<ScheduledCase>& plan, std::span<const Record> finished, std::int64_t processes);

/// Returns the plug-in that computes the case; null for a built-in implementation.
[[nodiscard]] const model::Plugin* plugin_of(const CaseId& id);

/// Puts the cases of plug-ins after all others of their process, and gives the cases of each plug-in a process of their
/// own, so that a plug-in breaks no other cases. Call it after isolate().
void put_plugins_last(std::vector<ScheduledCase>& plan);

}  // namespace tbench::bench
