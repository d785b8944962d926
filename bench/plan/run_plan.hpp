// The cases of a run in the order in which they run, and which of them start in a new process.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/record.hpp"

namespace tbench::bench {

struct ScheduledCase {
  CaseId id;
  std::int64_t process{};      // which replicate, from 0
  bool needs_fresh_process{};  // measured in a process that has measured nothing before
};

using RunPlan = std::vector<ScheduledCase>;

/// The name of a case, and the process that measures it, from 0.
using CaseRun = std::pair<std::string, std::int64_t>;

/// Finds the Ceiling cases that the given cases are measured against.
using NeededCeilings = std::function<std::vector<CaseId>(std::span<const CaseId>)>;

/// The facts that a plan follows from.
struct PlanInput {
  std::vector<CaseId> cases{};        // selected, of all shards
  std::set<std::string> own_cases{};  // names of those of this shard
  std::int64_t processes{1};          // above 0
  std::uint64_t order_seed{1};        // of the orders of several processes; the same on every machine
  std::set<CaseRun> finished{};       // that earlier records hold
  NeededCeilings needed_ceilings{};   // empty: no cases need any
  std::set<std::string> families_needing_new_process{};
  /// Gives each CUDA graph its own process. The same graph takes the same time as the first of a process, but up to 4 %
  /// more behind others, 0.3 us per kernel, from the second to the fourth on: four H100s and H200s, traced or not,
  /// whatever LibTorch's allocator is told.
  bool isolates_graphs{};
  /// Puts the cases of plug-ins after all others of their process, and gives the cases of each plug-in a process of
  /// their own, so that a plug-in breaks no other cases.
  bool isolates_plugins{};
};

/// Plans the cases that are left. One process has the cases in their order. Of several, process follows process, each
/// with all cases in its own random order, so that no case always follows the same other one. In every process Ceiling
/// cases come first: those that its cases need, selected or not, and after them the other selected ones. The first case
/// of a process needs a new one, but not the first case of all.
[[nodiscard]] RunPlan make_run_plan(const PlanInput& input);

/// The process that measured a record, from 0. Several records of a case by one process are its repetitions.
[[nodiscard]] std::int64_t process_of(const Record& record, std::int64_t processes);

/// Returns the runs that the records hold.
[[nodiscard]] std::set<CaseRun> finished_runs(std::span<const Record> records, std::int64_t processes);

}  // namespace tbench::bench
