// Tests that a step's verification finds faults in the one gradient that a tied table has: the part of the embedding is
// missing, or the part of the head. Linked with the build of the kernels that includes the faults (step_fault.hpp).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "kernels/common/step_fault.hpp"
#include "model/training/trainer.hpp"
#include "model/training/verify_trainer.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using kernels::InjectedStepFault;

class TiedFaultGpu : public GpuTest, public testing::WithParamInterface<std::tuple<InjectedStepFault, Precision>> {
 protected:
  void TearDown() override { kernels::step_fault() = InjectedStepFault::kNone; }
};

TEST_P(TiedFaultGpu, IsFound) {
  const auto& [fault, precision] = GetParam();
  ModelConfig config = gpu_step("fused", Pass::kTrainStep, precision);
  config.size.tied = true;
  Trainer trainer{config, model_impls().at("fused")};
  for (const std::uint64_t seed : {config.seed, config.seed + 1}) {
    const Verification right = verify_trainer(trainer, seed);
    EXPECT_TRUE(right.passed) << right.message;
    kernels::step_fault() = fault;
    const Verification wrong = verify_trainer(trainer, seed);
    kernels::step_fault() = InjectedStepFault::kNone;
    EXPECT_FALSE(wrong.passed);
    EXPECT_THAT(wrong.message, testing::HasSubstr("token_embeddings.weight"));
  }
}

std::string name_of_fault(const testing::TestParamInfo<TiedFaultGpu::ParamType>& info) {
  const auto& [fault, precision] = info.param;
  const bool is_cleared = fault == InjectedStepFault::kEmbeddingCleared;
  return fmt::format("{}_{}", is_cleared ? "without_head" : "without_embedding", to_string(precision));
}

INSTANTIATE_TEST_SUITE_P(Faults, TiedFaultGpu,
                         testing::Combine(testing::Values(InjectedStepFault::kEmbeddingNotAdded,
                                                          InjectedStepFault::kEmbeddingCleared),
                                          testing::Values(Precision::kFp32, Precision::kBf16)),
                         name_of_fault);

}  // namespace
}  // namespace tbench::model
