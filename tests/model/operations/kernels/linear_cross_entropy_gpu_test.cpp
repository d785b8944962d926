// Tests the chunked LM head on a GPU, as the operation linear_cross_entropy: heads of several chunks, with and without
// a shorter last chunk, verify and do not wait for the device. A head that overwrites the gradient of the weight
// instead of adding to it, or that skips its last chunk, is found.
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/operations/kernels/linear_cross_entropy.hpp"
#include "model/torch/scopes.hpp"
#include "tests/model/case_support.hpp"
#include "tests/model/operations/kernels/kernel_cases.hpp"

namespace tbench::model {
namespace {

constexpr const char* kOp = "linear_cross_entropy";

KernelShape head_shape(std::int64_t tokens, std::int64_t d_model, std::int64_t vocab_size) {
  return {
      {.name = "head", .d_model = d_model, .d_ff = d_model, .num_layers = 1, .num_heads = 1, .vocab_size = vocab_size},
      1,
      tokens};
}

/// One chunk; two whole chunks; two and a shorter one; a last chunk of one row; odd extents.
const std::vector<KernelShape> kHeadShapes{head_shape(2112, 64, 10'000), head_shape(4096, 64, 10'000),
                                           head_shape(5000, 128, 32'000), head_shape(4097, 64, 4096),
                                           head_shape(2201, 66, 1003)};

KernelConfig head_config(const KernelShape& shape, Precision precision, const std::string& impl) {
  return kernel_config({kOp, KernelPass::kForward, precision, impl}, shape, DeviceKind::kCuda);
}

class ChunkedHeadGpu : public GpuTest, public testing::WithParamInterface<Precision> {};

TEST_P(ChunkedHeadGpu, VerifiesAndRunsWithoutWaitingForTheDevice) {
  for (const KernelShape& shape : kHeadShapes) {
    SCOPED_TRACE(
        fmt::format("{} tokens, d_model {}, {} words", shape.context, shape.size.d_model, shape.size.vocab_size));
    const auto operation = make_kernel_case(head_config(shape, GetParam(), "fused"));
    ASSERT_EQ(operation->unsupported_reason().value_or(""), "");
    operation->build();
    const Verification verdict = operation->verify();
    EXPECT_TRUE(verdict.passed) << verdict.message;
    RecordProperty(fmt::format("worst_error_{}", shape.context),
                   fmt::format("{:.3g} at {}", verdict.worst_error, verdict.worst_where));
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

INSTANTIATE_TEST_SUITE_P(All, ChunkedHeadGpu, testing::Values(Precision::kFp32, Precision::kBf16, Precision::kFp16),
                         [](const auto& run) { return std::string{to_string(run.param)}; });

/// Runs `run` with a head of its own for the operands, and returns the results.
template <class Run>
std::vector<at::Tensor> with_head(const KernelOperands& operands, const Run& run) {
  const KernelConfig& config = operands.config;
  const HeadShape shape{.tokens = config.tokens(),
                        .d_model = config.size.d_model,
                        .vocab_size = config.size.vocab_size,
                        .precision = config.precision};
  const ProductLibrary library{torch_device(config.device), /*has_side_stream=*/false};
  ChunkedHead head{library, shape};
  HeadResults results = make_head_results(operands, shape);
  run(head, head_operands(operands, results));
  return {results.losses, results.dx, results.dweight};
}

std::vector<at::Tensor> whole_head(const KernelOperands& operands) {
  return with_head(operands, [](ChunkedHead& head, const HeadOperands& of) { head.run(of); });
}

std::vector<at::Tensor> overwriting_head(const KernelOperands& operands) {
  return with_head(operands, [](ChunkedHead& head, const HeadOperands& of) {
    for (std::int64_t chunk = 0; chunk < head.chunks().count; ++chunk) head.run_chunk(of, chunk, /*adds=*/false);
  });
}

/// Skips the last chunk. Its rows of dx and its losses have the right values, which an earlier run left there.
std::vector<at::Tensor> skipping_head(const KernelOperands& operands) {
  return with_head(operands, [](ChunkedHead& head, const HeadOperands& of) {
    head.run(of);
    for (std::int64_t chunk = 0; chunk + 1 < head.chunks().count; ++chunk) head.run_chunk(of, chunk, chunk > 0);
  });
}

/// Returns the message of the verification with a head that `forward` runs; empty if it passes.
std::string failure_of(const std::string& impl, std::vector<at::Tensor> (*forward)(const KernelOperands&),
                       Precision precision) {
  KernelOp& op = *kernel_ops().find(kOp);
  if (op.impls.find(impl) == nullptr) op.impls.add({.name = impl, .forward = forward});
  const auto operation = make_kernel_case(head_config(head_shape(5000, 64, 10'000), precision, impl));
  operation->build();
  const Verification verdict = operation->verify();
  return verdict.passed ? "" : verdict.message;
}

TEST_P(ChunkedHeadGpu, FaultsOfItsChunksAreFound) {
  EXPECT_EQ(failure_of("planted_none", &whole_head, GetParam()), "");
  EXPECT_NE(failure_of("planted_overwriting", &overwriting_head, GetParam()), "");
  EXPECT_NE(failure_of("planted_skipping", &skipping_head, GetParam()), "");
}

using ChunkedHeadGpuSizes = GpuTest;

TEST_F(ChunkedHeadGpuSizes, NullOperandsAreRefused) {
  KernelOperands operands{.config = head_config(head_shape(16, 64, 128), Precision::kBf16, "fused"),
                          .inputs = {},
                          .gradients = {},
                          .saved = {}};
  kernel_ops().at(kOp).fill(operands);
  EXPECT_THROW(with_head(operands,
                         [](ChunkedHead& head, HeadOperands of) {
                           of.losses = nullptr;
                           head.run(of);
                         }),
               std::invalid_argument);
}

}  // namespace
}  // namespace tbench::model
