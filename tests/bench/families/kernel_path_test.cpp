#include "bench/families/kernel_path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tbench::bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;

CaseId model(const std::string& impl, const std::string& precision) {
  return {"Model", {{"size", "small"}, {"pass", "train_step"}, {"precision", precision}, {"impl", impl}}};
}

TracedKernel kernel(const std::string& phase, const std::string& kernel_class, const std::string& name) {
  return {.phase = phase,
          .kernel_class = kernel_class,
          .name = name,
          .calls = 1,
          .total = {1e-3},
          .min = {1e-3},
          .max = {1e-3},
          .standard_deviation = {}};
}

StepTrace flash_step() {
  StepTrace step;
  step.kernels = {kernel("forward", "attention_fused", "void tbench::kernels::attention_forward_mma_kernel<64>(P)"),
                  kernel("forward", "gemm", "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_TNT"),
                  kernel("backward", "attention_fused", "void tbench::kernels::attention_backward_mma_kernel<64>(P)"),
                  kernel("optimizer", "optimizer", "adamw")};
  return step;
}

TEST(KernelPath, OfAFlashStepIsFusedInBothPasses) {
  EXPECT_EQ(kernel_path_problem(model("flash", "bf16"), flash_step()), std::nullopt);
  StepTrace other = flash_step();
  other.kernels[2].name = "pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel";
  EXPECT_EQ(kernel_path_problem(model("flash", "bf16"), other),
            "impl:flash: no kernel of the backward pass is a fused attention of tbench::kernels::");
  EXPECT_EQ(kernel_path_problem(model("fused", "bf16"), other),
            "impl:fused: no kernel of the backward pass is a fused attention of tbench::kernels::");
  EXPECT_EQ(kernel_path_problem(model("sdpa", "bf16"), other), std::nullopt);
}

TEST(KernelPath, OfInferenceHasNoBackward) {
  StepTrace step = flash_step();
  step.kernels.resize(2);
  EXPECT_EQ(kernel_path_problem(model("flash", "bf16"), step), std::nullopt);
}

TEST(KernelPath, HasTheProductsOfThePrecision) {
  EXPECT_THAT(kernel_path_problem(model("eager", "tf32"), flash_step()).value_or(""),
              HasSubstr("no matrix product of the step in TF32"));
  EXPECT_EQ(kernel_path_problem(CaseId{"Gemm", {{"precision", "fp8_e4m3"}}}, flash_step()), std::nullopt);
  EXPECT_EQ(kernel_path_problem(CaseId{"Ceiling", {{"limit", "copy"}}}, flash_step()), std::nullopt);
}

TEST(KernelPath, OfAnEmptyStepIsNone) {
  EXPECT_EQ(kernel_path_problem(model("eager", "bf16"), StepTrace{}), "the traced steps launched nothing on the GPU");
}

TEST(KernelPath, WithRecordsMissingNobodyIsAccused) {
  StepTrace step;
  step.dropped = 3;
  EXPECT_EQ(kernel_path_problem(model("flash", "tf32"), step), std::nullopt);
}

const PhaseKernels kForward{.phase = "forward", .launches = {{"lib::flash_fwd", 1}}};
const PhaseKernels kBackward{.phase = "backward", .launches = {{"fill", 3}, {"lib::flash_bwd", 1}}};
const PhaseKernels kDecomposed{.phase = "backward", .launches = {{"gemm", 4}, {"softmax_backward", 1}}};

TEST(StepKernels, AreToldPhaseByPhaseWithTheirCounts) {
  EXPECT_EQ(to_string(StepKernels{kForward}), "lib::flash_fwd");
  EXPECT_EQ(to_string(StepKernels{kForward, kBackward}), "lib::flash_fwd | fill x3; lib::flash_bwd");
}

TEST(MissingKernel, IsNoneWhereEveryPhaseHasAMarkedOne) {
  EXPECT_EQ(missing_kernel("sdpa_flash", "flash", {kForward}), std::nullopt);
  EXPECT_EQ(missing_kernel("sdpa_flash", "flash", {kForward, kBackward}), std::nullopt);
}

TEST(MissingKernel, IsToldWithWhatRan) {
  EXPECT_THAT(missing_kernel("sdpa_flash", "flash", {kForward, kDecomposed}),
              Optional(std::string{"sdpa_flash: no kernel of the backward has \"flash\" in its name; there ran: "
                                   "gemm x4; softmax_backward"}));
  EXPECT_THAT(missing_kernel("sdpa_cudnn", "cudnn", {kForward, kBackward}),
              Optional(AllOf(HasSubstr("of the forward"), HasSubstr("cudnn"), HasSubstr("lib::flash_fwd"))));
  EXPECT_THAT(missing_kernel("flash", "flash", {{.phase = "forward", .launches = {}}}),
              Optional(HasSubstr("there ran: none")));
}

TEST(MissingKernel, IsNoneWhereNothingIsAsked) {
  EXPECT_EQ(missing_kernel("naive", "", {kForward, kDecomposed}), std::nullopt);
  EXPECT_EQ(missing_kernel("naive", "", {{.phase = "forward", .launches = {}}}), std::nullopt);
}

}  // namespace
}  // namespace tbench::bench
