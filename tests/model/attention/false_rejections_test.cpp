// Tests how often the verification of an attention core rejects a correct one: separate operations, and ATen's fused
// core.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "tests/model/attention/attention_support.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

constexpr std::array kCheapShapes{
    AttentionShape{.batch = 2, .heads = 2, .seq_q = 48, .seq_kv = 48, .head_dim = 16, .causal = true},
    AttentionShape{.batch = 1, .heads = 1, .seq_q = 3, .seq_kv = 3, .head_dim = 8, .causal = true},
    AttentionShape{.batch = 1, .heads = 3, .seq_q = 40, .seq_kv = 70, .head_dim = 64, .causal = false},
    AttentionShape{.batch = 4, .heads = 1, .seq_q = 5, .seq_kv = 2, .head_dim = 32, .causal = false},
    AttentionShape{.batch = 1, .heads = 1, .seq_q = 200, .seq_kv = 200, .head_dim = 32, .causal = true}};

TEST(AttentionFalseRejections, AtMostOneInAThousandSeeds) {
  const OneThread one_thread;
  std::uint64_t rejections = 0;
  double worst = 0;
  const std::uint64_t seeds = false_rejection_seeds();
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    AttentionConfig config = attention_config(
        DeviceKind::kCpu, seed % 2 == 0 ? "naive" : "sdpa_flash", AttentionPass::kForwardBackward,
        seed / 2 % 2 == 0 ? Precision::kBf16 : Precision::kFp32, kCheapShapes.at(seed / 4 % kCheapShapes.size()));
    config.seed = seed;
    const auto step = make_attention_case(config);
    step->build();
    for (const Verification& verdict : {step->verify(), step->verify_again().value()}) {
      worst = std::max(worst, verdict.worst_error);
      if (verdict.passed) continue;
      ++rejections;
      std::cout << fmt::format("seed {}, {}, {}: {}\n", seed, config.impl, to_string(config.precision),
                               verdict.message);
    }
  }
  std::cout << fmt::format("{} of {} seeds rejected; the largest error is {:.2f} of its tolerance\n", rejections, seeds,
                           worst);
  EXPECT_LE(rejections, seeds / 1000);
}

}  // namespace
}  // namespace tbench::model
