#include "run_plan.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <utility>

#include "ceilings.hpp"

namespace tbench::bench {
namespace {

/// Fisher and Yates' shuffle. Not std::shuffle: its result differs between standard libraries, and a recorded seed is
/// to mean one order.
std::vector<CaseId> shuffled(std::span<const CaseId> cases, std::mt19937_64& random) {
  std::vector<CaseId> order{cases.begin(), cases.end()};
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random() % left]);  // the remainder's bias is under 2^-50
  }
  return order;
}

void mark_fresh(std::vector<PlannedCase>& plan) {
  std::optional<std::int64_t> running;
  for (PlannedCase& planned : plan) {
    planned.needs_fresh_process = running && *running != planned.process;
    running = planned.process;
  }
}

}  // namespace

std::vector<PlannedCase> plan_runs(std::span<const CaseId> cases, std::int64_t processes, std::uint64_t seed) {
  std::vector<PlannedCase> plan;
  std::mt19937_64 random{seed};
  for (std::int64_t process = 0; process < processes; ++process) {
    const auto order = processes == 1 ? std::vector<CaseId>{cases.begin(), cases.end()} : shuffled(cases, random);
    for (const CaseId& id : order) plan.push_back({.id = id, .process = process, .needs_fresh_process = false});
  }
  mark_fresh(plan);
  return plan;
}

void put_ceilings_first(std::vector<PlannedCase>& plan, const NeededCeilings& needed) {
  std::vector<PlannedCase> ordered;
  for (auto begin = plan.cbegin(); begin != plan.cend();) {
    const std::int64_t process = begin->process;
    const auto end = std::find_if(begin, plan.cend(), [&](const PlannedCase& p) { return p.process != process; });
    std::vector<CaseId> cases;
    std::transform(begin, end, std::back_inserter(cases), [](const PlannedCase& planned) { return planned.id; });
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

void isolate(std::vector<PlannedCase>& plan, const std::set<std::string>& always_fresh) {
  for (PlannedCase& planned : plan) {
    if (always_fresh.contains(planned.id.family())) planned.needs_fresh_process = true;
  }
}

std::int64_t process_of(const Record& record, std::int64_t processes) {
  return processes == 1 ? 0 : record.repetition_index;
}

void drop_finished(std::vector<PlannedCase>& plan, std::span<const Record> finished, std::int64_t processes) {
  std::set<std::pair<std::string, std::int64_t>> done;
  for (const Record& record : finished) done.emplace(record.id.name(), process_of(record, processes));
  std::erase_if(plan, [&](const PlannedCase& planned) { return done.contains({planned.id.name(), planned.process}); });
  mark_fresh(plan);
}

}  // namespace tbench::bench
