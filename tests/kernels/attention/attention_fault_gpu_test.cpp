// Tests that the comparison with the reference finds each fault injected into the kernels (common/injected_fault.hpp),
// in the outputs that the fault spoils and in no others. Linked with the library that has the faults, built for one
// head_dim.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <span>
#include <string>

#include "support/attention_run.hpp"
#include "support/kernel_grid.hpp"
#include "support/planted_fault_rows.hpp"
#include "tbench/cuda/device.hpp"

namespace tbench::kernels {
namespace {

constexpr int kRaceRuns = 50;

struct FaultShape {
  std::int64_t seq{}, heads{};
};

/// One shape for each kernel of a precision on the 132 SMs of an H200, in this order:
/// - few tiles
/// - 5 tiles of 64 per head, more than two per SM; on Hopper FwdM128N64x2
/// - 16 tiles of 128 per head, more than two per SM
/// - few tiles and many keys
/// - on Hopper FwdM64N128x2, 10 tiles per head
/// - on Hopper FwdM128N128
constexpr std::array kFaultShapes{FaultShape{300, 4},  FaultShape{300, 56}, FaultShape{2000, 17},
                                  FaultShape{1100, 1}, FaultShape{600, 12}, FaultShape{4300, 4}};

struct FaultCase {
  FaultRow row;
  Precision precision{};
  FaultShape shape;
};

std::vector<FaultCase> fault_cases(std::span<const FaultRow> rows) {
  std::vector<FaultCase> cases;
  for (const FaultRow& row : rows) {
    for (const Precision precision : {Precision::kBf16, Precision::kTf32}) {
      for (const FaultShape& shape : kFaultShapes) cases.push_back({row, precision, shape});
    }
  }
  return cases;
}

std::string name_of_case(const testing::TestParamInfo<FaultCase>& info) {
  const auto& [row, precision, shape] = info.param;
  return fmt::format("{}_{}_{}_heads_{}", row.name, to_string(precision), shape.seq, shape.heads);
}

class PlantedFaultOnGpu : public testing::TestWithParam<FaultCase> {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
    planted_fault() = GetParam().row.fault;
    const auto& [seq, heads] = GetParam().shape;
    const AttentionShape shape{
        .batch = 1, .heads = heads, .seq_q = seq, .seq_kv = seq, .head_dim = kPlantedHeadDim, .causal = true};
    run_.emplace(AttentionCase{.problem = attention_problem(shape, GetParam().precision)});
  }
  void TearDown() override { planted_fault() = InjectedFault::kNone; }

  std::optional<AttentionRun> run_;
};

class ForwardFaultOnGpu : public PlantedFaultOnGpu {};
INSTANTIATE_TEST_SUITE_P(Faults, ForwardFaultOnGpu, testing::ValuesIn(fault_cases(kForwardFaults)), name_of_case);

TEST_P(ForwardFaultOnGpu, IsFound) {
  expect_found(GetParam().row, {"o", "lse"}, kRaceRuns, [this] { return run_->check(run_->forward()); });
}

class BackwardFaultOnGpu : public PlantedFaultOnGpu {};
INSTANTIATE_TEST_SUITE_P(Faults, BackwardFaultOnGpu, testing::ValuesIn(fault_cases(kBackwardFaults)), name_of_case);

TEST_P(BackwardFaultOnGpu, IsFound) {
  expect_found(GetParam().row, {"dq", "dk", "dv"}, kRaceRuns, [this] { return run_->check(run_->backward()); });
}

}  // namespace
}  // namespace tbench::kernels
