#include "model/plugins/arguments.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbench::model {
namespace {

TEST(PluginArguments, ATensorIsItsPointerTypeAndShape) {
  const at::Tensor tensor = at::empty({2, 3, 5}, at::kBFloat16);
  const tbench_tensor plain = plugin_tensor(tensor);
  EXPECT_EQ(plain.data, tensor.data_ptr());
  EXPECT_EQ(plain.dtype, TBENCH_DTYPE_BF16);
  EXPECT_EQ(plain.dims, 3);
  for (const auto& [dimension, size, stride] : {std::tuple{0, 2, 15}, {1, 3, 5}, {2, 5, 1}}) {
    EXPECT_EQ(plain.sizes[dimension], size);
    EXPECT_EQ(plain.strides[dimension], stride);
  }
  EXPECT_EQ(plugin_tensor(at::ones({})).dims, 0);
  EXPECT_EQ(plugin_tensor(at::Tensor{}).data, nullptr);
  EXPECT_THROW(static_cast<void>(plugin_tensor(at::ones({1}, at::kDouble))), std::logic_error);
}

TEST(PluginArguments, EveryPrecisionHasANumber) {
  std::vector<std::int32_t> numbers;
  for (const GemmPrecision precision : kAllGemmPrecisions) numbers.push_back(plugin_precision(precision));
  EXPECT_THAT(numbers, testing::ElementsAre(TBENCH_FP32, TBENCH_TF32, TBENCH_BF16, TBENCH_FP16, TBENCH_FP8_E4M3));
}

TEST(PluginArguments, MemoryIsWhatWasAskedFor) {
  EXPECT_FALSE(plugin_bytes(0, DeviceKind::kCpu, "mine", "workspace_bytes").defined());
  const at::Tensor bytes = plugin_bytes(100, DeviceKind::kCpu, "mine", "workspace_bytes");
  EXPECT_EQ(bytes.nbytes(), 100U);
  const tbench_launch launch = plugin_launch(bytes, DeviceKind::kCpu);
  EXPECT_EQ(launch.workspace, bytes.data_ptr());
  EXPECT_EQ(launch.workspace_bytes, 100);
  EXPECT_EQ(launch.stream, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(launch.workspace) % 64, 0U);
  EXPECT_THROW(static_cast<void>(plugin_bytes(-1, DeviceKind::kCpu, "mine", "saved_bytes")), std::runtime_error);
}

TEST(PluginArguments, AMessageIsAnError) {
  EXPECT_NO_THROW(require_no_error(nullptr, "mine", "forward"));
  try {
    require_no_error("no such luck", "mine", "forward");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "plug-in mine: forward(): no such luck");
  }
  EXPECT_EQ(plugin_reason(nullptr), std::nullopt);
  EXPECT_EQ(plugin_reason("too old"), "too old");
}

}  // namespace
}  // namespace tbench::model
