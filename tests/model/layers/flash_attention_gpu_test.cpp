// Tests our kernels on LibTorch's tensors: they must be as accurate as the libraries' kernels, and correct for a
// model's strides.
#include "model/layers/flash_attention.hpp"

#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model/attention/verify.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

constexpr double kAllowedOverLibrary = 1.5;
/// Allowed error of the worst element, divided by the library's error. A row's running maximum need not equal its
/// largest score to the last bit (src/kernels/attention/design.md). If only one key of a row matters, its probability
/// is therefore rounded like any other; with the largest score it would be exactly 1.
constexpr double kWorstOverLibrary = 2.25;
/// Absolute error below which a result counts as a rounded zero.
constexpr double kNothing = 0x1p-20;
/// The same limit for TF32 operands: dq and dk of a row with one key are differences of two equal numbers, rounded.
constexpr double kNothingOfTf32 = 0x1p-8;

struct Errors {
  double norm, worst;  // relative to the reference's norm and to its root mean square
};

Errors errors_of(const at::Tensor& actual, const at::Tensor& reference) {
  const at::Tensor difference = actual.detach().flatten(0, 1).to(at::kDouble).sub(reference);
  const double norm = reference.norm().item<double>();
  const double rms = norm / std::sqrt(static_cast<double>(reference.numel()));
  if (rms < kNothing) return {.norm = 0.0, .worst = difference.abs().max().item<double>()};
  return {.norm = difference.norm().item<double>() / norm, .worst = difference.abs().max().item<double>() / rms};
}

/// Rounds to TF32 as a tensor core may: 10 bits of the fraction, to nearest.
at::Tensor rounded_to_tf32(const at::Tensor& tensor) {
  constexpr int kHalf = 0x1000, kKept = ~0x1fff;
  return tensor.contiguous().view(at::kInt).add(kHalf).bitwise_and(kKept).view(at::kFloat);
}

/// Returns the library implementation that computes the same result at the same precision.
std::string library_for(Precision precision) {
  if (precision == Precision::kTf32) return "naive";  // cuBLAS' TF32 products
  return precision == Precision::kFp32 ? "sdpa_efficient" : "sdpa_flash";
}

AttentionOutputs outputs_of(AttentionConfig config, const std::string& impl) {
  config.impl = impl;
  return AttentionRunner{config, attention_impls().at(impl)}.outputs();
}

std::vector<AttentionShape> accuracy_shapes() {
  std::vector<AttentionShape> shapes;
  for (const bool causal : {false, true}) {
    for (const std::int64_t head_dim : {16, 32, 64, 80, 96, 128, 256}) {
      for (const std::int64_t seq : {1, 63, 129, 1000}) {
        shapes.push_back({.batch = 4, .heads = 2, .seq_q = seq, .seq_kv = seq, .head_dim = head_dim, .causal = causal});
      }
    }
    shapes.push_back({.batch = 1, .heads = 1, .seq_q = 4097, .seq_kv = 4097, .head_dim = 64, .causal = causal});
    shapes.push_back({.batch = 1, .heads = 1, .seq_q = 4097, .seq_kv = 4097, .head_dim = 128, .causal = causal});
  }
  return shapes;
}

void expect_as_accurate_as_the_library(const AttentionConfig& config) {
  const AttentionRunner runner{config, attention_impls().at("flash")};
  const AttentionOperands& operands = runner.operands();
  const auto reference_of = [&](at::Tensor (*rounded)(const at::Tensor&)) {
    const auto pairs = [&](const at::Tensor& tensor) { return rounded(tensor).flatten(0, 1); };
    return attention_reference({.q = pairs(operands.q),
                                .k = pairs(operands.k),
                                .v = pairs(operands.v),
                                .grad_o = pairs(operands.grad_o),
                                .scale = operands.scale,
                                .causal = config.shape.causal});
  };
  const AttentionReference reference = reference_of([](const at::Tensor& tensor) { return tensor; });
  const AttentionOutputs ours = outputs_of(config, "flash"), theirs = outputs_of(config, library_for(config.precision));
  // cuBLAS computes small products in float32. The error of TF32 is then only the rounding of the operands, which is
  // the same for every implementation.
  AttentionReference least = reference;
  if (config.precision == Precision::kTf32) least = reference_of(&rounded_to_tf32);
  const double nothing = config.precision == Precision::kTf32 ? kNothingOfTf32 : kNothing;
  const auto check = [&](const std::string& name, at::Tensor AttentionOutputs::*output,
                         at::Tensor AttentionReference::*part) {
    const at::Tensor& expected = reference.*part;
    const Errors own = errors_of(ours.*output, expected), library = errors_of(theirs.*output, expected);
    const Errors rounding = errors_of((least.*part).unsqueeze(0), expected);
    EXPECT_LE(own.norm, kAllowedOverLibrary * std::max(library.norm, rounding.norm)) << name;
    EXPECT_LE(own.worst, kWorstOverLibrary * std::max(library.worst, rounding.worst) + nothing) << name;
  };
  check("o", &AttentionOutputs::o, &AttentionReference::o);
  check("dq", &AttentionOutputs::dq, &AttentionReference::dq);
  check("dk", &AttentionOutputs::dk, &AttentionReference::dk);
  check("dv", &AttentionOutputs::dv, &AttentionReference::dv);
}

class FlashAccuracy : public GpuTest, public testing::WithParamInterface<Precision> {};

TEST_P(FlashAccuracy, IsThatOfTheLibrarysKernels) {
  int compared = 0;
  for (const AttentionShape& shape : accuracy_shapes()) {
    const AttentionConfig config{.shape = shape,
                                 .pass = AttentionPass::kForwardBackward,
                                 .precision = GetParam(),
                                 .impl = "flash",
                                 .deterministic = false,
                                 .device = DeviceKind::kCuda,
                                 .seed = 7};
    if (make_attention_case(config)->unsupported_reason()) continue;
    SCOPED_TRACE(fmt::format("length {}, head_dim {}, causal {}", shape.seq_q, shape.head_dim, shape.causal));
    expect_as_accurate_as_the_library(config);
    ++compared;
  }
  RecordProperty("compared", compared);
  if (compared == 0) GTEST_SKIP() << "our kernels take none of the shapes";
}

INSTANTIATE_TEST_SUITE_P(All, FlashAccuracy, testing::ValuesIn(kAllOf<Precision>),
                         [](const auto& run) { return std::string{to_string(run.param)}; });

class FlashAutograd : public GpuTest {
 protected:
  static constexpr std::int64_t kBatch = 2, kSeq = 130, kHeads = 3, kHeadDim = 64;
  static constexpr FlashOptions kOptions{
      .causal = true, .scale = 0.125, .precision = Precision::kBf16, .deterministic = true};

  /// Places q, k and v of a token next to each other, as a model's projection does.
  static at::Tensor packed() {
    return at::randn({kBatch, kSeq, 3, kHeads, kHeadDim}, at::TensorOptions{}.device(at::kCUDA).dtype(at::kBFloat16));
  }
  static std::vector<at::Tensor> heads_of(const at::Tensor& qkv) {
    std::vector<at::Tensor> parts;
    for (const at::Tensor& part : qkv.unbind(2)) parts.push_back(part.transpose(1, 2));
    return parts;
  }
};

TEST_F(FlashAutograd, TakesAndGivesTheLayoutOfAModel) {
  const std::vector<at::Tensor> strided = heads_of(packed());
  const FlashOutput output = flash_forward(strided[0], strided[1], strided[2], kOptions);
  EXPECT_TRUE(output.o.transpose(1, 2).is_contiguous());
  const FlashOutput plain =
      flash_forward(strided[0].contiguous(), strided[1].contiguous(), strided[2].contiguous(), kOptions);
  EXPECT_TRUE(plain.o.is_contiguous());
  EXPECT_TRUE(output.o.equal(plain.o));
  EXPECT_TRUE(output.lse.equal(plain.lse));
}

TEST_F(FlashAutograd, GradientsAreThoseOfTheFormulas) {
  const at::Tensor qkv = packed().requires_grad_(true);
  const std::vector<at::Tensor> parts = heads_of(qkv);
  const at::Tensor o = flash_attention(parts[0], parts[1], parts[2], kOptions);
  const at::Tensor gradient = torch::autograd::grad({o.sum()}, {qkv})[0];  // the output's gradient has strides of 0
  const auto pairs = [](const at::Tensor& tensor) { return tensor.detach().flatten(0, 1); };
  const AttentionReference expected = attention_reference({.q = pairs(parts[0]),
                                                           .k = pairs(parts[1]),
                                                           .v = pairs(parts[2]),
                                                           .grad_o = pairs(at::ones_like(o)),
                                                           .scale = kOptions.scale,
                                                           .causal = true});
  const AttentionTolerances tolerances = attention_tolerances(
      Precision::kBf16,
      {.batch = kBatch, .heads = kHeads, .seq_q = kSeq, .seq_kv = kSeq, .head_dim = kHeadDim, .causal = true},
      kBatch * kHeads);
  const std::vector<at::Tensor> gradients = heads_of(gradient);
  const auto check = [&](const at::Tensor& actual, const at::Tensor& reference, const Tolerance& tolerance) {
    const Verification verdict = compare_tensors("gradient", pairs(actual), reference, tolerance);
    EXPECT_TRUE(verdict.passed) << verdict.message;
  };
  check(gradients[0], expected.dq, tolerances.dq);
  check(gradients[1], expected.dk, tolerances.dk);
  check(gradients[2], expected.dv, tolerances.dv);
}

TEST_F(FlashAutograd, ADenseGradientInAnotherOrderIsCopied) {
  const std::vector<at::Tensor> parts = heads_of(packed());
  const FlashOutput output = flash_forward(parts[0], parts[1], parts[2], kOptions);
  const at::Tensor grad_o = at::randn({kBatch, kHeads, kHeadDim, kSeq}, output.o.options()).transpose(2, 3);
  const FlashGradients odd = flash_backward(grad_o, parts[0], parts[1], parts[2], output, kOptions);
  const FlashGradients plain = flash_backward(grad_o.contiguous(), parts[0], parts[1], parts[2], output, kOptions);
  EXPECT_TRUE(odd.dq.equal(plain.dq));
  EXPECT_TRUE(odd.dv.equal(plain.dv));
}

TEST_F(FlashAutograd, SharedHeadsGetTheSumsOfTheirGroups) {
  const AttentionShape shape{
      .batch = kBatch, .heads = 6, .seq_q = kSeq, .seq_kv = kSeq, .head_dim = kHeadDim, .causal = true, .kv_heads = 2};
  if (const auto reason = flash_unsupported_reason(shape, Precision::kBf16)) GTEST_SKIP() << *reason;
  constexpr std::int64_t kGroup = 3;
  const at::Tensor qkv =
      at::randn({kBatch, kSeq, 10, kHeadDim}, at::TensorOptions{}.device(at::kCUDA).dtype(at::kBFloat16));
  std::vector<at::Tensor> parts;
  for (const at::Tensor& part : qkv.split_with_sizes({6, 2, 2}, 2)) parts.push_back(part.transpose(1, 2));
  const at::Tensor k = parts[1].repeat_interleave(kGroup, 1), v = parts[2].repeat_interleave(kGroup, 1);
  const FlashOutput shared = flash_forward(parts[0], parts[1], parts[2], kOptions);
  const FlashOutput copied = flash_forward(parts[0], k, v, kOptions);
  const auto check = [](const char* name, const at::Tensor& actual, const at::Tensor& expected) {
    const at::Tensor wide = expected.to(at::kDouble), difference = actual.to(at::kDouble).sub(wide);
    EXPECT_EQ(actual.sizes(), expected.sizes()) << name;
    EXPECT_LE(difference.norm().item<double>(), 0x1p-7 * wide.norm().item<double>()) << name;
  };
  check("o", shared.o, copied.o);
  check("lse", shared.lse, copied.lse);
  const at::Tensor grad_o = at::randn(shared.o.sizes(), shared.o.options());
  const FlashGradients gradients = flash_backward(grad_o, parts[0], parts[1], parts[2], shared, kOptions);
  const FlashGradients of_copies = flash_backward(grad_o, parts[0], k, v, copied, kOptions);
  const auto summed = [](const at::Tensor& all) { return all.to(at::kDouble).unflatten(1, {2, kGroup}).sum(2); };
  check("dq", gradients.dq, of_copies.dq);
  check("dk", gradients.dk, summed(of_copies.dk));
  check("dv", gradients.dv, summed(of_copies.dv));
}

TEST_F(FlashAutograd, WhatTheKernelsRefuseIsSaid) {
  AttentionShape shape{.batch = 1, .heads = 1, .seq_q = 64, .seq_kv = 64, .head_dim = 48, .causal = true};
  EXPECT_NE(flash_unsupported_reason(shape, Precision::kBf16).value_or("").find("48"), std::string::npos);
  shape.head_dim = 64;
  EXPECT_FALSE(flash_unsupported_reason(shape, Precision::kBf16));
}

}  // namespace
}  // namespace tbench::model
