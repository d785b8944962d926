#include "bench/plan/run_plan.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "tbench/core/case_table.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/run_order.hpp"

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

void mark_fresh(std::vector<ScheduledCase>& plan) {
  std::optional<std::int64_t> running;
  for (ScheduledCase& planned : plan) {
    planned.needs_fresh_process = running && *running != planned.process;
    running = planned.process;
  }
}

}  // namespace

const model::Plugin* plugin_of(const CaseId& id) {
  const std::string* const impl = id.find("impl");
  return impl == nullptr ? nullptr : model::find_plugin(*impl);
}

std::vector<ScheduledCase> plan_runs(std::span<const CaseId> cases, std::int64_t processes, std::uint64_t seed) {
  std::vector<ScheduledCase> plan;
  for (std::int64_t process = 0; process < processes; ++process) {
    const auto order =
        processes == 1 ? std::vector<CaseId>{cases.begin(), cases.end()} : in_random_order(cases, process, seed);
    for (const CaseId& id : order) plan.push_back({.id = id, .process = process, .needs_fresh_process = false});
  }
  mark_fresh(plan);
  return plan;
}

void put_ceilings_first(std::vector<ScheduledCase>& plan, const NeededCeilings& needed) {
  std::vector<ScheduledCase> ordered;
  for (auto begin = plan.cbegin(); begin != plan.cend();) {
    const std::int64_t process = begin->process;
    const auto end = std::find_if(begin, plan.cend(), [&](const ScheduledCase& p) { return p.process != process; });
    std::vector<CaseId> cases;
    std::transform(begin, end, std::back_inserter(cases), [](const ScheduledCase& planned) { return planned.id; });
    std::set<std::string> first;
    const auto append = [&](CaseId id) { ordered.push_back({std::move(id), process, /*needs_fresh_process=*/false}); };
    for (CaseId& id : needed(cases)) {
      first.insert(id.name());
      append(std::move(id));
    }
    std::ranges::stable_partition(cases, &is_ceiling);
    for (CaseId& id : cases) {
      if (!first.contains(id.name())) append(std::move(id));
    }
    begin = end;
  }
  plan = std::move(ordered);
  mark_fresh(plan);
}

void keep_cases(std::vector<ScheduledCase>& plan, const std::set<std::string>& names) {
  std::erase_if(plan, [&](const ScheduledCase& planned) { return !names.contains(planned.id.name()); });
  mark_fresh(plan);
}

void isolate(std::vector<ScheduledCase>& plan, const std::set<std::string>& families_needing_new_process) {
  for (ScheduledCase& planned : plan) {
    if (families_needing_new_process.contains(planned.id.family())) planned.needs_fresh_process = true;
  }
}

void isolate_graphs(std::vector<ScheduledCase>& plan) {
  for (ScheduledCase& planned : plan) {
    const std::string* const exec = planned.id.find("exec");
    if (exec != nullptr && *exec == to_string(Execution::kGraph)) planned.needs_fresh_process = true;
  }
}

std::int64_t process_of(const Record& record, std::int64_t processes) {
  return processes == 1 ? 0 : record.repetition_index;
}

void drop_finished(std::vector<ScheduledCase>& plan, std::span<const Record> finished, std::int64_t processes) {
  std::set<std::pair<std::string, std::int64_t>> done;
  for (const Record& record : finished) done.emplace(record.id.name(), process_of(record, processes));
  std::erase_if(plan, [&](const ScheduledCase& planned) {
    return done.contains({planned.id.name(), planned.process});
  });
  mark_fresh(plan);
}

void put_plugins_last(std::vector<ScheduledCase>& plan) {
  std::ranges::stable_sort(plan, [](const ScheduledCase& a, const ScheduledCase& b) {
    const auto rank = [](const ScheduledCase& planned) {
      const model::Plugin* const plugin = plugin_of(planned.id);
      return std::pair{planned.process, plugin == nullptr ? std::string{} : plugin->name};
    };
    return rank(a) < rank(b);
  });
  for (std::size_t i = 1; i < plan.size(); ++i) {
    if (plugin_of(plan[i].id) != plugin_of(plan[i - 1].id) || plan[i].process != plan[i - 1].process) {
      plan[i].needs_fresh_process = true;
    }
  }
}

}  // namespace tbench::bench
