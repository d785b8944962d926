#include "model/attention/verify.hpp"

#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <vector>

namespace tbench::model {
namespace {

const auto kDouble = at::TensorOptions{}.dtype(at::kDouble);

void expect_values(const at::Tensor& actual, const std::vector<double>& expected) {
  const at::Tensor flat = actual.flatten();
  ASSERT_EQ(flat.numel(), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(flat[static_cast<std::int64_t>(i)].item<double>(), expected[i], 1e-14) << i;
  }
}

/// Two queries and two keys with one dimension: the scores are [[ln 2, 0], [0, 0]].
AttentionReferenceInput tiny_input(bool causal) {
  const auto column = [](double first, double second) { return at::tensor({first, second}, kDouble).view({1, 2, 1}); };
  return {.q = column(std::log(2.0), 0.0),
          .k = column(1.0, 0.0),
          .v = column(3.0, 6.0),
          .grad_o = column(1.0, 2.0),
          .scale = 1.0,
          .causal = causal};
}

TEST(AttentionReference, WorkedOutByHand) {
  // p = [[2/3, 1/3], [1/2, 1/2]]; o = [3*2/3 + 6*1/3, 3/2 + 6/2]; lse = [ln(2 + 1), ln 2]
  // dP = grad_o v^T = [[3, 6], [6, 12]]; rowsum(grad_o o) = [4, 9]
  // ds = p (dP - rowsum) = [[2/3 * -1, 1/3 * 2], [1/2 * -3, 1/2 * 3]]
  const AttentionReference result = attention_reference(tiny_input(/*causal=*/false));
  expect_values(result.o, {4.0, 4.5});
  expect_values(result.lse, {std::log(3.0), std::log(2.0)});
  expect_values(result.dv, {2.0 / 3 * 1 + 0.5 * 2, 1.0 / 3 * 1 + 0.5 * 2});
  expect_values(result.dq, {-2.0 / 3, -1.5});                                     // ds k, k = [1, 0]
  expect_values(result.dk, {-2.0 / 3 * std::log(2.0), 2.0 / 3 * std::log(2.0)});  // ds^T q, q = [ln 2, 0]
  expect_values(result.dq_of_rowsum, {4 * 2.0 / 3, 9 * 0.5});                     // grad_o o is [4, 9], p k [2/3, 1/2]
}

TEST(AttentionReference, CausalWorkedOutByHand) {
  // p = [[1, 0], [1/2, 1/2]]; ds = [[0, 0], [-3/2, 3/2]]
  const AttentionReference result = attention_reference(tiny_input(/*causal=*/true));
  expect_values(result.o, {3.0, 4.5});
  expect_values(result.lse, {std::log(2.0), std::log(2.0)});
  expect_values(result.dv, {1 + 0.5 * 2, 0.5 * 2});
  expect_values(result.dq, {0.0, -1.5});
  expect_values(result.dk, {0.0, 0.0});
}

TEST(AttentionReference, TheScaleIsOfScoresAndOfTheirGradients) {
  AttentionReferenceInput input = tiny_input(/*causal=*/false);
  input.q = input.q.mul(4.0);
  input.scale = 0.25;
  const AttentionReference result = attention_reference(input);
  expect_values(result.o, {4.0, 4.5});
  expect_values(result.dq, {-2.0 / 3 / 4, -1.5 / 4});
  expect_values(result.dk, {-2.0 / 3 * std::log(2.0), 2.0 / 3 * std::log(2.0)});
  expect_values(result.dq_of_rowsum, {4 * 2.0 / 3 / 4, 9 * 0.5 / 4});
}

TEST(AttentionReference, SomeQueriesHaveTheRowsThatTheyHaveAmongAll) {
  for (const bool causal : {false, true}) {
    const AttentionReference whole = attention_reference(tiny_input(causal));
    for (const std::int64_t query : {0, 1}) {
      AttentionReferenceInput input = tiny_input(causal);
      input.queries = at::tensor({query});
      input.q = input.q.index_select(1, input.queries);
      input.grad_o = input.grad_o.index_select(1, input.queries);
      const AttentionReference row = attention_reference(input);
      EXPECT_TRUE(row.o.equal(whole.o.narrow(1, query, 1))) << query << causal;
      EXPECT_TRUE(row.lse.equal(whole.lse.narrow(1, query, 1))) << query << causal;
      EXPECT_TRUE(row.dq.equal(whole.dq.narrow(1, query, 1))) << query << causal;
    }
  }
}

TEST(KeyGradients, AreTheRowsOfTheWholeReference) {
  for (const bool causal : {false, true}) {
    const std::int64_t seq_q = 23, seq_kv = causal ? 23 : 31;
    const auto random = [](std::int64_t seq) { return at::randn({1, seq, 4}, kDouble); };
    const AttentionReferenceInput input{.q = random(seq_q),
                                        .k = random(seq_kv),
                                        .v = random(seq_kv),
                                        .grad_o = random(seq_q),
                                        .scale = 0.5,
                                        .causal = causal};
    const AttentionReference whole = attention_reference(input);
    const at::Tensor keys = at::tensor({std::int64_t{22}, std::int64_t{0}, std::int64_t{7}});
    const AttentionKeyGradients rows = key_gradients(input, keys);
    EXPECT_TRUE(rows.dk.allclose(whole.dk.squeeze(0).index_select(0, keys), 1e-12, 1e-13)) << causal;
    EXPECT_TRUE(rows.dv.allclose(whole.dv.squeeze(0).index_select(0, keys), 1e-12, 1e-13)) << causal;
  }
}

TEST(AttentionReference, WithoutGradientOfTheOutputThereAreNone) {
  AttentionReferenceInput input = tiny_input(/*causal=*/false);
  input.grad_o = at::Tensor{};
  const AttentionReference result = attention_reference(input);
  EXPECT_TRUE(result.o.defined());
  EXPECT_FALSE(result.dq.defined() || result.dk.defined() || result.dv.defined());
}

class ReferenceBlocks : public testing::TestWithParam<std::tuple<std::int64_t, bool>> {};

TEST_P(ReferenceBlocks, AgreeWithAutogradOfTheWhole) {
  const auto& [block_elements, causal] = GetParam();
  const std::int64_t pairs = 5, seq_q = 23, seq_kv = causal ? 23 : 31;
  const auto random = [&](std::int64_t seq) { return at::randn({pairs, seq, 4}, kDouble); };
  AttentionReferenceInput input{.q = random(seq_q),
                                .k = random(seq_kv),
                                .v = random(seq_kv),
                                .grad_o = random(seq_q),
                                .scale = 0.5,
                                .causal = causal,
                                .block_elements = block_elements};
  const AttentionReference result = attention_reference(input);
  const std::vector<at::Tensor> leaves{input.q.requires_grad_(true), input.k.requires_grad_(true),
                                       input.v.requires_grad_(true)};
  at::Tensor scores = at::matmul(input.q, input.k.transpose(1, 2)).mul(input.scale);
  if (causal) scores = scores.masked_fill(at::ones({seq_q, seq_kv}, at::kBool).triu(1), -INFINITY);
  const at::Tensor o = at::matmul(at::softmax(scores, -1), input.v);
  const auto gradients = torch::autograd::grad({o}, leaves, {input.grad_o});
  EXPECT_TRUE(result.o.allclose(o, 1e-12, 1e-12));
  EXPECT_TRUE(result.lse.allclose(scores.logsumexp({-1}), 1e-12, 1e-12));
  EXPECT_TRUE(result.dq.allclose(gradients[0], 1e-11, 1e-12));
  EXPECT_TRUE(result.dk.allclose(gradients[1], 1e-11, 1e-12));
  EXPECT_TRUE(result.dv.allclose(gradients[2], 1e-11, 1e-12));
}

// Block sizes: all rows at once, two pairs at a time, seven rows of a pair at a time, and row by row.
INSTANTIATE_TEST_SUITE_P(Sizes, ReferenceBlocks,
                         testing::Combine(testing::Values(1 << 20, 2 * 23 * 31, 7 * 31, 1), testing::Bool()));

}  // namespace
}  // namespace tbench::model
