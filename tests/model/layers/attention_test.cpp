#include "model/layers/attention.hpp"

#include <ATen/ops/eye.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <vector>

namespace tbench::model {
namespace {

constexpr std::int64_t kContext = 7, kHeads = 3, kHeadDim = 8, kModel = kHeads * kHeadDim;
const auto kAttentionOptions = at::TensorOptions{}.dtype(at::kDouble);
const AttentionConstantsConfig kConstants{.context = kContext,
                                          .size = {.name = {}, .d_model = kModel, .num_heads = kHeads},
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

/// Compares the two variants, with random weights, in a size's shapes.
void expect_equal_variants(const ModelSize& size) {
  AttentionConstantsConfig config = kConstants;
  config.size = size;
  const auto random = [](std::int64_t rows, std::int64_t columns) {
    return at::randn({rows, columns}, kAttentionOptions).mul(0.3).requires_grad_(true);
  };
  const at::Tensor x = at::randn({2, kContext, size.d_model}, kAttentionOptions).requires_grad_(true);
  const at::Tensor qkv = random(size.q_width() + 2 * size.kv_width(), size.d_model);
  const at::Tensor output = random(size.d_model, size.q_width());
  std::vector<at::Tensor> inputs{x, qkv, output};
  AttentionWeights fused_weights{.qkv = qkv, .output = output};
  if (size.qk_norm) {
    fused_weights.q_norm = random(1, size.head_dim())[0];
    fused_weights.k_norm = random(1, size.head_dim())[0];
    inputs.insert(inputs.end(), {fused_weights.q_norm, fused_weights.k_norm});
  }
  AttentionWeights eager_weights = fused_weights;
  const auto parts = qkv.split_with_sizes({size.q_width(), size.kv_width(), size.kv_width()}, 0);
  eager_weights.q = parts[0];
  eager_weights.k = parts[1];
  eager_weights.v = parts[2];
  const at::Tensor eager = eager_attention(x, eager_weights, make_eager_attention_constants(config));
  const at::Tensor fused = fused_attention(x, fused_weights, make_fused_attention_constants(config));
  EXPECT_TRUE(eager.allclose(fused, 1e-10, 1e-10));
  const at::Tensor weight = at::randn(eager.sizes(), kAttentionOptions);
  const auto eager_gradients = torch::autograd::grad({eager}, inputs, {weight});
  const auto fused_gradients = torch::autograd::grad({fused}, inputs, {weight});
  for (std::size_t i = 0; i < eager_gradients.size(); ++i) {
    EXPECT_TRUE(eager_gradients[i].allclose(fused_gradients[i], 1e-9, 1e-9)) << i;
  }
}

TEST(Attention, VariantsAgreeInResultAndGradients) { expect_equal_variants(kConstants.size); }

TEST(Attention, VariantsAgreeWithSharedHeads) {
  for (const std::int64_t kv_heads : {1, 2}) {
    expect_equal_variants({.name = {}, .d_model = 32, .num_heads = 4, .own_kv_heads = kv_heads});
  }
}

TEST(Attention, VariantsAgreeWithAHeadDimOfTheirOwn) {
  expect_equal_variants({.name = {}, .d_model = 24, .num_heads = 4, .own_kv_heads = 2, .own_head_dim = 16});
}

TEST(Attention, VariantsAgreeWithNormsOfQAndKAndAnotherTheta) {
  expect_equal_variants(
      {.name = {}, .d_model = 32, .num_heads = 4, .own_kv_heads = 2, .rope_theta = 5e5, .qk_norm = true});
}

TEST(Attention, AGroupOfHeadsReadsTheSameKeysAndValues) {
  // With equal rows for the two heads of a group, their outputs are equal. The other group has others.
  const ModelSize size{.name = {}, .d_model = 32, .num_heads = 4, .own_kv_heads = 2};
  AttentionConstantsConfig config = kConstants;
  config.size = size;
  const at::Tensor head = at::randn({8, 32}, kAttentionOptions);
  const AttentionWeights weights{.q = head.repeat({4, 1}),
                                 .k = at::randn({16, 32}, kAttentionOptions),
                                 .v = at::randn({16, 32}, kAttentionOptions),
                                 .output = at::eye(32, kAttentionOptions)};
  const at::Tensor x = at::randn({1, kContext, 32}, kAttentionOptions);
  const auto heads = eager_attention(x, weights, make_eager_attention_constants(config)).split(8, -1);
  EXPECT_TRUE(heads[0].allclose(heads[1]));
  EXPECT_TRUE(heads[2].allclose(heads[3]));
  EXPECT_FALSE(heads[1].allclose(heads[2]));
}

}  // namespace
}  // namespace tbench::model
