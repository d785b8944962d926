#include "bench/plan/run_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace tbench::bench {
namespace {

using ::testing::ElementsAre;

std::vector<CaseId> numbered(int count) {
  std::vector<CaseId> cases;
  for (int i = 0; i < count; ++i) cases.push_back(CaseId{"F", {{"i", std::to_string(i)}}});
  return cases;
}

std::vector<std::string> names(const std::vector<ScheduledCase>& plan) {
  std::vector<std::string> all;
  for (const ScheduledCase& planned : plan) all.push_back(planned.id.at("i"));
  return all;
}

std::vector<std::string> names_of_process(const std::vector<ScheduledCase>& plan, std::int64_t process) {
  std::vector<ScheduledCase> part;
  std::ranges::copy_if(plan, std::back_inserter(part), [&](const ScheduledCase& p) { return p.process == process; });
  return names(part);
}

std::vector<bool> fresh(const std::vector<ScheduledCase>& plan) {
  std::vector<bool> all;
  for (const ScheduledCase& planned : plan) all.push_back(planned.needs_fresh_process);
  return all;
}

Record record_of(const std::string& name, std::int64_t repetition) {
  Record record;
  record.id = CaseId{"F", {{"i", name}}};
  record.repetition_index = repetition;
  return record;
}

TEST(RunPlan, OneProcessKeepsTheOrder) {
  const auto plan = plan_runs(numbered(4), 1, 1);
  EXPECT_THAT(names(plan), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(fresh(plan), ElementsAre(false, false, false, false));
}

TEST(RunPlan, EveryProcessHasEveryCaseOnceInAnOrderOfItsOwn) {
  const auto plan = plan_runs(numbered(20), 3, 1);
  ASSERT_EQ(plan.size(), 60U);
  std::set<std::vector<std::string>> orders{names(plan_runs(numbered(20), 1, 1))};
  for (std::int64_t process = 0; process < 3; ++process) {
    std::vector<std::string> order = names_of_process(plan, process);
    orders.insert(order);
    std::ranges::sort(order);
    EXPECT_EQ(std::ranges::adjacent_find(order), order.end());
    EXPECT_EQ(order.size(), 20U);
  }
  EXPECT_EQ(orders.size(), 4U);  // none like another, none like the table's
}

TEST(RunPlan, TheFirstCaseOfEveryProcessButTheFirstNeedsAFreshOne) {
  EXPECT_THAT(fresh(plan_runs(numbered(2), 3, 1)), ElementsAre(false, false, true, false, true, false));
}

TEST(RunPlan, TheSeedIsTheOrder) {
  const auto of_seed = [](std::uint64_t seed) { return names(plan_runs(numbered(12), 2, seed)); };
  EXPECT_EQ(of_seed(1), of_seed(1));
  EXPECT_NE(of_seed(1), of_seed(2));
}

TEST(RunPlan, ACaseThatIsAddedLeavesTheOthersInTheirOrder) {
  const auto before = plan_runs(numbered(20), 3, 1);
  auto after = plan_runs(numbered(21), 3, 1);
  std::erase_if(after, [](const ScheduledCase& planned) { return planned.id.at("i") == "20"; });
  EXPECT_EQ(names(after), names(before));
}

TEST(RunPlan, EveryOrderIsAboutAsLikely) {
  std::map<std::vector<std::string>, int> counts;
  const auto plan = plan_runs(numbered(3), 6000, 7);
  for (std::size_t i = 0; i < plan.size(); i += 3) {
    ++counts[{plan[i].id.at("i"), plan[i + 1].id.at("i"), plan[i + 2].id.at("i")}];
  }
  ASSERT_EQ(counts.size(), 6U);
  // Binomial with n = 6000 and p = 1/6: mean 1000, standard deviation 28.9; five of them either way.
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 145);
}

TEST(RunPlan, WhatIsFinishedIsDroppedByProcess) {
  auto plan = plan_runs(numbered(2), 2, 1);
  const std::string first = plan[2].id.at("i");
  drop_finished(plan, std::vector{record_of("0", 0), record_of("1", 0), record_of(first, 1)}, 2);
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].process, 1);
  EXPECT_NE(plan[0].id.at("i"), first);
  EXPECT_FALSE(plan[0].needs_fresh_process);  // nothing has run in this one yet
}

TEST(RunPlan, TheFirstCaseLeftOfAProcessNeedsAFreshOne) {
  auto plan = plan_runs(numbered(2), 2, 1);
  drop_finished(plan, std::vector{record_of(plan[2].id.at("i"), 1)}, 2);
  EXPECT_THAT(fresh(plan), ElementsAre(false, false, true));
}

TEST(RunPlan, AFamilyMayHaveAProcessForEveryCase) {
  std::vector<CaseId> cases = numbered(2);
  cases.push_back(CaseId{"Own", {{"i", "7"}}});
  cases.push_back(CaseId{"Own", {{"i", "8"}}});
  auto plan = plan_runs(cases, 1, 1);
  isolate(plan, {"Own", "Other"});
  EXPECT_THAT(fresh(plan), ElementsAre(false, false, true, true));
}

TEST(RunPlan, AGraphHasAProcessOfItsOwn) {
  std::vector<CaseId> cases = numbered(2);
  cases.push_back(CaseId::parse("Model/size:small/exec:graph"));
  cases.push_back(CaseId::parse("Model/size:small/exec:graph/pass:forward"));
  cases.push_back(CaseId::parse("Model/size:small"));
  auto plan = plan_runs(cases, 1, 1);
  isolate_graphs(plan);
  EXPECT_THAT(fresh(plan), ElementsAre(false, false, true, true, false));
}

std::vector<std::string> all_names(const std::vector<ScheduledCase>& plan) {
  std::vector<std::string> all;
  for (const ScheduledCase& planned : plan) all.push_back(planned.id.name());
  return all;
}

CaseId ceiling(const std::string& what) { return CaseId{"Ceiling", {{"what", what}}}; }

TEST(RunPlan, CeilingsComeFirstTheNeededOnesBeforeTheSelected) {
  std::vector<CaseId> cases = numbered(2);
  cases.push_back(ceiling("read"));
  cases.push_back(ceiling("copy"));
  auto plan = plan_runs(cases, 1, 1);
  put_ceilings_first(plan, [](std::span<const CaseId> held) {
    EXPECT_EQ(held.size(), 4U);
    return std::vector{ceiling("write"), ceiling("copy")};
  });
  EXPECT_THAT(all_names(plan),
              ElementsAre("Ceiling/what:write", "Ceiling/what:copy", "Ceiling/what:read", "F/i:0", "F/i:1"));
  EXPECT_THAT(fresh(plan), ElementsAre(false, false, false, false, false));
}

TEST(RunPlan, EveryProcessHasTheCeilingsOfTheCasesLeftInIt) {
  auto plan = plan_runs(numbered(2), 2, 1);
  drop_finished(plan, std::vector{record_of("0", 0), record_of("1", 0), record_of("1", 1)}, 2);
  const auto needed = [](std::span<const CaseId>) { return std::vector{ceiling("copy")}; };
  put_ceilings_first(plan, needed);
  EXPECT_THAT(all_names(plan), ElementsAre("Ceiling/what:copy", "F/i:0"));
  EXPECT_EQ(plan.front().process, 1);
  auto both = plan_runs(numbered(1), 2, 1);
  put_ceilings_first(both, needed);
  EXPECT_THAT(all_names(both), ElementsAre("Ceiling/what:copy", "F/i:0", "Ceiling/what:copy", "F/i:0"));
  EXPECT_THAT(fresh(both), ElementsAre(false, false, true, false));
}

TEST(RunPlan, OfOneProcessARepetitionStandsForTheCase) {
  auto plan = plan_runs(numbered(3), 1, 1);
  drop_finished(plan, std::vector{record_of("1", 4)}, 1);
  EXPECT_THAT(names(plan), ElementsAre("0", "2"));
}

CaseId product_of(const std::string& impl, const std::string& m = "64") {
  return CaseId{"Gemm", {{"m", m}, {"impl", impl}}};
}

/// "first" and "second" join the products, once in this process.
void add_two() {
  if (model::find_plugin("first") != nullptr) return;
  model::add_plugin({.path = "/libfirst.so", .name = "first", .digest = "", .parts = {"Gemm"}});
  model::add_plugin({.path = "/libsecond.so", .name = "second", .digest = "", .parts = {"Gemm"}});
}

TEST(Plugins, TheirCasesComeLastEachInProcessesOfTheirOwn) {
  add_two();
  std::vector<ScheduledCase> plan;
  for (const std::int64_t process : {0, 1}) {
    for (const char* impl : {"second", "aten", "first", "best"}) {
      plan.push_back({.id = product_of(impl), .process = process, .needs_fresh_process = false});
      plan.push_back({.id = product_of(impl, "128"), .process = process, .needs_fresh_process = false});
    }
  }
  put_plugins_last(plan);
  std::vector<std::string> order;
  std::vector<bool> fresh;
  for (const ScheduledCase& planned : plan) {
    order.push_back(planned.id.at("impl"));
    fresh.push_back(planned.needs_fresh_process);
  }
  EXPECT_THAT(std::vector(order.begin(), order.begin() + 8),
              ElementsAre("aten", "aten", "best", "best", "first", "first", "second", "second"));
  EXPECT_THAT(std::vector(order.begin() + 8, order.end()),
              ElementsAre("aten", "aten", "best", "best", "first", "first", "second", "second"));
  EXPECT_THAT(fresh, ElementsAre(false, false, false, false, true, false, true, false,  //
                                 true, false, false, false, true, false, true, false));
}

}  // namespace
}  // namespace tbench::bench
