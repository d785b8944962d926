// Tests a GPU's ceilings: small ones are correct, and all build, verify and run at the size that is measured.
#include "tbench/model/ceiling_case.hpp"

#include <c10/cuda/CUDAFunctions.h>

#include "tbench/model/device.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

class CeilingGpu : public GpuTest, public testing::WithParamInterface<std::string> {
 protected:
  static void check(const CeilingConfig& config) {
    const auto operation = make_ceiling_case(config);
    if (const auto reason = operation->unsupported_reason()) GTEST_SKIP() << *reason;
    operation->build();
    for (int i = 0; i < 2; ++i) {
      const Verification verdict = operation->verify();
      EXPECT_TRUE(verdict.passed) << verdict.message;
      launch(*operation);
    }
    c10::cuda::device_synchronize();
    EXPECT_TRUE(operation->verify().passed);
  }
};

TEST_P(CeilingGpu, IsRightWhenSmall) {
  check({.what = GetParam(),
         .device = DeviceKind::kCuda,
         .seed = 1,
         .sizes = CeilingSizes{.stream_bytes = 67 << 15,
                               .transfer_bytes = 4 * 1013,
                               .product_m = 264,
                               .product_nk = 288,
                               .dispatches = 10}});
}

TEST_P(CeilingGpu, IsRightAtTheSizeThatIsMeasured) {
  check({.what = GetParam(), .device = DeviceKind::kCuda, .seed = 2});
  make_cuda_memory_probe()->release_cached();
}

INSTANTIATE_TEST_SUITE_P(All, CeilingGpu, testing::ValuesIn(ceiling_names()),
                         [](const auto& one) { return one.param; });

TEST_F(GpuTest, ACeilingSaysHowItWasReached) {
  const auto copy = make_ceiling_case({.what = "copy", .device = DeviceKind::kCuda, .seed = 1});
  copy->build();
  EXPECT_NE(copy->labels().at("implementation"), "");
  // Each buffer has 4 GiB if the GPU has at least eight times that much memory.
  EXPECT_LE(copy->work().bytes, std::int64_t{2} << 32);
  EXPECT_GT(copy->work().bytes, std::int64_t{1} << 28);
}

}  // namespace
}  // namespace tbench::model
