// Tests that the check finds faults injected into every result of an implementation that is otherwise correct.
#include "model/attention/verify.hpp"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tests/model/attention/attention_support.hpp"

namespace tbench::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

AttentionConfig small_config(const std::string& impl, AttentionPass pass, Precision precision) {
  return attention_config(DeviceKind::kCpu, impl, pass, precision,
                          {.batch = 2, .heads = 3, .seq_q = 130, .seq_kv = 130, .head_dim = 32, .causal = true});
}

AttentionState right_forward(const AttentionOperands& operands) {
  return attention_impls().at("sdpa_flash").forward(operands, /*for_backward=*/true);
}
AttentionState plain_forward(const AttentionOperands& operands, bool /*for_backward*/) {
  return right_forward(operands);
}
AttentionGradients plain_backward(const AttentionOperands& operands, const AttentionState& state, bool keep_state) {
  return attention_impls().at("sdpa_flash").backward(operands, state, keep_state);
}

using Forward = AttentionState (*)(const AttentionOperands& operands, bool for_backward);
using Backward = AttentionGradients (*)(const AttentionOperands& operands, const AttentionState& state,
                                        bool keep_state);
struct AttentionFault {
  const char* name;
  const char* seen_in;  // beginning of the expected message
  Forward forward;
  Backward backward;
};

/// Lets the queries of pair (1, 2) from 96 on skip the keys 64 to 95.
at::Tensor tile_skipped(const AttentionOperands& operands) {
  AttentionOperands without = operands;
  without.k = operands.k.clone();
  // The skipped keys get scores far below all others.
  without.k[1][2].narrow(0, 64, 32).copy_(operands.q[1][2].narrow(0, 96, 34).mean(0).mul(-1e3).expand({32, 32}));
  at::Tensor output = right_forward(operands).output;
  output[1][2].narrow(0, 96, 34).copy_(right_forward(without).output[1][2].narrow(0, 96, 34));
  return output;
}

/// Returns a tensor that persists between calls, like memory that a kernel forgets to write.
at::Tensor& forgotten_gradient() {
  static at::Tensor tensor;
  return tensor;
}

const AttentionFault kAttentionFaults[] = {
    {"scale", "o",
     [](const AttentionOperands& operands, bool) {
       AttentionOperands wrong = operands;
       wrong.scale *= 1.05;
       return right_forward(wrong);
     },
     &plain_backward},
    {"mask_off_by_one", "o",
     [](const AttentionOperands& operands, bool) {
       AttentionState state = right_forward(operands);
       // Every query of a pair except the last sees one key too many, as if it stood one position later.
       AttentionOperands later = operands;
       later.q = operands.q.clone();
       later.q[1][1].narrow(0, 1, 129).copy_(operands.q[1][1].narrow(0, 0, 129));
       state.output[1][1].narrow(0, 0, 129).copy_(right_forward(later).output[1][1].narrow(0, 1, 129));
       return state;
     },
     &plain_backward},
    {"tile_skipped", "o",
     [](const AttentionOperands& operands, bool) {
       AttentionState state = right_forward(operands);
       state.output = tile_skipped(operands);
       return state;
     },
     &plain_backward},
    {"nan", "o",
     [](const AttentionOperands& operands, bool) {
       AttentionState state = right_forward(operands);
       state.output[1][0][5][3].fill_(std::numeric_limits<double>::quiet_NaN());
       return state;
     },
     &plain_backward},
    {"lse_in_base_2", "lse",
     [](const AttentionOperands& operands, bool) {
       AttentionState state = right_forward(operands);
       state.lse = state.lse.mul(1.4426950408889634);
       return state;
     },
     [](const AttentionOperands& operands, const AttentionState&, bool keep_state) {
       return plain_backward(operands, right_forward(operands), keep_state);
     }},
    {"lse_of_one_row", "lse",
     [](const AttentionOperands& operands, bool) {
       AttentionState state = right_forward(operands);
       state.lse = state.lse.clone();
       state.lse[1][2][129].add_(1e-3);
       return state;
     },
     [](const AttentionOperands& operands, const AttentionState&, bool keep_state) {
       return plain_backward(operands, right_forward(operands), keep_state);
     }},
    {"dq_scale", "dq", &plain_forward,
     [](const AttentionOperands& operands, const AttentionState& state, bool keep_state) {
       AttentionGradients gradients = plain_backward(operands, state, keep_state);
       gradients.dq.mul_(1.05);
       return gradients;
     }},
    {"dk_tile_zero", "dk", &plain_forward,
     [](const AttentionOperands& operands, const AttentionState& state, bool keep_state) {
       AttentionGradients gradients = plain_backward(operands, state, keep_state);
       gradients.dk[1][2].narrow(0, 96, 16).zero_();
       return gradients;
     }},
    {"dv_of_another_row", "dv", &plain_forward,
     [](const AttentionOperands& operands, const AttentionState& state, bool keep_state) {
       AttentionGradients gradients = plain_backward(operands, state, keep_state);
       gradients.dv[0][1][7].copy_(gradients.dv[0][1][8].clone());
       return gradients;
     }},
    {"dv_not_written", "dv", &plain_forward,
     [](const AttentionOperands& operands, const AttentionState& state, bool keep_state) {
       AttentionGradients gradients = plain_backward(operands, state, keep_state);
       // The first call leaves the correct values in memory; the second writes only half of them.
       if (!forgotten_gradient().defined()) {
         forgotten_gradient() = gradients.dv;
       } else {
         forgotten_gradient().narrow(2, 0, 65).copy_(gradients.dv.narrow(2, 0, 65));
       }
       gradients.dv = forgotten_gradient();
       return gradients;
     }},
};

class PlantedAttentionFault : public testing::TestWithParam<std::tuple<AttentionFault, Precision>> {};

TEST_P(PlantedAttentionFault, IsFound) {
  const auto& [fault, precision] = GetParam();
  forgotten_gradient().reset();
  const std::string name = fault.name;
  AttentionImpl impl = attention_impls().at("sdpa_flash");
  impl.name = name;
  impl.forward = fault.forward;
  impl.backward = fault.backward;
  AttentionRunner runner{small_config(name, AttentionPass::kForwardBackward, precision), impl};
  const Verification verdict = verify_attention(runner);
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.message, StartsWith(fault.seen_in));
  EXPECT_GT(verdict.worst_error, 1.0);
}

INSTANTIATE_TEST_SUITE_P(All, PlantedAttentionFault,
                         testing::Combine(testing::ValuesIn(kAttentionFaults),
                                          testing::Values(Precision::kFp32, Precision::kBf16)),
                         [](const auto& run) {
                           return std::string{std::get<0>(run.param).name} + "_" +
                                  std::string{to_string(std::get<1>(run.param))};
                         });

TEST(VerifyAttention, ABackwardAloneIsCheckedAsMuch) {
  AttentionImpl impl = attention_impls().at("sdpa_flash");
  impl.backward = [](const AttentionOperands& operands, const AttentionState& state, bool keep_state) {
    AttentionGradients gradients = plain_backward(operands, state, keep_state);
    gradients.dk.neg_();
    return gradients;
  };
  AttentionRunner runner{small_config("sdpa_flash", AttentionPass::kBackward, Precision::kFp32), impl};
  EXPECT_FALSE(verify_attention(runner).passed);
}

TEST(VerifyAttention, TheRightOnePassesAndIsReadyToBeTimed) {
  for (const auto pass : {AttentionPass::kForward, AttentionPass::kBackward, AttentionPass::kForwardBackward}) {
    AttentionRunner runner{small_config("naive", pass, Precision::kFp32), attention_impls().at("naive")};
    const Verification verdict = verify_attention(runner);
    EXPECT_TRUE(verdict.passed) << verdict.message;
    EXPECT_GT(verdict.worst_error, 0.0);
    EXPECT_NO_THROW(runner.step({}));
    EXPECT_TRUE(verify_attention(runner).passed);
  }
}

TEST(VerifyAttention, LongSequencesArePartlyComparedAndSaySo) {
  AttentionConfig config = small_config("sdpa_flash", AttentionPass::kForward, Precision::kFp32);
  config.shape.seq_q = config.shape.seq_kv = 2048;  // 2^22 scores per pair: four of six fit the CPU's 2^24
  config.shape.head_dim = 8;
  AttentionRunner runner{config, attention_impls().at("sdpa_flash")};
  const Verification verdict = verify_attention(runner);
  EXPECT_TRUE(verdict.passed) << verdict.message;
  EXPECT_THAT(verdict.reference, HasSubstr("4 of 6 pairs"));
}

TEST(VerifyAttention, APairThatIsNotComparedHasToBeFinite) {
  AttentionConfig config = small_config("sdpa_flash", AttentionPass::kForward, Precision::kFp32);
  config.shape = {.batch = 1, .heads = 2, .seq_q = 4096, .seq_kv = 4096, .head_dim = 8, .causal = true};
  ASSERT_THAT(compared_pairs(config), ElementsAre(1));
  AttentionImpl impl = attention_impls().at("sdpa_flash");
  impl.forward = [](const AttentionOperands& operands, bool) {
    AttentionState state = right_forward(operands);
    state.output[0][0][17][1].fill_(std::numeric_limits<double>::infinity());
    return state;
  };
  AttentionRunner runner{config, impl};
  const Verification verdict = verify_attention(runner);
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.message, HasSubstr("elements of o that are not finite"));
}

TEST(VerifyAttention, AnotherShapeIsFoundHoweverMuchIsCompared) {
  AttentionImpl impl = attention_impls().at("sdpa_flash");
  impl.forward = [](const AttentionOperands& operands, bool) {
    AttentionState state = right_forward(operands);
    state.output = state.output.transpose(1, 2).contiguous();
    return state;
  };
  AttentionConfig config = small_config("sdpa_flash", AttentionPass::kForward, Precision::kFp32);
  for (const std::int64_t seq : {config.shape.seq_q, std::int64_t{4096}}) {
    config.shape = {.batch = 1, .heads = 2, .seq_q = seq, .seq_kv = seq, .head_dim = 8, .causal = true};
    AttentionRunner runner{config, impl};
    const Verification verdict = verify_attention(runner);
    EXPECT_FALSE(verdict.passed);
    EXPECT_EQ(verdict.message,
              fmt::format("o: its shape is [1, {}, 2, 8], the reference's is [1, 2, {}, 8]", seq, seq));
  }
}

TEST(ComparedPairs, AllOfShortOnes) {
  EXPECT_THAT(compared_pairs(small_config("naive", AttentionPass::kForward, Precision::kFp32)),
              ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(ComparedPairs, OfLongOnesTheLastAndOthersByTheSeed) {
  AttentionConfig config = small_config("naive", AttentionPass::kForward, Precision::kFp32);
  config.shape = {.batch = 10, .heads = 10, .seq_q = 1024, .seq_kv = 2048, .head_dim = 8, .causal = false};
  std::set<std::vector<std::int64_t>> choices;
  for (config.seed = 1; config.seed <= 5; ++config.seed) {
    const std::vector<std::int64_t> pairs = compared_pairs(config);
    EXPECT_EQ(pairs.size(), 8U);  // 2^24 / (2^10 * 2^11)
    EXPECT_EQ(pairs.back(), 99);
    EXPECT_EQ(std::set<std::int64_t>(pairs.begin(), pairs.end()).size(), pairs.size());
    EXPECT_TRUE(std::is_sorted(pairs.begin(), pairs.end()));
    EXPECT_EQ(pairs, compared_pairs(config));
    choices.insert(pairs);
  }
  EXPECT_EQ(choices.size(), 5U);
  config.device = DeviceKind::kCuda;
  EXPECT_EQ(compared_pairs(config).size(), 100U);  // 2^28 / 2^21 = 128
}

/// Tests the gradients of many queries. Their only errors come from rounding results to 16 bits and from computing
/// rowsum(grad_o o) with the rounded o, as libraries do. The queries see two to eight keys. Each row is compared with
/// its own size.
TEST(AttentionTolerances, RowsOfFewKeysSeeTheRoundingOfTheOutput) {
  constexpr std::int64_t kPairs = 4000, kSeq = 8, kHeadDim = 64;
  const double scale = 1.0 / std::sqrt(static_cast<double>(kHeadDim));
  at::manual_seed(5);
  const auto rounded = [](const at::Tensor& tensor) { return tensor.to(at::kBFloat16).to(at::kDouble); };
  const auto random = [&] { return rounded(at::randn({kPairs, kSeq, kHeadDim})); };
  const at::Tensor q = random(), k = random(), v = random(), grad_o = random();
  const AttentionReference reference =
      attention_reference({.q = q, .k = k, .v = v, .grad_o = grad_o, .scale = scale, .causal = true});
  const at::Tensor hidden = at::ones({kSeq, kSeq}, at::kBool).triu(1);
  const at::Tensor p =
      at::matmul(q, k.transpose(1, 2)).mul(scale).sub(reference.lse.unsqueeze(-1)).exp().masked_fill(hidden, 0.0);
  const at::Tensor rowsum = grad_o.mul(rounded(reference.o)).sum(-1, /*keepdim=*/true);
  const at::Tensor ds = rounded(p.mul(at::matmul(grad_o, v.transpose(1, 2)).sub(rowsum)));
  const at::Tensor error = rounded(at::matmul(ds, k).mul(scale)).sub(reference.dq).abs();

  const AttentionTolerances tolerances = attention_tolerances(
      Precision::kBf16,
      {.batch = kPairs, .heads = 1, .seq_q = kSeq, .seq_kv = kSeq, .head_dim = kHeadDim, .causal = true}, kPairs);
  const at::Tensor of_size = reference.dq.square().mean(-1, /*keepdim=*/true).sqrt().mul(tolerances.dq.of_rms);
  const auto worst = [&](const at::Tensor& allowed) {
    return error.div(allowed).narrow(1, 1, kSeq - 1).max().item<double>();  // the first query's gradient is zero
  };
  const at::Tensor more = reference.dq_of_rowsum.mul(tolerances.dq_of_rowsum);
  EXPECT_LT(worst(of_size.add(more)), 1.0);
  EXPECT_GT(worst(of_size), 1.0);
}

}  // namespace
}  // namespace tbench::model
