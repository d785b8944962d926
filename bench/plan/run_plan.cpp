#include "bench/plan/run_plan.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "bench/families/sustained.hpp"
#include "tbench/core/case_table.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/model/plugins.hpp"

namespace tbench::bench {
namespace {

std::vector<CaseId> in_random_order(std::span<const CaseId> cases, std::int64_t process, std::uint64_t seed) {
  std::vector<CaseId> order{cases.begin(), cases.end()};
  std::ranges::sort(order, {}, [&](const CaseId& id) {
    std::string name = id.name();
    const std::uint64_t rank = random_rank(name, process, seed);
    return std::pair{rank, std::move(name)};
  });
  return order;
}

RunPlan ordered(std::span<const CaseId> cases, std::int64_t processes, std::uint64_t seed) {
  RunPlan plan;
  for (std::int64_t process = 0; process < processes; ++process) {
    const auto order =
        processes == 1 ? std::vector<CaseId>{cases.begin(), cases.end()} : in_random_order(cases, process, seed);
    for (const CaseId& id : order) plan.push_back({.id = id, .process = process, .needs_fresh_process = false});
  }
  return plan;
}

RunPlan without(RunPlan plan, const std::set<CaseRun>& finished) {
  std::erase_if(plan, [&](const ScheduledCase& c) { return finished.contains({c.id.name(), c.process}); });
  return plan;
}

RunPlan only(RunPlan plan, const std::set<std::string>& names) {
  std::erase_if(plan, [&](const ScheduledCase& c) { return !names.contains(c.id.name()); });
  return plan;
}

struct PlanWithCeilings {
  RunPlan plan;
  std::set<std::string> needed;  // names of the ceilings that the cases need
};

/// Orders the cases of one process: first the ceilings that they need, then other ceilings among them, then the rest.
std::vector<CaseId> ceilings_first(std::vector<CaseId> cases, const std::vector<CaseId>& needed) {
  std::ranges::stable_partition(cases, &is_ceiling);
  std::vector<CaseId> sorted = needed;
  std::ranges::copy_if(cases, std::back_inserter(sorted),
                       [&](const CaseId& id) { return std::ranges::find(needed, id) == needed.end(); });
  return sorted;
}

PlanWithCeilings with_ceilings_first(const RunPlan& plan, const NeededCeilings& needed_ceilings) {
  PlanWithCeilings result;
  for (auto begin = plan.begin(); begin != plan.end();) {
    const std::int64_t process = begin->process;
    const auto end = std::find_if(begin, plan.end(), [&](const ScheduledCase& c) { return c.process != process; });
    std::vector<CaseId> cases;
    std::transform(begin, end, std::back_inserter(cases), [](const ScheduledCase& c) { return c.id; });
    const std::vector<CaseId> needed = needed_ceilings ? needed_ceilings(cases) : std::vector<CaseId>{};
    for (const CaseId& id : needed) result.needed.insert(id.name());
    for (CaseId& id : ceilings_first(std::move(cases), needed)) {
      result.plan.push_back({.id = std::move(id), .process = process, .needs_fresh_process = false});
    }
    begin = end;
  }
  return result;
}

/// Returns the plug-in that computes the case; null for a built-in implementation.
const model::Plugin* plugin_of(const CaseId& id) {
  const std::string* const impl = id.find("impl");
  return impl == nullptr ? nullptr : model::find_plugin(*impl);
}

RunPlan plugins_last(RunPlan plan) {
  std::ranges::stable_sort(plan, {}, [](const ScheduledCase& c) {
    const model::Plugin* const plugin = plugin_of(c.id);
    return std::pair{c.process, plugin == nullptr ? std::string{} : plugin->name};
  });
  return plan;
}

/// Moves the sustained cases of families of bursts behind all others of their process, which then run on a cooler GPU.
RunPlan sustained_last(RunPlan plan) {
  std::ranges::stable_sort(plan, {}, [](const ScheduledCase& c) { return std::pair{c.process, is_sustained(c.id)}; });
  return plan;
}

/// Whether a case needs a new process.
/// @param previous  the case that runs before it; null if there is none
bool needs_new_process(const ScheduledCase& c, const ScheduledCase* previous, const PlanInput& input) {
  if (input.families_needing_new_process.contains(c.id.family())) return true;
  const std::string* const exec = c.id.find("exec");
  if (input.isolates_graphs && exec != nullptr && *exec == to_string(Execution::kGraph)) return true;
  if (previous == nullptr) return false;
  return previous->process != c.process || (input.isolates_plugins && plugin_of(previous->id) != plugin_of(c.id));
}

RunPlan with_new_processes(RunPlan plan, const PlanInput& input) {
  const ScheduledCase* previous = nullptr;
  for (ScheduledCase& c : plan) {
    c.needs_fresh_process = needs_new_process(c, previous, input);
    previous = &c;
  }
  return plan;
}

}  // namespace

RunPlan make_run_plan(const PlanInput& input) {
  const RunPlan left = without(ordered(input.cases, input.processes, input.order_seed), input.finished);
  auto [plan, names] = with_ceilings_first(left, input.needed_ceilings);
  names.insert(input.own_cases.begin(), input.own_cases.end());
  std::set<CaseRun> done = input.finished;
  for (const CaseRun& ceiling : input.foreign_ceilings) done.erase(ceiling);
  plan = without(only(std::move(plan), names), done);
  plan = sustained_last(std::move(plan));
  if (input.isolates_plugins) plan = plugins_last(std::move(plan));
  return with_new_processes(std::move(plan), input);
}

std::int64_t process_of(const Record& record, std::int64_t processes) {
  return processes == 1 ? 0 : record.repetition_index;
}

std::set<CaseRun> finished_runs(std::span<const Record> records, std::int64_t processes) {
  std::set<CaseRun> runs;
  for (const Record& record : records) runs.emplace(record.id.name(), process_of(record, processes));
  return runs;
}

std::set<CaseRun> foreign_ceilings(std::span<const Record> records, std::int64_t processes, std::int64_t machine) {
  std::set<CaseRun> runs;
  for (const Record& record : records) {
    if (!is_ceiling(record.id) || record.machine == machine) continue;
    runs.emplace(record.id.name(), process_of(record, processes));
  }
  return runs;
}

}  // namespace tbench::bench
