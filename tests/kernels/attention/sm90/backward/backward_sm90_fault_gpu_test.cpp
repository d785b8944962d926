// Faults planted into Hopper's backward kernels, at every head_dim of each, must be found by the comparison with the
// reference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attention/sm90/backward/backward_sm90_run.hpp"
#include "support/planted_fault_rows.hpp"

namespace tbench::kernels::sm90 {
namespace {

struct FaultCase {
  FaultRow row;
  BackwardInstance instance;
  AttentionShape shape;
};

std::vector<FaultCase> fault_cases() {
  std::vector<FaultRow> rows{kBackwardFaults.begin(), kBackwardFaults.end()};
  const Names any{"dq", "dk", "dv"};
  rows.push_back({"release", PlantedFault::kBackwardRelease, any, When::kSometimes});
  rows.push_back({"parity", PlantedFault::kBackwardParity, any, When::kSometimes});
  std::vector<FaultCase> cases;
  for (const FaultRow& row : rows) {
    for (const BackwardInstance& instance : kBackwardInstances) {
      const std::int64_t seq = instance.choice == kStaysApart ? 500 : 1000;
      const AttentionShape shape{
          .batch = 1, .heads = 3, .seq_q = seq, .seq_kv = seq, .head_dim = instance.head_dim, .causal = true};
      cases.push_back({row, instance, shape});
    }
  }
  // Where blocks stay. 480 items: blocks have three or four, and fetch the third K to where the first one was
  const FaultRow kept{"kept", PlantedFault::kBackwardKept, any, When::kSometimes};
  for (const BackwardInstance& instance : kBackwardInstances) {
    if (instance.choice.blocks != BackwardBlocks::kStay) continue;
    const AttentionShape shape{
        .batch = 2, .heads = 60, .seq_q = 512, .seq_kv = 512, .head_dim = instance.head_dim, .causal = true};
    cases.push_back({kept, instance, shape});
  }
  for (const BackwardInstance& instance : kBackwardInstances) {
    if (!is_by_heads(instance)) continue;
    const AttentionShape shape{
        .batch = 2, .heads = 30, .seq_q = 500, .seq_kv = 500, .head_dim = instance.head_dim, .causal = true};
    cases.push_back({{"first_sums", PlantedFault::kDqFirstSums, {"dq"}, When::kAlways}, instance, shape});
  }
  return cases;
}

std::string name_of_case(const testing::TestParamInfo<FaultCase>& info) {
  return fmt::format("{}_{}", info.param.row.name, name_of(info.param.instance));
}

class BackwardSm90FaultOnGpu : public testing::TestWithParam<FaultCase> {
 protected:
  void SetUp() override {
    if (!runs_here()) GTEST_SKIP() << kWithoutSm90;
    planted_fault() = GetParam().row.fault;
  }
  void TearDown() override { planted_fault() = PlantedFault::kNone; }
};

INSTANTIATE_TEST_SUITE_P(Faults, BackwardSm90FaultOnGpu, testing::ValuesIn(fault_cases()), name_of_case);

TEST_P(BackwardSm90FaultOnGpu, IsFound) {
  constexpr int kRaceRuns = 50;
  const AttentionCase one{.problem = attention_problem(GetParam().shape, Precision::kBf16)};
  const AttentionRun run{one};
  expect_found(GetParam().row, {"dq", "dk", "dv"}, kRaceRuns,
               [&] { return run.check(run.backward(backward_sm90(one.problem, GetParam().instance))); });
}

}  // namespace
}  // namespace tbench::kernels::sm90
