// Tests the Kernel family's operations on a GPU. Each verifies, also at the models' shapes. None waits for the device.
// Results that an implementation does not write are found.
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "model/operations/kernels/implementation.hpp"
#include "tests/model/case_support.hpp"
#include "tests/model/operations/kernels/kernel_cases.hpp"

namespace tbench::model {
namespace {

const KernelShape kSmallModel{
    {.name = "small", .d_model = 768, .d_ff = 3072, .num_layers = 12, .num_heads = 12}, 4, 512};

class KernelGpu : public GpuTest, public testing::WithParamInterface<KernelVariant> {};

TEST_P(KernelGpu, VerifiesAndRunsWithoutWaitingForTheDevice) {
  std::vector<KernelShape> shapes = kKernelShapes;
  shapes.push_back(kSmallModel);
  for (const KernelShape& shape : shapes) {
    SCOPED_TRACE(fmt::format("{} x {} tokens, d_model {}", shape.batch, shape.context, shape.size.d_model));
    const auto operation = make_kernel_case(kernel_config(GetParam(), shape, DeviceKind::kCuda));
    ASSERT_EQ(operation->unsupported_reason().value_or(""), "");
    operation->build();
    const Verification verdict = operation->verify();
    EXPECT_TRUE(verdict.passed) << verdict.message;
    RecordProperty(fmt::format("worst_error_{}", shape.size.name), fmt::format("{:.3g}", verdict.worst_error));
    launch(*operation);  // loads kernels
    // LibTorch throws if one of its own operations would synchronise.
    c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_ERROR);
    EXPECT_NO_THROW(launch(*operation));
    c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_DISABLED);
    c10::cuda::device_synchronize();
    const auto again = operation->verify_again();
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->passed) << again->message;
  }
}

std::vector<KernelVariant> all_variants_of(const std::string& impl) {
  return kernel_variants_in({Precision::kFp32, Precision::kBf16, Precision::kFp16}, impl);
}

INSTANTIATE_TEST_SUITE_P(All, KernelGpu, testing::ValuesIn(all_variants_of("aten")),
                         [](const auto& run) { return name_of(run.param); });
INSTANTIATE_TEST_SUITE_P(Own, KernelGpu, testing::ValuesIn(all_variants_of("fused")),
                         [](const auto& run) { return name_of(run.param); });

using KernelFaultGpu = GpuTest;

TEST_F(KernelFaultGpu, WhatIsNotWrittenIsSeen) {
  KernelImpl impl = *find_kernel_impl("softmax", "aten");
  impl.name = "planted_unwritten";
  // Copies the correct result, which was computed before, except for the last row, which keeps the memory's old
  // contents.
  impl.prepare = [](KernelOperands& operands) {
    operands.saved = find_kernel_impl("softmax", "aten")->forward(operands);
  };
  impl.forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
    at::Tensor result = at::empty_like(operands.inputs[0]);
    const std::int64_t rows = result.size(2) - 1;
    result.narrow(2, 0, rows).copy_(operands.saved[0].narrow(2, 0, rows));
    return {result};
  };
  kernel_ops().find("softmax")->impls.add(impl);
  KernelConfig config =
      kernel_config({"softmax", KernelPass::kForward, Precision::kFp32}, kSmallModel, DeviceKind::kCuda);
  config.impl = "planted_unwritten";
  const auto operation = make_kernel_case(config);
  operation->build();
  const Verification verdict = operation->verify();
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.message, testing::HasSubstr("nan"));
}

}  // namespace
}  // namespace tbench::model
