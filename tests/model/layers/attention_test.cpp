#include "model/layers/attention.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

namespace tbench::model {
namespace {

constexpr std::int64_t kContext = 7, kHeads = 3, kHeadDim = 8, kModel = kHeads * kHeadDim;
const auto kAttentionOptions = at::TensorOptions{}.dtype(at::kDouble);
const AttentionConstantsConfig kConstants{.context = kContext,
                                          .num_heads = kHeads,
                                          .head_dim = kHeadDim,
                                          .options = kAttentionOptions,
                                          .score_dtype = at::kDouble};

at::Tensor random_weight() { return at::randn({kModel, kModel}, kAttentionOptions).mul(0.2).requires_grad_(true); }

TEST(Softmax, RowsSumToOneAndMinusInfinityIsZero) {
  at::Tensor x = at::randn({2, 3}, kAttentionOptions);
  x[0][2] = -INFINITY;
  const at::Tensor y = eager_softmax(x);
  EXPECT_TRUE(y.sum(-1).allclose(at::randn({2}, kAttentionOptions).fill_(1.0)));
  EXPECT_EQ(y[0][2].item<double>(), 0.0);
  EXPECT_NEAR(y[1][0].div(y[1][1]).item<double>(), std::exp(x[1][0].sub(x[1][1]).item<double>()), 1e-12);
}

TEST(Attention, APositionSeesNothingOfLaterOnes) {
  const AttentionWeights weights{
      .q = random_weight(), .k = random_weight(), .v = random_weight(), .qkv = {}, .output = random_weight()};
  const AttentionConstants constants = make_eager_attention_constants(kConstants);
  const at::Tensor x = at::randn({1, kContext, kModel}, kAttentionOptions);
  at::Tensor changed = x.clone();
  changed[0][4].fill_(3.0);
  const at::Tensor before = eager_attention(x, weights, constants),
                   after = eager_attention(changed, weights, constants);
  EXPECT_TRUE(before.narrow(1, 0, 4).equal(after.narrow(1, 0, 4)));
  for (std::int64_t position = 4; position < kContext; ++position) {
    EXPECT_FALSE(before[0][position].allclose(after[0][position])) << position;
  }
}

TEST(Attention, TheFirstPositionIsItsOwnValue) {
  const AttentionWeights weights{
      .q = random_weight(), .k = random_weight(), .v = random_weight(), .qkv = {}, .output = random_weight()};
  const at::Tensor x = at::randn({1, kContext, kModel}, kAttentionOptions);
  const at::Tensor expected = x[0][0].matmul(weights.v.t()).matmul(weights.output.t());
  EXPECT_TRUE(eager_attention(x, weights, make_eager_attention_constants(kConstants))[0][0].allclose(expected, 1e-10));
}

TEST(Attention, VariantsAgreeInResultAndGradients) {
  const at::Tensor x = at::randn({2, kContext, kModel}, kAttentionOptions).requires_grad_(true);
  const at::Tensor qkv = at::randn({3 * kModel, kModel}, kAttentionOptions).mul(0.3).requires_grad_(true);
  const at::Tensor output = random_weight();
  const auto parts = qkv.split(kModel, 0);
  const at::Tensor eager =
      eager_attention(x, {.q = parts[0], .k = parts[1], .v = parts[2], .qkv = {}, .output = output},
                      make_eager_attention_constants(kConstants));
  const at::Tensor fused = fused_attention(x, {.q = {}, .k = {}, .v = {}, .qkv = qkv, .output = output},
                                           make_fused_attention_constants(kConstants));
  EXPECT_TRUE(eager.allclose(fused, 1e-10, 1e-10));
  const at::Tensor weight = at::randn(eager.sizes(), kAttentionOptions);
  const auto eager_gradients = torch::autograd::grad({eager}, {x, qkv, output}, {weight});
  const auto fused_gradients = torch::autograd::grad({fused}, {x, qkv, output}, {weight});
  for (std::size_t i = 0; i < eager_gradients.size(); ++i) {
    EXPECT_TRUE(eager_gradients[i].allclose(fused_gradients[i], 1e-9, 1e-9)) << i;
  }
}

}  // namespace
}  // namespace tbench::model
