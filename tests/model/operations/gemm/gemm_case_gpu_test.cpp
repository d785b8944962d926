// Tests matrix products on a GPU. Every precision and implementation verifies, also at odd shapes. No launch waits for
// the device. The check finds wrong results on the GPU, too.
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/operations/gemm/implementation.hpp"
#include "model/operations/gemm/verify.hpp"
#include "tbench/model/gemm_case.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using testing::HasSubstr;

GemmConfig gpu_gemm(std::int64_t m, std::int64_t n, std::int64_t k, GemmPrecision precision, const std::string& impl) {
  return {.m = m, .n = n, .k = k, .precision = precision, .impl = impl, .device = DeviceKind::kCuda, .seed = 1};
}

struct GemmExtents {
  std::int64_t m, n, k;
};

/// Extents of the models and of squares, odd ones that fp8 supports (n and k multiples of 16), and ones that it does
/// not.
const std::vector<GemmExtents> kGemmExtents{
    {2048, 3072, 768},  {2048, 10000, 1280}, {2048, 1600, 6400}, {256, 256, 256},  {4096, 4096, 4096},
    {8192, 8192, 1024}, {37, 48, 80},        {1, 16, 16},        {1, 10000, 2560}, {129, 272, 4112},
    {64, 64, 65536},    {37, 53, 29},        {1, 1, 1},          {3, 2, 4001},     {1000, 999, 777}};

class EveryGpuGemm : public GpuTest, public testing::WithParamInterface<std::tuple<GemmPrecision, std::string>> {};

INSTANTIATE_TEST_SUITE_P(All, EveryGpuGemm,
                         testing::Combine(testing::ValuesIn(kAllGemmPrecisions), testing::ValuesIn(gemm_impl_names())),
                         [](const auto& run) {
                           return std::string{to_string(std::get<0>(run.param))} + "_" + std::get<1>(run.param);
                         });

TEST_P(EveryGpuGemm, VerifiesAndRunsWithoutWaitingForTheDevice) {
  const auto& [precision, impl] = GetParam();
  std::string refused;
  int verified = 0;
  for (const GemmExtents& extents : kGemmExtents) {
    SCOPED_TRACE(fmt::format("m {}, n {}, k {}", extents.m, extents.n, extents.k));
    const auto gemm = make_gemm_case(gpu_gemm(extents.m, extents.n, extents.k, precision, impl));
    if (const auto reason = gemm->unsupported_reason()) {
      refused = *reason;
      // Only the rules of fp8 and the GPU's architecture can be reasons. No implementation refuses anything else.
      const std::optional<Precision> common = common_precision(precision);
      EXPECT_TRUE(!common || device_unsupported_reason(DeviceKind::kCuda, *common)) << *reason;
      continue;
    }
    gemm->build();
    const Verification verdict = gemm->verify();
    EXPECT_TRUE(verdict.passed) << verdict.message;
    c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_ERROR);
    EXPECT_NO_THROW(launch(*gemm));
    c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_DISABLED);
    c10::cuda::device_synchronize();
    const auto again = gemm->verify_again();
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->passed) << again->message;
    EXPECT_EQ(gemm->counters().contains("candidates"), impl == "cublaslt_best");
    EXPECT_EQ(gemm->labels().contains("algorithm"), impl != "aten");
    ++verified;
  }
  if (verified == 0) GTEST_SKIP() << refused;
}

using GemmOnGpu = GpuTest;

double relative_error(GemmPrecision precision, const std::string& impl) {
  const auto gemm = make_gemm_case(gpu_gemm(1024, 1024, 1024, precision, impl));
  gemm->build();
  EXPECT_TRUE(gemm->verify().passed);
  return gemm->counters().at("relative_error");
}

TEST_F(GemmOnGpu, TheTf32SwitchShowsInTheErrorAndLeavesNoTrace) {
  for (const std::string& impl : gemm_impl_names()) {
    EXPECT_LT(relative_error(GemmPrecision::kFp32, impl), 1e-5) << impl;
    const double tf32 = relative_error(GemmPrecision::kTf32, impl);
    // The inputs have 11 significant bits, so errors are about 2^-11.
    EXPECT_GT(tf32, 1e-4) << impl;
    EXPECT_LT(tf32, 4e-3) << impl;
    EXPECT_LT(relative_error(GemmPrecision::kFp32, impl), 1e-5) << impl;
  }
}

TEST_F(GemmOnGpu, Fp8NeedsExtentsOfSixteen) {
  for (const std::string& impl : gemm_impl_names()) {
    const auto reason = make_gemm_case(gpu_gemm(64, 53, 64, GemmPrecision::kFp8E4m3, impl))->unsupported_reason();
    EXPECT_THAT(reason.value_or(""), testing::AnyOf(HasSubstr("multiples of 16, not 53"), HasSubstr("8.9")));
  }
}

class PlantedGemmFault : public GpuTest, public testing::WithParamInterface<GemmPrecision> {
 protected:
  /// Returns LibTorch's correct product, or nothing if the GPU does not support it.
  static std::optional<GemmOperands> product() {
    const GemmConfig config = gpu_gemm(512, 512, 512, GetParam(), "aten");
    if (make_gemm_case(config)->unsupported_reason()) return std::nullopt;
    GemmOperands operands = make_gemm_operands(config);
    aten_gemm_impl().make(operands)->launch();
    return operands;
  }
};

INSTANTIATE_TEST_SUITE_P(All, PlantedGemmFault, testing::ValuesIn(kAllGemmPrecisions),
                         [](const auto& run) { return std::string{to_string(run.param)}; });

TEST_P(PlantedGemmFault, IsFound) {
  std::optional<GemmOperands> operands = product();
  if (!operands) GTEST_SKIP() << "the GPU cannot";
  EXPECT_TRUE(verify_gemm(*operands).verification.passed);
  operands->y[511][3] += 20.0;  // sums of 512 terms have an rms of 22.6
  EXPECT_THAT(verify_gemm(*operands).verification.message, HasSubstr("y[511, 3] is"));
}

TEST_F(GemmOnGpu, AWrongScaleIsFound) {
  const GemmConfig config = gpu_gemm(512, 512, 512, GemmPrecision::kFp8E4m3, "aten");
  if (const auto reason = make_gemm_case(config)->unsupported_reason()) GTEST_SKIP() << *reason;
  for (const GemmImpl& impl : {aten_gemm_impl(), cublaslt_heuristic_gemm_impl()}) {
    GemmOperands operands = make_gemm_operands(config);
    const GemmOperands right = operands;
    operands.w_scale = operands.w_scale.mul(1.05);
    impl.make(operands)->launch();
    EXPECT_TRUE(verify_gemm(operands).verification.passed) << impl.name;  // correct for the changed scale
    EXPECT_FALSE(verify_gemm(right).verification.passed) << impl.name;    // the same y with the original scale
  }
}

}  // namespace
}  // namespace tbench::model
