// Tests that the comparison with the reference finds faults injected into the sm90 backward kernels, in 16 bits at
// every head_dim of each kernel.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attention/sm90/bwd/run.hpp"
#include "support/planted_fault_rows.hpp"

namespace tbench::kernels::sm90 {
namespace {

/// The library with injected faults has the TF32 kernels for one head_dim, the 16-bit kernels for all.
struct FaultCase {
  FaultRow row;
  Precision precision{};
  BackwardInstance instance;  // for 16 bits
  AttentionShape shape;
};

std::vector<FaultCase> fault_cases() {
  std::vector<FaultRow> rows{kBackwardFaults.begin(), kBackwardFaults.end()};
  const Names any{"dq", "dk", "dv"};
  rows.push_back({"release", InjectedFault::kBackwardRelease, any, When::kSometimes});
  rows.push_back({"parity", InjectedFault::kBackwardParity, any, When::kSometimes});
  std::vector<FaultCase> cases;
  const auto add = [&cases](const FaultRow& row, const BackwardInstance& instance, std::int64_t batch,
                            std::int64_t heads, std::int64_t seq, Precision precision = Precision::kBf16) {
    const AttentionShape shape{
        .batch = batch, .heads = heads, .seq_q = seq, .seq_kv = seq, .head_dim = instance.head_dim, .causal = true};
    cases.push_back({row, precision, instance, shape});
  };
  for (const FaultRow& row : rows) {
    for (const BackwardInstance& instance : kBackwardInstances) {
      add(row, instance, 1, 3, instance.choice == kStaysApart ? 500 : 1000);
    }
    add(row, {.head_dim = kPlantedHeadDim, .choice = {}}, 1, 3, 1000, Precision::kTf32);
  }
  // Each persistent CTA has three or four of the 480 work tiles, and loads the third K to the shared memory of the
  // first.
  const FaultRow kept{"kept", InjectedFault::kBackwardKept, any, When::kSometimes};
  for (const BackwardInstance& instance : kBackwardInstances) {
    // The split kernel loads its stationary rows to registers at once, and without a wait for lse and delta it may wait
    // for ever. The emulator covers both.
    const bool of_two_kinds = instance.choice.sums == DqAccumulation::kNone;
    if (instance.choice.blocks == BwdSchedule::kPersistent && !of_two_kinds) add(kept, instance, 2, 60, 512);
  }
  const FaultRow first_sums{"first_sums", InjectedFault::kDqFirstSums, {"dq"}, When::kAlways};
  for (const BackwardInstance& instance : kBackwardInstances) {
    if (is_by_heads(instance)) add(first_sums, instance, 2, 30, 500);
  }
  return cases;
}

std::string name_of_case(const testing::TestParamInfo<FaultCase>& info) {
  const bool is_tf32 = info.param.precision == Precision::kTf32;
  return fmt::format("{}_{}", info.param.row.name, is_tf32 ? "tf32" : name_of(info.param.instance));
}

class BackwardSm90FaultOnGpu : public testing::TestWithParam<FaultCase> {
 protected:
  void SetUp() override {
    if (!runs_here()) GTEST_SKIP() << kWithoutSm90;
    planted_fault() = GetParam().row.fault;
  }
  void TearDown() override { planted_fault() = InjectedFault::kNone; }
};

INSTANTIATE_TEST_SUITE_P(Faults, BackwardSm90FaultOnGpu, testing::ValuesIn(fault_cases()), name_of_case);

TEST_P(BackwardSm90FaultOnGpu, IsFound) {
  constexpr int kRaceRuns = 50;
  const auto& [row, precision, instance, shape] = GetParam();
  const AttentionCase one{.problem = attention_problem(shape, precision)};
  const BackwardOptions options =
      precision == Precision::kTf32 ? backward_tf32_sm90(one.problem) : backward_sm90(one.problem, instance);
  const AttentionRun run{one};
  expect_found(row, {"dq", "dk", "dv"}, kRaceRuns, [&] { return run.check(run.backward(options)); });
}

}  // namespace
}  // namespace tbench::kernels::sm90
