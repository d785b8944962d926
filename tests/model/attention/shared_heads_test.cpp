// Attention whose heads of q share heads of k and v: right implementations pass the verification, and mistakes in the
// sharing are found.
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "model/attention/runner.hpp"
#include "model/attention/verify.hpp"
#include "model/layers/shared_heads.hpp"
#include "tbench/core/error.hpp"
#include "tests/model/attention/attention_support.hpp"

namespace tbench::model {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

AttentionConfig sharing_config(const std::string& impl, AttentionPass pass, Precision precision,
                               std::int64_t kv_heads) {
  return attention_config(
      DeviceKind::kCpu, impl, pass, precision,
      {.batch = 2, .heads = 6, .seq_q = 40, .seq_kv = 40, .head_dim = 16, .causal = true, .kv_heads = kv_heads});
}

class SharedHeads
    : public testing::TestWithParam<std::tuple<std::string, AttentionPass, Precision, std::int64_t, bool>> {};

TEST_P(SharedHeads, VerifyAndRun) {
  const auto& [impl, pass, precision, kv_heads, causal] = GetParam();
  AttentionConfig config = sharing_config(impl, pass, precision, kv_heads);
  config.shape.causal = causal;
  const auto step = make_attention_case(config);
  ASSERT_FALSE(step->unsupported_reason());
  step->build();
  const Verification verdict = step->verify();
  EXPECT_TRUE(verdict.passed) << verdict.message;
  EXPECT_TRUE(step->verify_again().value().passed);
}

INSTANTIATE_TEST_SUITE_P(All, SharedHeads,
                         testing::Combine(testing::Values("naive", "sdpa_flash"),
                                          testing::Values(AttentionPass::kForward, AttentionPass::kBackward,
                                                          AttentionPass::kForwardBackward),
                                          testing::Values(Precision::kFp32, Precision::kBf16), testing::Values(1, 2, 3),
                                          testing::Bool()));

/// The steps in which an implementation can be wrong about heads.
struct Sharing {
  at::Tensor (*spread)(const at::Tensor& shared, std::int64_t heads){&repeated_heads};
  at::Tensor (*gather)(const at::Tensor& all, std::int64_t kv_heads){&summed_heads};
};

Sharing& sharing() {
  static Sharing current;
  return current;
}

at::Tensor sharing_weights(const AttentionOperands& operands) {
  const at::Tensor k = sharing().spread(operands.k, operands.config.shape.heads);
  return at::softmax(at::matmul(operands.q, k.transpose(-2, -1)).mul(operands.scale), -1);
}

AttentionState sharing_forward(const AttentionOperands& operands, bool /*for_backward*/) {
  const at::Tensor v = sharing().spread(operands.v, operands.config.shape.heads);
  return {.output = at::matmul(sharing_weights(operands), v), .lse = {}, .saved = {}};
}

AttentionGradients sharing_backward(const AttentionOperands& operands, const AttentionState& state, bool /*keep*/) {
  const std::int64_t heads = operands.config.shape.heads, kv_heads = operands.config.shape.key_heads();
  const at::Tensor k = sharing().spread(operands.k, heads), v = sharing().spread(operands.v, heads);
  const at::Tensor p = sharing_weights(operands);
  const at::Tensor rows = operands.grad_o.mul(state.output).sum(-1, true);
  const at::Tensor ds = at::matmul(operands.grad_o, v.transpose(-2, -1)).sub(rows).mul(p).mul(operands.scale);
  return {.dq = at::matmul(ds, k),
          .dk = sharing().gather(at::matmul(ds.transpose(-2, -1), operands.q), kv_heads),
          .dv = sharing().gather(at::matmul(p.transpose(-2, -1), operands.grad_o), kv_heads)};
}

Verification verdict_of(const Sharing& current) {
  static const AttentionImpl impl{.name = "sharing",
                                  .order = 0,
                                  .precisions = {Precision::kFp32},
                                  .has_deterministic_mode = false,
                                  .score_matrices = 2,
                                  .kernel_mark = {},
                                  .unsupported_reason = nullptr,
                                  .prepare = nullptr,
                                  .forward = &sharing_forward,
                                  .backward = &sharing_backward,
                                  .has_shared_heads = true};
  sharing() = current;
  AttentionConfig config = sharing_config("sharing", AttentionPass::kForwardBackward, Precision::kFp32, 2);
  config.shape.causal = false;
  AttentionRunner runner{config, impl};
  return verify_attention(runner);
}

TEST(SharedHeadsFaults, AreFound) {
  const Verification right = verdict_of({});
  EXPECT_TRUE(right.passed) << right.message;
  const auto by_remainder = [](const at::Tensor& shared, std::int64_t heads) {
    return shared.repeat({1, heads / shared.size(1), 1, 1});
  };
  EXPECT_THAT(verdict_of({.spread = by_remainder}).message, StartsWith("o by heads of k and v["));
  const auto of_the_first = [](const at::Tensor& all, std::int64_t kv_heads) {
    return all.unflatten(1, {kv_heads, -1}).select(2, 0).contiguous();
  };
  EXPECT_THAT(verdict_of({.gather = of_the_first}).message, StartsWith("dk["));
  const auto mean = [](const at::Tensor& all, std::int64_t kv_heads) {
    return all.unflatten(1, {kv_heads, -1}).mean(2);
  };
  EXPECT_THAT(verdict_of({.gather = mean}).message, StartsWith("dk["));
  const auto without_the_last = [](const at::Tensor& all, std::int64_t kv_heads) {
    const at::Tensor groups = all.unflatten(1, {kv_heads, -1});
    return groups.narrow(2, 0, groups.size(2) - 1).sum(2);
  };
  EXPECT_THAT(verdict_of({.gather = without_the_last}).message, StartsWith("dk["));
  const auto of_all_heads = [](const at::Tensor& all, std::int64_t /*kv_heads*/) { return all; };
  EXPECT_FALSE(verdict_of({.gather = of_all_heads}).passed);
}

TEST(SharedHeadsCase, RefusesWhatDoesNotDivideAndWhoCannotShare) {
  AttentionConfig config = sharing_config("naive", AttentionPass::kForward, Precision::kFp32, 4);
  EXPECT_THROW(static_cast<void>(make_attention_case(config)), UsageError);
  config = sharing_config("compiled", AttentionPass::kForward, Precision::kFp32, 2);
  EXPECT_THAT(make_attention_case(config)->unsupported_reason().value_or(""),
              HasSubstr("does not support grouped-query attention"));
}

TEST(SharedHeadsCase, HoldsFewerKeysAndValues) {
  const AttentionShape all{.batch = 1, .heads = 4, .seq_q = 8, .seq_kv = 8, .head_dim = 16, .causal = false};
  AttentionShape shared = all;
  shared.kv_heads = 1;
  constexpr std::int64_t kHead = 8 * 16 * 4;  // bytes of a head
  EXPECT_EQ(attention_min_bytes(all, AttentionPass::kForward, 4), 16 * kHead);
  EXPECT_EQ(attention_min_bytes(shared, AttentionPass::kForward, 4), 10 * kHead);
  EXPECT_EQ(attention_forward_flop(all).value, attention_forward_flop(shared).value);
}

}  // namespace
}  // namespace tbench::model
