// The order in which the cases of a run are measured, and which of them start in a new process.
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
  std::int64_t process{};      // number of the process that measures it, from 0
  bool needs_fresh_process{};  // measured in a process that has measured nothing before
};

using RunPlan = std::vector<ScheduledCase>;

/// A case's name, and the number of the process that measures it, from 0.
using CaseRun = std::pair<std::string, std::int64_t>;

/// Finds the Ceiling cases with which the given cases are compared.
using NeededCeilings = std::function<std::vector<CaseId>(std::span<const CaseId>)>;

/// The input of make_run_plan().
struct PlanInput {
  std::vector<CaseId> cases{};        // selected cases of all shards
  std::set<std::string> own_cases{};  // names of the cases of this shard
  std::int64_t processes{1};          // above 0
  std::uint64_t order_seed{1};        // seed of the orders in several processes; gives the same orders on every machine
  std::set<CaseRun> finished{};       // runs that earlier records hold
  std::set<CaseRun> foreign_ceilings{};  // those of `finished` that other machines measured, and this one must repeat
  NeededCeilings needed_ceilings{};      // empty if no case needs a ceiling
  std::set<std::string> families_needing_new_process{};
  /// Gives each CUDA graph its own process. A graph takes the same time in every process in which it is the first
  /// graph. From the second, third or fourth graph of a process on, each takes up to 4 % longer, 0.3 us per kernel.
  /// This was measured on four H100s and H200s, traced or not, with any setting of LibTorch's allocator.
  bool isolates_graphs{};
  /// Runs the cases of plug-ins after all other cases of a planned process, and starts a new process of the operating
  /// system for each plug-in, so that a plug-in cannot disturb other cases.
  bool isolates_plugins{};
};

/// Plans the remaining cases. A single process runs the cases in their given order. Several processes run one after the
/// other, each with all cases in its own random order, so that no case always follows the same other case. Every
/// process starts with Ceiling cases: first the ceilings that its cases need, selected or not, then other selected
/// ceilings. The first case of a process needs a new process, except for the first case of the run.
[[nodiscard]] RunPlan make_run_plan(const PlanInput& input);

/// Returns the number of the process that measured a record, from 0. Several records of a case by one process are
/// repetitions.
[[nodiscard]] std::int64_t process_of(const Record& record, std::int64_t processes);

/// Returns the runs that the records hold.
[[nodiscard]] std::set<CaseRun> finished_runs(std::span<const Record> records, std::int64_t processes);

/// Returns the runs of ceilings that the records hold, measured by a machine other than `machine`
/// (Record::machine). The remaining cases need the ceilings of their own machine.
[[nodiscard]] std::set<CaseRun> foreign_ceilings(std::span<const Record> records, std::int64_t processes,
                                                 std::int64_t machine);

}  // namespace tbench::bench
