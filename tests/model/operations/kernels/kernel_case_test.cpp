#include "tbench/model/kernel_case.hpp"

#include <ATen/ops/equal.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/operations/kernels/implementation.hpp"
#include "tbench/core/error.hpp"
#include "tests/model/case_support.hpp"
#include "tests/model/operations/kernels/kernel_cases.hpp"

namespace tbench::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// head_dim is 4; the batch has 2 sequences of 3 tokens.
KernelConfig by_hand(const std::string& op, KernelPass pass, Precision precision) {
  return {.op = op,
          .size = {.name = "hand", .d_model = 8, .d_ff = 24, .num_layers = 1, .num_heads = 2},
          .context = 3,
          .batch = 2,
          .pass = pass,
          .precision = precision,
          .impl = "aten",
          .device = DeviceKind::kCpu,
          .seed = 1};
}

class KernelCpu : public testing::TestWithParam<KernelVariant> {};

TEST_P(KernelCpu, VerifiesAndRuns) {
  const OneThread one_thread;
  for (const KernelShape& shape : kKernelShapes) {
    for (const std::uint64_t seed : {1U, 2U}) {
      SCOPED_TRACE(
          fmt::format("{} x {} tokens, d_model {}, seed {}", shape.batch, shape.context, shape.size.d_model, seed));
      KernelConfig config = kernel_config(GetParam(), shape, DeviceKind::kCpu);
      config.seed = seed;
      const auto operation = make_kernel_case(config);
      ASSERT_FALSE(operation->unsupported_reason());
      operation->build();
      launch(*operation);
      const Verification verdict = operation->verify();
      EXPECT_TRUE(verdict.passed) << verdict.message;
      EXPECT_THAT(verdict.reference, HasSubstr("float64"));
      // Verifies also after launches that may have changed the operands, such as an optimizer's step.
      launch(*operation);
      EXPECT_TRUE(operation->verify().passed);
      const auto again = operation->verify_again();
      ASSERT_TRUE(again);
      EXPECT_TRUE(again->passed) << again->message;
      EXPECT_TRUE(operation->verify().passed);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, KernelCpu, testing::ValuesIn(kernel_variants_in({Precision::kFp32, Precision::kBf16})),
                         [](const auto& run) { return name_of(run.param); });

/// Returns an implementation that computes as `aten` does and then changes one element of the last result.
KernelImpl planted_fault(const std::string& op) {
  KernelImpl impl = *find_kernel_impl(op, "aten");
  impl.name = "planted";
  static constexpr auto kSpoil = [](std::vector<at::Tensor> results) {
    at::Tensor last = results.back().view(-1);
    last.narrow(0, last.numel() - 1, 1).mul_(1.25);
    return results;
  };
  static const auto run = [](const KernelOperands& operands) {
    const KernelImpl& right = *find_kernel_impl(operands.config.op, "aten");
    return kSpoil(operands.config.pass == KernelPass::kForward ? right.forward(operands) : right.backward(operands));
  };
  impl.forward = [](const KernelOperands& operands) { return run(operands); };
  impl.backward = impl.forward;
  return impl;
}

TEST(Kernel, AWrongElementIsFoundInEveryOperation) {
  for (const std::string& op : kernel_op_names()) kernel_ops().find(op)->impls.add(planted_fault(op));
  for (const KernelVariant& variant : kernel_variants_in({Precision::kFp32, Precision::kBf16})) {
    SCOPED_TRACE(name_of(variant));
    KernelConfig config = kernel_config(variant, kKernelShapes.front(), DeviceKind::kCpu);
    config.impl = "planted";
    if (config.op == "embedding" && config.pass == KernelPass::kBackward) continue;  // most rows are zero; tested below
    if (config.op == "linear_cross_entropy")
      continue;  // the last element is smaller than its row's errors; tested below
    const auto operation = make_kernel_case(config);
    operation->build();
    EXPECT_FALSE(operation->verify().passed);
  }
}

TEST(Kernel, AWrongElementOfEveryResultOfTheHeadIsFound) {
  static std::size_t spoilt;
  KernelImpl impl = *find_kernel_impl("linear_cross_entropy", "aten");
  impl.name = "planted_element";
  impl.forward = [](const KernelOperands& operands) {
    std::vector<at::Tensor> results = find_kernel_impl("linear_cross_entropy", "aten")->forward(operands);
    at::Tensor elements = results.at(spoilt).view(-1);
    elements.narrow(0, elements.abs().argmax().item<std::int64_t>(), 1).mul_(1.25);
    return results;
  };
  kernel_ops().find("linear_cross_entropy")->impls.add(impl);
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    for (spoilt = 0; spoilt < 3; ++spoilt) {
      KernelConfig config = kernel_config({"linear_cross_entropy", KernelPass::kForward, precision},
                                          kKernelShapes.front(), DeviceKind::kCpu);
      config.impl = impl.name;
      const auto operation = make_kernel_case(config);
      operation->build();
      EXPECT_FALSE(operation->verify().passed) << to_string(precision) << ", result " << spoilt;
    }
  }
}

TEST(Kernel, ARowOfTheEmbeddingsGradientThatIsLeftOutIsFound) {
  KernelImpl impl = *find_kernel_impl("embedding", "aten");
  impl.name = "planted_row";
  impl.backward = [](const KernelOperands& operands) {
    std::vector<at::Tensor> results = find_kernel_impl("embedding", "aten")->backward(operands);
    results[0].select(0, operands.inputs[1].select(0, 0).item<std::int64_t>()).zero_();
    return results;
  };
  kernel_ops().find("embedding")->impls.add(impl);
  KernelConfig config =
      kernel_config({"embedding", KernelPass::kBackward, Precision::kBf16}, kKernelShapes.front(), DeviceKind::kCpu);
  config.impl = "planted_row";
  const auto operation = make_kernel_case(config);
  operation->build();
  const Verification verdict = operation->verify();
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.message, HasSubstr("dweight["));
}

TEST(Kernel, AStepThatDoesNothingIsFound) {
  KernelImpl impl = *find_kernel_impl("adamw", "aten");
  impl.name = "planted_nothing";
  impl.forward = [](const KernelOperands& operands) {
    std::vector<at::Tensor> results = operands.inputs;
    results.erase(results.begin() + 9, results.begin() + 18);  // the gradients
    return results;
  };
  kernel_ops().find("adamw")->impls.add(impl);
  KernelConfig config = by_hand("adamw", KernelPass::kForward, Precision::kFp32);
  config.impl = "planted_nothing";
  const auto operation = make_kernel_case(config);
  operation->build();
  EXPECT_THAT(operation->verify().message, HasSubstr("parameter 0[0]"));
}

TEST(Kernel, DataDifferFromBufferToBuffer) {
  for (const KernelVariant& variant : kernel_variants_in({Precision::kFp32})) {
    KernelOperands operands{.config = kernel_config(variant, kKernelShapes.front(), DeviceKind::kCpu),
                            .inputs = {},
                            .gradients = {},
                            .saved = {}};
    kernel_ops().at(variant.op).fill(operands);
    std::vector<at::Tensor> all = operands.inputs;
    all.insert(all.end(), operands.gradients.begin(), operands.gradients.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_TRUE(all[i].numel() == 1 || all[i].to(at::kDouble).std().item<double>() > 0.1) << name_of(variant);
      for (std::size_t j = i + 1; j < all.size(); ++j) {
        EXPECT_FALSE(all[i].sizes() == all[j].sizes() && at::equal(all[i], all[j])) << name_of(variant);
      }
    }
  }
}

struct Traffic {
  const char* op;
  KernelPass pass;
  Precision precision;
  KernelBytes bytes;
  const char* ceiling;
};

TEST(Kernel, BytesAreThoseOfEveryInputAndOutputOnce) {
  constexpr auto kForward = KernelPass::kForward, kBackward = KernelPass::kBackward;
  constexpr auto kSingle = Precision::kFp32, kShort = Precision::kBf16;
  const std::vector<Traffic> traffic{
      // x, dy, y, dx: 6 tokens x 8 x 4 bytes = 192; w, dw: 8 x 4 = 32
      {"rmsnorm", kForward, kSingle, {.read = 192 + 32, .written = 192}, "copy"},
      {"rmsnorm", kBackward, kSingle, {.read = 2 * 192 + 32, .written = 192 + 32}, "copy"},
      // q and k: 2 x 6 x 8 x 2 = 192; cos and sin: 2 x 3 positions x 2 pairs x 4 = 48
      {"rope", kForward, kShort, {.read = 192 + 48, .written = 192}, "copy"},
      {"rope", kBackward, kShort, {.read = 192 + 48, .written = 192}, "copy"},
      // gate, up, h: 6 x 24 x 4 = 576
      {"swiglu", kForward, kSingle, {.read = 2 * 576, .written = 576}, "copy"},
      {"swiglu", kBackward, kSingle, {.read = 3 * 576, .written = 2 * 576}, "copy"},
      // scores: 2 x 2 heads x 3 x 3 x 4 = 144
      {"softmax", kForward, kSingle, {.read = 144, .written = 144}, "copy"},
      {"softmax", kBackward, kSingle, {.read = 2 * 144, .written = 144}, "copy"},
      // logits: 6 x 10,000 x 4 = 240,000; targets: 6 x 8 = 48; loss: 4
      {"cross_entropy", kForward, kSingle, {.read = 240'000 + 48, .written = 4}, "read"},
      {"cross_entropy", kBackward, kSingle, {.read = 240'000 + 48 + 4, .written = 240'000}, "copy"},
      // ids: 6 x 8 = 48; rows: 6 x 8 x 4 = 192, all distinct (5.998 expected); table: 10,000 x 8 x 4 = 320,000
      {"embedding", kForward, kSingle, {.read = 48 + 192, .written = 192}, "copy"},
      {"embedding", kBackward, kSingle, {.read = 48 + 192, .written = 320'000}, "write"},
      // one transformer block: (4 x 8 x 8 + 3 x 8 x 24 + 2 x 8) x 4 = 3,392
      {"adamw", kForward, kSingle, {.read = 4 * 3'392, .written = 3 * 3'392}, "copy"},
      // 24 x 8 elements of 4 and of 2 bytes
      {"cast", kForward, kShort, {.read = 768, .written = 384}, "copy"},
      {"cast", kBackward, kShort, {.read = 384, .written = 768}, "copy"},
      // 6 x 8 x 2 = 96
      {"add", kForward, kShort, {.read = 2 * 96, .written = 96}, "copy"},
      // stream: 6 x 8 x 4 = 192; sublayer and normed: 96; w: 32. Backward: sum, dsum, dnormed, w; dx, dsublayer, dw
      {"add_rmsnorm", kForward, kShort, {.read = 192 + 96 + 32, .written = 192 + 96}, "copy"},
      {"add_rmsnorm", kBackward, kShort, {.read = 2 * 192 + 96 + 32, .written = 192 + 96 + 32}, "copy"},
      {"add_rmsnorm", kBackward, kSingle, {.read = 3 * 192 + 32, .written = 192 + 32}, "copy"},
      // q, k and v: 3 x 6 x 8 x 2 = 288; cos and sin: 48
      {"rope_qkv", kForward, kShort, {.read = 288 + 48, .written = 288}, "copy"},
      {"rope_qkv", kBackward, kShort, {.read = 288 + 48, .written = 288}, "copy"},
      // gate, up, h: 576; backward also writes h
      {"swiglu_packed", kForward, kSingle, {.read = 2 * 576, .written = 576}, "copy"},
      {"swiglu_packed", kBackward, kSingle, {.read = 3 * 576, .written = 3 * 576}, "copy"},
      // logits: 6 x 10,000 x 2 = 120,000; targets: 48; losses: 6 x 4 = 24
      {"cross_entropy_in_place", kForward, kShort, {.read = 120'000 + 48, .written = 120'000 + 24}, "copy"},
      // the bytes of adamw, and a copy of half the bytes of one list
      {"adamw_cast", kForward, kShort, {.read = 4 * 3'392, .written = 3 * 3'392 + 1'696}, "copy"},
  };
  for (const Traffic& expected : traffic) {
    SCOPED_TRACE(fmt::format("{} {}", expected.op, to_string(expected.pass)));
    const KernelConfig config = by_hand(expected.op, expected.pass, expected.precision);
    const KernelBytes bytes = kernel_bytes(config);
    EXPECT_EQ(bytes.read, expected.bytes.read);
    EXPECT_EQ(bytes.written, expected.bytes.written);
    const auto operation = make_kernel_case(config);
    EXPECT_EQ(operation->work().bytes, bytes.read + bytes.written);
    EXPECT_EQ(kernel_ceiling(bytes), expected.ceiling);
    EXPECT_EQ(operation->work().flop.value, 0);
    EXPECT_EQ(operation->min_bytes(), std::max(bytes.read, bytes.written));
  }
}

TEST(Kernel, TheHeadCountsTheFlopOfItsProducts) {
  const KernelConfig config = by_hand("linear_cross_entropy", KernelPass::kForward, Precision::kBf16);
  // x and dx: 6 x 8 x 2 = 96; weight and dweight: 10,000 x 8 x 2 = 160,000; targets: 48; losses: 24
  EXPECT_EQ(kernel_bytes(config), (KernelBytes{.read = 96 + 160'000 + 48, .written = 96 + 160'000 + 24}));
  const auto operation = make_kernel_case(config);
  EXPECT_EQ(operation->work().flop.value, 3.0 * 2 * 6 * 8 * 10'000);
  EXPECT_EQ(operation->work().bytes, 0);
  EXPECT_EQ(operation->work().tokens, 6);
  EXPECT_EQ(operation->min_bytes(), 96 + 160'000 + 48);
  EXPECT_EQ(kernel_ceiling(config), "gemm_bf16");
  EXPECT_TRUE(has_products("linear_cross_entropy"));
  EXPECT_EQ(kernel_ceiling(by_hand("rmsnorm", KernelPass::kForward, Precision::kBf16)), "copy");
  EXPECT_FALSE(has_products("rmsnorm"));
}

TEST(Kernel, OnlyTheHeadTakesAnyHeadsAndVocabulary) {
  for (const std::string& op : kernel_op_names()) {
    KernelConfig config = by_hand(op, kernel_variants(op).passes.front(), kernel_variants(op).precisions.front());
    if (config.precision == Precision::kFp16) continue;
    for (const bool has_other_words : {true, false}) {
      config.size.vocab_size = has_other_words ? 501 : kVocabSize;
      config.size.own_kv_heads = has_other_words ? 0 : 1;
      const auto reason = make_kernel_case(config)->unsupported_reason();
      EXPECT_EQ(reason.has_value(), op != "linear_cross_entropy") << op;
      EXPECT_THAT(reason.value_or(op), HasSubstr(op));
    }
  }
}

TEST(Kernel, AHeadOfAnotherVocabularyVerifies) {
  KernelConfig config = by_hand("linear_cross_entropy", KernelPass::kForward, Precision::kFp32);
  config.size.vocab_size = 501;
  const auto operation = verified(make_kernel_case(config));
  EXPECT_TRUE(operation->verify_again().value().passed);
}

TEST(Kernel, RowsThatUniformIdsNameAreCountedOnce) {
  KernelConfig config = by_hand("embedding", KernelPass::kForward, Precision::kFp32);
  config.batch = 4;
  config.context = 1024;
  // 10,000 (1 - (1 - 1/10,000)^4096) = 3,361
  EXPECT_EQ(kernel_bytes(config).read, 4096 * 8 + 3'361 * 32);
  EXPECT_EQ(kernel_bytes(config).written, 4096 * 32);
}

TEST(Kernel, TokensAreThoseOfOperationsOnActivations) {
  EXPECT_EQ(make_kernel_case(by_hand("rmsnorm", KernelPass::kForward, Precision::kFp32))->work().tokens, 6);
  EXPECT_EQ(make_kernel_case(by_hand("adamw", KernelPass::kForward, Precision::kFp32))->work().tokens, 0);
  EXPECT_EQ(make_kernel_case(by_hand("cast", KernelPass::kForward, Precision::kBf16))->work().tokens, 0);
}

TEST(Kernel, DirectionsHaveCeilingsOfTheirOwn) {
  EXPECT_EQ(kernel_ceiling({.read = 100, .written = 100}), "copy");
  EXPECT_EQ(kernel_ceiling({.read = 75, .written = 25}), "copy");
  EXPECT_EQ(kernel_ceiling({.read = 76, .written = 24}), "read");
  EXPECT_EQ(kernel_ceiling({.read = 24, .written = 76}), "write");
}

std::string invalid_reason_of(const std::string& op, KernelPass pass, Precision precision,
                              const std::string& impl = "aten") {
  return kernel_invalid_reason(op, pass, precision, impl).value_or("");
}

TEST(Kernel, CombinationsThatMakeNoSenseSayWhy) {
  EXPECT_EQ(invalid_reason_of("rmsnorm", KernelPass::kBackward, Precision::kFp16), "");
  EXPECT_THAT(invalid_reason_of("rmsnrom", KernelPass::kForward, Precision::kFp32),
              HasSubstr("expected one of rmsnorm, rope"));
  EXPECT_THAT(invalid_reason_of("adamw", KernelPass::kBackward, Precision::kFp32), HasSubstr("no backward"));
  EXPECT_THAT(invalid_reason_of("adamw", KernelPass::kForward, Precision::kBf16), HasSubstr("float32"));
  EXPECT_THAT(invalid_reason_of("add", KernelPass::kBackward, Precision::kFp32), HasSubstr("nothing is launched"));
  EXPECT_THAT(invalid_reason_of("cast", KernelPass::kForward, Precision::kFp32), HasSubstr("float32 already"));
  EXPECT_THAT(invalid_reason_of("rope", KernelPass::kForward, Precision::kTf32), HasSubstr("tf32"));
  EXPECT_THAT(invalid_reason_of("rope", KernelPass::kForward, Precision::kFp32, "fsued"),
              HasSubstr("expected one of aten, fused"));
  EXPECT_THAT(invalid_reason_of("softmax", KernelPass::kForward, Precision::kFp32, "fused"),
              HasSubstr("expected one of aten"));
  EXPECT_THAT(invalid_reason_of("adamw_cast", KernelPass::kForward, Precision::kFp32), HasSubstr("op:adamw"));
  EXPECT_THAT(invalid_reason_of("cross_entropy_in_place", KernelPass::kBackward, Precision::kBf16),
              HasSubstr("overwrites the logits"));
  EXPECT_THAT(invalid_reason_of("linear_cross_entropy", KernelPass::kBackward, Precision::kBf16),
              HasSubstr("also computes the gradients"));
  EXPECT_THROW(make_kernel_case(by_hand("add", KernelPass::kBackward, Precision::kFp32)), UsageError);
  KernelConfig config = by_hand("add", KernelPass::kForward, Precision::kFp32);
  config.context = 0;
  EXPECT_THROW(make_kernel_case(config), UsageError);
  EXPECT_THROW(static_cast<void>(kernel_variants("rmsnrom")), UsageError);
}

TEST(Kernel, WhatACpuCannotRun) {
  const auto refusal = make_kernel_case(by_hand("add", KernelPass::kForward, Precision::kFp16))->unsupported_reason();
  EXPECT_THAT(refusal.value_or(""), HasSubstr("fp16"));
  for (const KernelVariant& variant : kernel_variants_in({Precision::kFp32, Precision::kBf16}, "fused")) {
    const auto own = make_kernel_case(kernel_config(variant, kKernelShapes.front(), DeviceKind::kCpu));
    EXPECT_THAT(own->unsupported_reason().value_or(""), HasSubstr("needs a GPU")) << name_of(variant);
  }
}

TEST(Kernel, OperationsOfAFusedStepHaveOurKernels) {
  std::vector<std::string> ops;
  for (const std::string& op : kernel_op_names()) {
    if (find_kernel_impl(op, "fused") != nullptr) ops.push_back(op);
  }
  EXPECT_THAT(ops, ElementsAre("rmsnorm", "rope", "swiglu", "embedding", "adamw", "add_rmsnorm", "rope_qkv",
                               "swiglu_packed", "cross_entropy_in_place", "adamw_cast", "linear_cross_entropy"));
}

TEST(Kernel, ANameIsTakenOnceAndBuildComesFirst) {
  EXPECT_THROW(kernel_ops().find("rmsnorm")->impls.add(*find_kernel_impl("rmsnorm", "aten")), std::invalid_argument);
  EXPECT_THROW(launch(*make_kernel_case(by_hand("add", KernelPass::kForward, Precision::kFp32))), std::logic_error);
}

TEST(Kernel, OperationsInTheirOrder) {
  EXPECT_THAT(kernel_op_names(), ElementsAre("rmsnorm", "rope", "swiglu", "softmax", "cross_entropy", "embedding",
                                             "adamw", "cast", "add", "add_rmsnorm", "rope_qkv", "swiglu_packed",
                                             "cross_entropy_in_place", "adamw_cast", "linear_cross_entropy"));
  EXPECT_EQ(kernel_impl_names().front(), "aten");
}

TEST(Kernel, PassesAreSpelledAsTheyAreParsed) {
  for (const KernelPass pass : {KernelPass::kForward, KernelPass::kBackward}) {
    EXPECT_EQ(parse_kernel_pass(to_string(pass)), pass);
  }
  EXPECT_FALSE(parse_kernel_pass("forward_backward").has_value());
}

}  // namespace
}  // namespace tbench::model
