#include "model/torch/scopes.hpp"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tbench/model/device.hpp"

namespace tbench::model {
namespace {

TEST(Tf32Scope, AllowsTf32ForTf32AloneAndRestores) {
  auto& context = at::globalContext();
  for (const bool before : {false, true}) {
    context.setAllowTF32CuBLAS(before);
    for (const Precision precision : kAllOf<Precision>) {
      const Tf32Scope scope{precision};
      EXPECT_EQ(context.allowTF32CuBLAS(), precision == Precision::kTf32);
    }
    EXPECT_EQ(context.allowTF32CuBLAS(), before);
  }
  context.setAllowTF32CuBLAS(false);
}

TEST(AutocastScope, ProductsAreSixteenBitInsideAndFloatAfterwards) {
  const at::Tensor x = at::randn({2, 4}), weight = at::randn({3, 4});
  const auto dtype_in = [&](Precision precision) {
    const AutocastScope scope{precision, at::kCPU};
    return at::linear(x, weight).scalar_type();
  };
  EXPECT_EQ(dtype_in(Precision::kFp32), at::kFloat);
  EXPECT_EQ(dtype_in(Precision::kBf16), at::kBFloat16);
  EXPECT_EQ(dtype_in(Precision::kFp16), at::kHalf);
  EXPECT_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  EXPECT_EQ(at::linear(x, weight).scalar_type(), at::kFloat);
}

TEST(AutocastScope, ForgetsTheCastsOfParameters) {
  const at::Tensor x = at::randn({2, 4});
  at::Tensor weight = at::randn({3, 4}).requires_grad_(true);
  const auto product = [&] {
    const AutocastScope scope{Precision::kBf16, at::kCPU};
    return at::linear(x, weight).detach();
  };
  const at::Tensor before = product();
  weight.detach().mul_(2.0);
  EXPECT_TRUE(product().equal(before.mul(2.0)));
}

TEST(AutocastScope, NestsAndRestoresTheDtype) {
  const AutocastScope outer{Precision::kBf16, at::kCPU};
  { const AutocastScope inner{Precision::kFp16, at::kCPU}; }
  EXPECT_TRUE(at::autocast::is_autocast_enabled(at::kCPU));
  EXPECT_EQ(at::autocast::get_autocast_dtype(at::kCPU), at::kBFloat16);
}

TEST(Device, CountIsNoExceptionWithoutADriver) { EXPECT_GE(cuda_device_count(), 0); }

TEST(Device, VersionsOfLibtorchAndCudnn) {
  const auto versions = library_versions();
  ASSERT_EQ(versions.count("libtorch"), 1U);
  ASSERT_EQ(versions.count("cudnn"), 1U);
  EXPECT_THAT(versions.at("libtorch"), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+.*"));
  EXPECT_THAT(versions.at("cudnn"), testing::MatchesRegex("9\\.[0-9]+\\.[0-9]+"));
}

}  // namespace

}  // namespace tbench::model
