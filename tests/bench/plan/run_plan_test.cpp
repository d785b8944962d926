#include "bench/plan/run_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tbench/model/plugins.hpp"

namespace tbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::vector<CaseId> numbered(int count) {
  std::vector<CaseId> cases;
  for (int i = 0; i < count; ++i) cases.push_back(CaseId{"F", {{"i", std::to_string(i)}}});
  return cases;
}

std::vector<std::string> names(const RunPlan& plan) {
  std::vector<std::string> all;
  for (const ScheduledCase& planned : plan) all.push_back(planned.id.at("i"));
  return all;
}

std::vector<std::string> names_of_process(const RunPlan& plan, std::int64_t process) {
  RunPlan part;
  std::ranges::copy_if(plan, std::back_inserter(part), [&](const ScheduledCase& p) { return p.process == process; });
  return names(part);
}

std::vector<bool> fresh(const RunPlan& plan) {
  std::vector<bool> all;
  for (const ScheduledCase& planned : plan) all.push_back(planned.needs_fresh_process);
  return all;
}

/// Returns the input of a run of all these cases.
PlanInput input_of(const std::vector<CaseId>& cases, std::int64_t processes = 1, std::uint64_t seed = 1) {
  PlanInput input{.cases = cases, .processes = processes, .order_seed = seed};
  for (const CaseId& id : cases) input.own_cases.insert(id.name());
  return input;
}

RunPlan plan_of(const std::vector<CaseId>& cases, std::int64_t processes = 1, std::uint64_t seed = 1) {
  return make_run_plan(input_of(cases, processes, seed));
}

Record record_of(const std::string& name, std::int64_t repetition) {
  Record record;
  record.id = CaseId{"F", {{"i", name}}};
  record.repetition_index = repetition;
  return record;
}

TEST(RunPlan, OneProcessKeepsTheOrder) {
  const RunPlan plan = plan_of(numbered(4));
  EXPECT_THAT(names(plan), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(fresh(plan), ElementsAre(false, false, false, false));
}

TEST(RunPlan, SustainedCasesFollowTheBurstsOfTheirProcess) {
  std::vector<CaseId> cases = numbered(3);
  cases[0] = CaseId{"F", {{"i", "0"}, {"regime", "sustained"}}};
  EXPECT_THAT(names(plan_of(cases)), ElementsAre("1", "2", "0"));
  EXPECT_EQ(names_of_process(plan_of(cases, 2), 1).back(), "0");
  cases[0] = CaseId{"Ceiling", {{"i", "0"}, {"regime", "sustained"}}};  // others are compared with it
  EXPECT_THAT(names(plan_of(cases)), ElementsAre("0", "1", "2"));
}

TEST(RunPlan, EveryProcessHasEveryCaseOnceInAnOrderOfItsOwn) {
  const RunPlan plan = plan_of(numbered(20), 3);
  ASSERT_EQ(plan.size(), 60U);
  std::set<std::vector<std::string>> orders{names(plan_of(numbered(20)))};
  for (std::int64_t process = 0; process < 3; ++process) {
    std::vector<std::string> order = names_of_process(plan, process);
    orders.insert(order);
    std::ranges::sort(order);
    EXPECT_EQ(std::ranges::adjacent_find(order), order.end());
    EXPECT_EQ(order.size(), 20U);
  }
  EXPECT_EQ(orders.size(), 4U);  // all orders differ, also from the table's order
}

TEST(RunPlan, TheFirstCaseOfEveryProcessButTheFirstNeedsAFreshOne) {
  EXPECT_THAT(fresh(plan_of(numbered(2), 3)), ElementsAre(false, false, true, false, true, false));
}

TEST(RunPlan, TheSeedIsTheOrder) {
  const auto of_seed = [](std::uint64_t seed) { return names(plan_of(numbered(12), 2, seed)); };
  EXPECT_EQ(of_seed(1), of_seed(1));
  EXPECT_NE(of_seed(1), of_seed(2));
}

TEST(RunPlan, ACaseThatIsAddedLeavesTheOthersInTheirOrder) {
  const RunPlan before = plan_of(numbered(20), 3);
  RunPlan after = plan_of(numbered(21), 3);
  std::erase_if(after, [](const ScheduledCase& planned) { return planned.id.at("i") == "20"; });
  EXPECT_EQ(names(after), names(before));
}

TEST(RunPlan, EveryOrderIsAboutAsLikely) {
  std::map<std::vector<std::string>, int> counts;
  const RunPlan plan = plan_of(numbered(3), 6000, 7);
  for (std::size_t i = 0; i < plan.size(); i += 3) {
    ++counts[{plan[i].id.at("i"), plan[i + 1].id.at("i"), plan[i + 2].id.at("i")}];
  }
  ASSERT_EQ(counts.size(), 6U);
  // Binomial distribution with n = 6000 and p = 1/6: mean 1000, standard deviation 28.9. Five of them are allowed.
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 145);
}

TEST(RunPlan, WhatIsFinishedIsDroppedByProcess) {
  PlanInput input = input_of(numbered(2), 2);
  const std::string first = make_run_plan(input)[2].id.at("i");
  input.finished = finished_runs(std::vector{record_of("0", 0), record_of("1", 0), record_of(first, 1)}, 2);
  const RunPlan plan = make_run_plan(input);
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].process, 1);
  EXPECT_NE(plan[0].id.at("i"), first);
  EXPECT_FALSE(plan[0].needs_fresh_process);  // no case has run in this process yet
}

TEST(RunPlan, TheFirstCaseLeftOfAProcessNeedsAFreshOne) {
  PlanInput input = input_of(numbered(2), 2);
  input.finished = finished_runs(std::vector{record_of(make_run_plan(input)[2].id.at("i"), 1)}, 2);
  EXPECT_THAT(fresh(make_run_plan(input)), ElementsAre(false, false, true));
}

TEST(RunPlan, AFamilyMayHaveAProcessForEveryCase) {
  std::vector<CaseId> cases = numbered(2);
  cases.push_back(CaseId{"Own", {{"i", "7"}}});
  cases.push_back(CaseId{"Own", {{"i", "8"}}});
  PlanInput input = input_of(cases);
  input.families_needing_new_process = {"Own", "Other"};
  EXPECT_THAT(fresh(make_run_plan(input)), ElementsAre(false, false, true, true));
}

TEST(RunPlan, AGraphHasAProcessOfItsOwn) {
  std::vector<CaseId> cases = numbered(2);
  cases.push_back(CaseId::parse("Model/size:small/exec:graph"));
  cases.push_back(CaseId::parse("Model/size:small/exec:graph/pass:forward"));
  cases.push_back(CaseId::parse("Model/size:small"));
  PlanInput input = input_of(cases);
  EXPECT_THAT(fresh(make_run_plan(input)), ElementsAre(false, false, false, false, false));
  input.isolates_graphs = true;
  EXPECT_THAT(fresh(make_run_plan(input)), ElementsAre(false, false, true, true, false));
}

std::vector<std::string> all_names(const RunPlan& plan) {
  std::vector<std::string> all;
  for (const ScheduledCase& planned : plan) all.push_back(planned.id.name());
  return all;
}

CaseId ceiling(const std::string& what) { return CaseId{"Ceiling", {{"what", what}}}; }

TEST(RunPlan, CeilingsComeFirstTheNeededOnesBeforeTheSelected) {
  std::vector<CaseId> cases = numbered(2);
  cases.push_back(ceiling("read"));
  cases.push_back(ceiling("copy"));
  PlanInput input = input_of(cases);
  input.needed_ceilings = [](std::span<const CaseId> held) {
    EXPECT_EQ(held.size(), 4U);
    return std::vector{ceiling("write"), ceiling("copy")};
  };
  const RunPlan plan = make_run_plan(input);
  EXPECT_THAT(all_names(plan),
              ElementsAre("Ceiling/what:write", "Ceiling/what:copy", "Ceiling/what:read", "F/i:0", "F/i:1"));
  EXPECT_THAT(fresh(plan), ElementsAre(false, false, false, false, false));
}

TEST(RunPlan, EveryProcessHasTheCeilingsOfTheCasesLeftInIt) {
  const auto needed = [](std::span<const CaseId>) { return std::vector{ceiling("copy")}; };
  PlanInput input = input_of(numbered(2), 2);
  input.needed_ceilings = needed;
  input.finished = finished_runs(std::vector{record_of("0", 0), record_of("1", 0), record_of("1", 1)}, 2);
  const RunPlan plan = make_run_plan(input);
  EXPECT_THAT(all_names(plan), ElementsAre("Ceiling/what:copy", "F/i:0"));
  EXPECT_EQ(plan.front().process, 1);
  PlanInput of_both = input_of(numbered(1), 2);
  of_both.needed_ceilings = needed;
  const RunPlan both = make_run_plan(of_both);
  EXPECT_THAT(all_names(both), ElementsAre("Ceiling/what:copy", "F/i:0", "Ceiling/what:copy", "F/i:0"));
  EXPECT_THAT(fresh(both), ElementsAre(false, false, true, false));
}

TEST(RunPlan, OfOneProcessARepetitionStandsForTheCase) {
  PlanInput input = input_of(numbered(3));
  input.finished = finished_runs(std::vector{record_of("1", 4)}, 1);
  EXPECT_THAT(names(make_run_plan(input)), ElementsAre("0", "2"));
}

TEST(RunPlan, AShardKeepsItsCasesAndTheCeilingsThatAreNeeded) {
  const auto id = [](const std::string& text) { return CaseId::parse(text); };
  PlanInput input = input_of({id("Model/n:0"), id("Model/n:1"), id("Model/n:2")}, 2);
  input.own_cases = {"Model/n:1"};
  input.needed_ceilings = [&](std::span<const CaseId>) { return std::vector{id("Ceiling/what:copy")}; };
  const RunPlan plan = make_run_plan(input);
  EXPECT_THAT(all_names(plan), ElementsAre("Ceiling/what:copy", "Model/n:1", "Ceiling/what:copy", "Model/n:1"));
  EXPECT_THAT(fresh(plan), ElementsAre(false, false, true, false));
}

/// Returns the plan as text: processes separated by bars, and a star before each case that needs a new process.
std::string to_text(const RunPlan& plan) {
  std::string text;
  std::int64_t process = 0;
  for (const ScheduledCase& c : plan) {
    for (; process < c.process; ++process) text += "| ";
    text += (c.needs_fresh_process ? "*" : "") + c.id.name() + " ";
  }
  return text;
}

/// Returns three processes of a half-finished shard, with every rule that moves cases or starts processes.
PlanInput everything() {
  std::vector<CaseId> cases = numbered(4);
  for (const char* name : {"Model/i:4/exec:graph", "Own/i:5", "Ceiling/what:read"})
    cases.push_back(CaseId::parse(name));
  PlanInput input = input_of(cases, 3, 11);
  input.own_cases.erase("F/i:2");
  input.needed_ceilings = [](std::span<const CaseId>) { return std::vector{ceiling("copy"), ceiling("launch")}; };
  input.finished = {{"F/i:0", 0}, {"F/i:1", 0}, {"F/i:3", 0}, {"Ceiling/what:copy", 1}, {"Model/i:4/exec:graph", 2}};
  input.families_needing_new_process = {"Own"};
  input.isolates_graphs = true;
  return input;
}

TEST(RunPlan, FollowsFromItsInputAlone) {
  EXPECT_EQ(to_text(make_run_plan(everything())),
            "Ceiling/what:copy Ceiling/what:launch Ceiling/what:read *Model/i:4/exec:graph *Own/i:5 "
            "| *Ceiling/what:launch Ceiling/what:read *Own/i:5 F/i:1 F/i:0 *Model/i:4/exec:graph F/i:3 "
            "| *Ceiling/what:copy Ceiling/what:launch Ceiling/what:read *Own/i:5 F/i:3 F/i:0 F/i:1 ");
  PlanInput in_this_process = everything();
  in_this_process.isolates_graphs = false;
  in_this_process.needed_ceilings = {};
  in_this_process.processes = 1;
  EXPECT_EQ(to_text(make_run_plan(in_this_process)), "Ceiling/what:read Model/i:4/exec:graph *Own/i:5 ");
}

CaseId product_of(const std::string& impl, const std::string& m = "64") {
  return CaseId{"Gemm", {{"m", m}, {"impl", impl}}};
}

/// Adds the plug-ins "first" and "second" for products, once per process.
void add_two() {
  if (model::find_plugin("first") != nullptr) return;
  model::add_plugin({.path = "/libfirst.so", .name = "first", .digest = "", .parts = {"Gemm"}});
  model::add_plugin({.path = "/libsecond.so", .name = "second", .digest = "", .parts = {"Gemm"}});
}

TEST(Plugins, TheirCasesComeLastEachInProcessesOfTheirOwn) {
  add_two();
  std::vector<CaseId> cases;
  for (const char* impl : {"second", "aten", "first", "best"}) {
    cases.push_back(product_of(impl));
    cases.push_back(product_of(impl, "128"));
  }
  PlanInput input = input_of(cases);
  input.isolates_plugins = true;
  const auto impls = [](const RunPlan& plan) {
    std::vector<std::string> all;
    for (const ScheduledCase& planned : plan) all.push_back(planned.id.at("impl"));
    return all;
  };
  EXPECT_THAT(impls(make_run_plan(input)),
              ElementsAre("aten", "aten", "best", "best", "first", "first", "second", "second"));
  input.processes = 2;
  const RunPlan plan = make_run_plan(input);
  const std::vector<std::string> order = impls(plan);
  ASSERT_EQ(order.size(), 16U);
  for (const auto first : {order.begin(), order.begin() + 8}) {
    EXPECT_THAT(std::vector(first, first + 4), UnorderedElementsAre("aten", "aten", "best", "best"));
    EXPECT_THAT(std::vector(first + 4, first + 8), ElementsAre("first", "first", "second", "second"));
  }
  EXPECT_THAT(fresh(plan), ElementsAre(false, false, false, false, true, false, true, false,  //
                                       true, false, false, false, true, false, true, false));
}

}  // namespace
}  // namespace tbench::bench
