#include "model/layers/parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tbench::model {
namespace {

const ModelSize kSize{.name = "test", .d_model = 64, .d_ff = 96, .num_layers = 2, .num_heads = 4, .vocab_size = 500};

Parameters make(bool fused) {
  return Parameters{kSize, {.fused_qkv = fused, .fused_gate_up = fused}, at::TensorOptions{}.dtype(at::kFloat)};
}

TEST(Parameters, CountIsTheFormulas) {
  for (const bool fused : {false, true}) {
    EXPECT_EQ(make(fused).count(), parameter_count(kSize));
    EXPECT_EQ(make(fused).bytes(), 4 * parameter_count(kSize));
  }
}

TEST(Parameters, InOneStorageAreTheSameAndSplitEvenly) {
  const auto in_one = [](std::int64_t shares) {
    return Parameters{kSize, {.fused_qkv = true, .shares = shares}, at::TensorOptions{}.dtype(at::kFloat)};
  };
  Parameters apart = make(false), together = in_one(3);
  EXPECT_FALSE(apart.whole().defined());
  EXPECT_EQ(together.whole().numel() % (3 * 64), 0);
  EXPECT_EQ(together.bytes(), apart.bytes());
  apart.initialise(3);
  together.initialise(3);
  double sum = 0;
  for (std::size_t i = 0; i < apart.named().size(); ++i) {
    EXPECT_TRUE(together.named()[i].value.equal(apart.named()[i].value)) << apart.named()[i].name;
    sum += apart.named()[i].value.to(at::kDouble).sum().item<double>();
  }
  EXPECT_NEAR(together.whole().to(at::kDouble).sum().item<double>(), sum, 1e-9);  // the padding is zero
  for (std::size_t leaf = 0; leaf < together.leaves().size(); ++leaf) {
    EXPECT_TRUE(together.leaves()[leaf].is_leaf() && together.leaves()[leaf].requires_grad());
    EXPECT_EQ(together.leaf_of(together.whole(), leaf).data_ptr(), together.leaves()[leaf].data_ptr());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(together.leaves()[leaf].data_ptr()) % 16, 0U);
  }
}

TEST(Parameters, CountsOfTheStudies) {
  const std::map<std::string, double> studies{
      {"small", 128.6}, {"medium", 423.2}, {"large", 969.4}, {"xl", 1998.2}, {"2.7B", 3406.8}};
  for (const ModelSize& size : builtin_model_sizes()) {
    // The meta device has no storage.
    const Parameters parameters{size, {.fused_qkv = true}, at::TensorOptions{}.device(at::kMeta)};
    EXPECT_EQ(parameters.count(), parameter_count(size)) << size.name;
    const auto course = studies.find(size.name);
    if (course == studies.end()) continue;
    EXPECT_NEAR(static_cast<double>(parameters.count()) / 1e6, course->second, 0.05) << size.name;
  }
}

TEST(Parameters, NamesAreTheCoursesWhateverTheStorage) {
  const std::vector<std::string> expected{
      "token_embeddings.weight",     "layers.0.ln1.weight",         "layers.0.attn.q_proj.weight",
      "layers.0.attn.k_proj.weight", "layers.0.attn.v_proj.weight", "layers.0.attn.output_proj.weight",
      "layers.0.ffn.w1.weight",      "layers.0.ffn.w2.weight",      "layers.0.ffn.w3.weight",
      "layers.0.ln2.weight",         "layers.1.ln1.weight"};
  for (const bool fused : {false, true}) {
    const Parameters parameters = make(fused);
    std::vector<std::string> names;
    for (const auto& parameter : parameters.named()) names.push_back(parameter.name);
    EXPECT_EQ(names.size(), 1 + 2 * block_parameters(kSize) + 2);
    EXPECT_EQ(names.back(), "lm_head.weight");
    EXPECT_EQ(names[names.size() - 2], "ln_final.weight");
    names.resize(expected.size());
    EXPECT_EQ(names, expected);
  }
}

TEST(Parameters, SeededAndTheSameForBothStorages) {
  Parameters separate = make(false), fused = make(true), other = make(false);
  separate.initialise(7);
  fused.initialise(7);
  other.initialise(8);
  for (std::size_t i = 0; i < separate.named().size(); ++i) {
    EXPECT_TRUE(separate.named()[i].value.equal(fused.named()[i].value)) << separate.named()[i].name;
    EXPECT_TRUE(separate.named()[i].value.equal(separate.initial_value(i, 7)));
  }
  EXPECT_FALSE(separate.named()[0].value.equal(other.named()[0].value));
  EXPECT_FALSE(separate.named()[2].value.equal(separate.named()[3].value)) << "q and k must differ";
}

TEST(Parameters, InitialValuesAreTheSameTogetherAndOneByOne) {
  const Parameters parameters = make(true);
  const std::vector<at::Tensor> values = parameters.initial_values(1, block_parameters(kSize), 5);
  ASSERT_EQ(values.size(), 9U);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(values[i].equal(parameters.initial_value(1 + i, 5))) << parameters.named()[1 + i].name;
  }
}

TEST(Parameters, DistributionIsATruncatedNormal) {
  const Parameters parameters = make(false);
  const auto check = [&](std::size_t index, double sigma) {
    const at::Tensor values = parameters.initial_value(index, 3).to(at::kDouble);
    // A normal distribution truncated at 3 sigma has a standard deviation of 0.98658 sigma.
    EXPECT_NEAR(values.std().item<double>() / sigma, 0.98658, 0.02) << index;
    EXPECT_NEAR(values.mean().item<double>() / sigma, 0.0, 0.05) << index;
    EXPECT_LE(values.abs().max().item<double>(), 3.0 * sigma * (1 + 1e-6)) << index;
    EXPECT_GT(values.abs().max().item<double>(), 2.5 * sigma) << index;
  };
  check(0, 1.0);                                                      // embeddings
  check(2, std::sqrt(2.0 / (64 + 64)));                               // q_proj
  check(6, std::sqrt(2.0 / (64 + 96)));                               // w1
  check(parameters.named().size() - 1, std::sqrt(2.0 / (64 + 500)));  // lm_head
  EXPECT_TRUE(parameters.initial_value(1, 3).eq(1.0).all().item<bool>());
}

TEST(Parameters, NormsOfQAndKAreAroundOneAndDiffer) {
  const ModelSize size = parse_model_size("normed:64,96,2,4,qk_norm,head_dim=1024");
  const Parameters parameters{size, {.fused_qkv = true}, at::TensorOptions{}};
  const at::Tensor q = parameters.initial_value(10, 3), k = parameters.initial_value(11, 3);
  ASSERT_EQ(parameters.named()[10].name, "layers.0.attn.q_norm.weight");
  for (const at::Tensor& norm : {q, k}) {
    EXPECT_NEAR(norm.mean().item<double>(), 1.0, 0.01);
    EXPECT_NEAR(norm.std().item<double>(), kHeadNormDeviation, 0.01);
  }
  EXPECT_FALSE(q.equal(k));
}

TEST(Parameters, GradientsAreSlicesOfTheLeaves) {
  Parameters parameters = make(true);
  parameters.initialise(1);
  EXPECT_FALSE(parameters.gradient(3).defined());
  const NamedParameter& k = parameters.named()[3];
  ASSERT_EQ(k.name, "layers.0.attn.k_proj.weight");
  at::Tensor leaf = parameters.leaves()[k.leaf];
  leaf.mutable_grad() = leaf.detach().clone();
  EXPECT_TRUE(parameters.gradient(3).equal(k.value));
  parameters.clear_gradients();
  EXPECT_FALSE(parameters.gradient(3).defined());
}

TEST(Parameters, GateAndUpAreOneLeafBesideDown) {
  const Parameters parameters = make(true);
  const FeedForwardWeights& weights = parameters.weights().blocks.front().feed_forward;
  EXPECT_FALSE(weights.w1.defined() || weights.w3.defined());
  const NamedParameter &w1 = parameters.named()[6], &w2 = parameters.named()[7], &w3 = parameters.named()[8];
  ASSERT_EQ(w1.name, "layers.0.ffn.w1.weight");
  EXPECT_EQ(w1.leaf, w3.leaf);
  EXPECT_NE(w1.leaf, w2.leaf);
  EXPECT_TRUE(parameters.leaves()[w1.leaf].is_same(weights.gate_up));
  EXPECT_TRUE(parameters.leaves()[w2.leaf].is_same(weights.w2));
  EXPECT_EQ(weights.gate_up.size(0), w1.value.size(0) + w3.value.size(0));
  EXPECT_EQ(w3.first_row, w1.value.size(0));
}

}  // namespace
}  // namespace tbench::model
