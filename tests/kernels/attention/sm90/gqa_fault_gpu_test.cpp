// Tests that the comparison with the reference finds faults injected into the sm90 kernels for grouped-query attention.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attention/sm90/bwd/run.hpp"
#include "support/planted_fault_rows.hpp"

namespace tbench::kernels::sm90 {
namespace {

constexpr int kRaceRuns = 50;

/// A backward kernel, which takes the heads of a group in `choice.parts` parts.
struct FaultCase {
  FaultRow row;
  BackwardInstance instance;
};

constexpr BwdPlan in_parts(BwdPlan plan, int parts) {
  plan.parts = parts;
  return plan;
}

std::vector<FaultCase> fault_cases() {
  const Names all{"dq", "dk", "dv"};
  std::vector<FaultRow> rows{kBackwardFaults.begin(), kBackwardFaults.end()};
  rows.push_back({"release", InjectedFault::kBackwardRelease, all, When::kSometimes});
  rows.push_back({"parity", InjectedFault::kBackwardParity, all, When::kSometimes});
  rows.push_back({"head", InjectedFault::kGqaHead, all});
  rows.push_back({"statistics", InjectedFault::kGqaStatistics, all});
  rows.push_back({"dq_of_first", InjectedFault::kGqaDq, {"dq"}});
  std::vector<FaultCase> cases;
  for (const BackwardInstance& instance : {BackwardInstance{64, kStays}, BackwardInstance{80, kStays},
                                           BackwardInstance{128, kStaysApart}, BackwardInstance{128, kBlockEachItem}}) {
    for (const FaultRow& row : rows) cases.push_back({row, instance});
    cases.push_back(
        {{"part", InjectedFault::kGqaPart, {"dk", "dv"}}, {instance.head_dim, in_parts(instance.choice, 2)}});
  }
  return cases;
}

std::string name_of_case(const testing::TestParamInfo<FaultCase>& info) {
  BackwardInstance instance = info.param.instance;
  instance.choice.parts = 1;
  return fmt::format("{}_{}", info.param.row.name, name_of(instance));
}

AttentionProblem gqa_problem(std::int64_t head_dim, std::int64_t seq) {
  return attention_problem(
      {.batch = 1, .heads = 8, .seq_q = seq, .seq_kv = seq, .head_dim = head_dim, .causal = true, .kv_heads = 2},
      Precision::kBf16);
}

class GqaFaultOnGpu : public testing::TestWithParam<FaultCase> {
 protected:
  void SetUp() override {
    if (!runs_here()) GTEST_SKIP() << kWithoutSm90;
    planted_fault() = GetParam().row.fault;
  }
  void TearDown() override { planted_fault() = InjectedFault::kNone; }
};

INSTANTIATE_TEST_SUITE_P(Faults, GqaFaultOnGpu, testing::ValuesIn(fault_cases()), name_of_case);

TEST_P(GqaFaultOnGpu, IsFound) {
  const auto& [row, instance] = GetParam();
  const AttentionCase one{
      .problem = gqa_problem(instance.head_dim, instance.choice.sums == DqAccumulation::kPerKvTile ? 500 : 1000)};
  const AttentionRun run{one};
  expect_found(row, {"dq", "dk", "dv"}, kRaceRuns,
               [&] { return run.check(run.backward(backward_sm90(one.problem, instance))); });
}

TEST(GqaForwardFaultOnGpu, OfTheHeadIsFound) {
  if (!runs_here()) GTEST_SKIP() << kWithoutSm90;
  const AttentionCase one{.problem = gqa_problem(kPlantedHeadDim, 2000)};
  const AttentionRun run{one};
  for (const auto& [fault, spoiled] :
       {std::pair<InjectedFault, Names>{InjectedFault::kNone, {}}, {InjectedFault::kGqaHead, {"o", "lse"}}}) {
    planted_fault() = fault;
    expect_found({"head", fault, spoiled}, {"o", "lse"}, 1, [&] { return run.check(run.forward()); });
  }
  planted_fault() = InjectedFault::kNone;
}

}  // namespace
}  // namespace tbench::kernels::sm90
