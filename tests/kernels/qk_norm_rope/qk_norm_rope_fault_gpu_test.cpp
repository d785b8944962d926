// Tests that the comparison with float64 formulas finds each fault injected into the kernels of the norms of q and k,
// in the results that the fault spoils and in no others. Linked with a build of the kernels that includes the faults.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <string>
#include <tuple>

#include "kernels/common/step_fault.hpp"
#include "qk_norm_rope/run.hpp"

namespace tbench::kernels {

InjectedStepFault& step_fault() {
  static InjectedStepFault fault{};
  return fault;
}

namespace {

using Names = std::set<std::string>;

struct FaultRow {
  const char* name;
  InjectedStepFault fault;
  Names spoiled;
};

const std::array kFaults{
    FaultRow{"none", InjectedStepFault::kNone, {}},
    FaultRow{"weight_of_q", InjectedStepFault::kQkNormWeightOfQ, {"y", "dx"}},
    FaultRow{"position", InjectedStepFault::kQkNormPosition, {"y", "dx", "dq_weight", "dk_weight"}},
    FaultRow{"last_head", InjectedStepFault::kQkNormLastHead, {"y"}},
    FaultRow{"sign", InjectedStepFault::kQkNormSign, {"dx", "dq_weight", "dk_weight"}},
    FaultRow{"mean", InjectedStepFault::kQkNormMean, {"dx"}},
    FaultRow{"dweight_slope", InjectedStepFault::kQkNormDweightSlope, {"dq_weight", "dk_weight"}},
    FaultRow{"last_share", InjectedStepFault::kQkNormLastShare, {"dq_weight", "dk_weight"}}};

bool is_spoiled(const QkResult& actual, const QkResult& expected) {
  for (std::size_t i = 0; i < actual.values.size(); ++i) {
    const double a = actual.values[i], e = expected.values[i];
    const bool is_close = std::isnan(e) ? std::isnan(a) : std::abs(a - e) <= expected.allowed[i];
    if (!is_close) return true;
  }
  return false;
}

class QkNormFaultOnGpu : public testing::TestWithParam<std::tuple<FaultRow, Precision>> {
 protected:
  void SetUp() override {
    if (is_without_gpu()) GTEST_SKIP() << "no GPU on this machine";
  }
  void TearDown() override { step_fault() = InjectedStepFault::kNone; }
};

TEST_P(QkNormFaultOnGpu, IsFound) {
  const auto& [row, precision] = GetParam();
  const QkExtents e{1200, 600, 16, 8, 128, 1024};  // every CTA has rows of q and of k
  const QkInputs inputs = qk_inputs(e, precision);
  step_fault() = row.fault;
  const std::vector<QkResult> actual = run_qk_norm_rope(e, precision, inputs, /*in_place=*/false);
  step_fault() = InjectedStepFault::kNone;
  const std::vector<QkResult> expected = QkReference{e, precision, inputs, /*in_place=*/false}.results();
  Names found;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (is_spoiled(actual[i], expected[i])) found.insert(actual[i].name);
  }
  EXPECT_EQ(found, row.spoiled);
}

std::string name_of_case(const testing::TestParamInfo<QkNormFaultOnGpu::ParamType>& info) {
  const auto& [row, precision] = info.param;
  return fmt::format("{}_{}", row.name, to_string(precision));
}

INSTANTIATE_TEST_SUITE_P(Faults, QkNormFaultOnGpu,
                         testing::Combine(testing::ValuesIn(kFaults),
                                          testing::Values(Precision::kFp32, Precision::kBf16)),
                         name_of_case);

}  // namespace
}  // namespace tbench::kernels
