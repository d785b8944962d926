// Compares layers with numbers computed by hand, and the two variants of each with each other, gradients included.
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <vector>

#include "model/layers/layers.hpp"

namespace tbench::model {
namespace {

const auto kDoubleOptions = at::TensorOptions{}.dtype(at::kDouble);

at::Tensor random(at::IntArrayRef shape) { return at::randn(shape, kDoubleOptions).requires_grad_(true); }

/// Expects results, and gradients of a weighted sum of the results, to agree up to rounding.
template <class A, class B>
void expect_same(const A& a, const B& b, const std::vector<at::Tensor>& inputs) {
  const at::Tensor result_a = a(), result_b = b();
  EXPECT_TRUE(result_a.allclose(result_b, 1e-12, 1e-12));
  const at::Tensor weight = at::randn(result_a.sizes(), kDoubleOptions);
  const auto gradients_a = torch::autograd::grad({result_a}, inputs, {weight});
  const auto gradients_b = torch::autograd::grad({result_b}, inputs, {weight});
  for (std::size_t i = 0; i < inputs.size(); ++i)
    EXPECT_TRUE(gradients_a[i].allclose(gradients_b[i], 1e-11, 1e-12)) << i;
}

TEST(Embedding, TakesRows) {
  const at::Tensor weight = at::arange(6, kDoubleOptions).view({3, 2});
  const at::Tensor tokens = at::tensor({2, 0}, at::kLong).view({1, 2});
  const at::Tensor expected = at::tensor({4.0, 5.0, 0.0, 1.0}, kDoubleOptions).view({1, 2, 2});
  EXPECT_TRUE(eager_embedding(weight, tokens).equal(expected));
  EXPECT_TRUE(fused_embedding(weight, tokens).equal(expected));
}

TEST(Embedding, VariantsAgreeOnRepeatedTokens) {
  const at::Tensor weight = random({5, 3});
  const at::Tensor tokens = at::tensor({1, 1, 4, 1}, at::kLong).view({2, 2});
  expect_same([&] { return eager_embedding(weight, tokens); }, [&] { return fused_embedding(weight, tokens); },
              {weight});
}

TEST(RmsNorm, ByHand) {
  // mean(3^2, 4^2) = 12.5; 3 / sqrt(12.50001) * 2, 4 / sqrt(12.50001) * 0.5
  const at::Tensor x = at::tensor({3.0, 4.0}, kDoubleOptions);
  const at::Tensor weight = at::tensor({2.0, 0.5}, kDoubleOptions);
  const at::Tensor expected = at::tensor({6.0 / std::sqrt(12.50001), 2.0 / std::sqrt(12.50001)}, kDoubleOptions);
  EXPECT_TRUE(eager_rms_norm(x, weight).allclose(expected, 1e-14));
  EXPECT_TRUE(fused_rms_norm(x, weight).allclose(expected, 1e-14));
}

TEST(RmsNorm, VariantsAgree) {
  const at::Tensor x = random({2, 3, 7}), weight = random({7});
  expect_same([&] { return eager_rms_norm(x, weight); }, [&] { return fused_rms_norm(x, weight); }, {x, weight});
}

TEST(RmsNorm, SixteenBitInputIsNormalisedInFloat) {
  // 300^2 exceeds the largest float16 number.
  const at::Tensor x = at::tensor({300.0, -300.0}, at::kFloat).to(at::kHalf);
  const at::Tensor y = eager_rms_norm(x, at::tensor({1.0, 1.0}, at::kFloat));
  EXPECT_EQ(y.scalar_type(), at::kHalf);
  EXPECT_EQ(y[0].item<double>(), 1.0);
}

TEST(Rope, ByHand) {
  // head_dim 4: angles at position 2 are 2 * 10000^0 and 2 * 10000^(-2/4) = 0.02.
  const RopeTable table = make_rope_table(3, 4, kDoubleOptions);
  const at::Tensor x = at::tensor({1.0, 0.0, 0.0, 1.0}, kDoubleOptions).expand({1, 1, 3, 4});
  const at::Tensor turned = eager_rope(x, table)[0][0];
  EXPECT_TRUE(turned[0].allclose(x[0][0][0]));
  const at::Tensor expected =
      at::tensor({std::cos(2.0), std::sin(2.0), -std::sin(0.02), std::cos(0.02)}, kDoubleOptions);
  EXPECT_TRUE(turned[2].allclose(expected, 1e-14));
}

TEST(Rope, VariantsAgree) {
  const auto x = random({2, 5, 2, 3, 4});  // [batch, context, n, heads, head_dim]
  const RopeTable table = make_rope_table(5, 4, kDoubleOptions);
  const at::Tensor rotation = make_rope_rotation(5, 4, kDoubleOptions);
  // eager_rope expects the context as the second to last dimension.
  expect_same([&] { return eager_rope(x.movedim(1, -2), table).movedim(-2, 1); },
              [&] { return fused_rope(x, rotation); }, {x});
}

TEST(Rope, KeepsBfloat16WhereFused) {
  const at::Tensor x = at::randn({1, 5, 2, 3, 4}).to(at::kBFloat16);
  EXPECT_EQ(fused_rope(x, make_rope_rotation(5, 4, at::TensorOptions{}.dtype(at::kFloat))).scalar_type(),
            at::kBFloat16);
}

TEST(Swiglu, ByHand) {
  const auto scalar = [](double value) { return at::tensor({value}, kDoubleOptions).view({1, 1}); };
  const FeedForwardWeights weights{.w1 = scalar(2.0), .w2 = scalar(3.0), .w3 = scalar(-1.0)};
  // x = 0.5: silu(1) * -0.5 * 3 = -1.5 / (1 + exp(-1))
  const double expected = -1.5 / (1.0 + std::exp(-1.0));
  EXPECT_NEAR(eager_swiglu(scalar(0.5), weights).item<double>(), expected, 1e-15);
  EXPECT_NEAR(fused_swiglu(scalar(0.5), weights).item<double>(), expected, 1e-15);
}

TEST(Swiglu, VariantsAgree) {
  const at::Tensor x = random({2, 3, 4});
  const FeedForwardWeights weights{.w1 = random({6, 4}), .w2 = random({4, 6}), .w3 = random({6, 4})};
  expect_same([&] { return eager_swiglu(x, weights); }, [&] { return fused_swiglu(x, weights); },
              {x, weights.w1, weights.w2, weights.w3});
}

TEST(CrossEntropy, ByHand) {
  // Logits 0, log 3: probabilities 1/4, 3/4. Targets 0 and 1: (log 4 + log(4/3)) / 2.
  const at::Tensor logits = at::tensor({0.0, std::log(3.0)}, kDoubleOptions).expand({1, 2, 2});
  const at::Tensor targets = at::tensor({0, 1}, at::kLong).view({1, 2});
  const double expected = (std::log(4.0) + std::log(4.0 / 3.0)) / 2;
  EXPECT_NEAR(eager_cross_entropy(logits, targets).item<double>(), expected, 1e-15);
  EXPECT_NEAR(fused_cross_entropy(logits.contiguous(), targets).item<double>(), expected, 1e-15);
}

TEST(CrossEntropy, VariantsAgreeAndLargeLogitsDoNotOverflow) {
  const at::Tensor logits = at::randn({2, 3, 5}, kDoubleOptions).add(1e4).requires_grad_(true);
  const at::Tensor targets = at::tensor({0, 1, 2, 3, 4, 0}, at::kLong).view({2, 3});
  expect_same([&] { return eager_cross_entropy(logits, targets); },
              [&] { return fused_cross_entropy(logits, targets); }, {logits});
}

}  // namespace
}  // namespace tbench::model
