#include "model/attention/verify.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tbench::model {
namespace {

AttentionTolerances of(Precision precision, std::int64_t seq, std::int64_t head_dim = 64, std::int64_t pairs = 8) {
  return attention_tolerances(
      precision, {.batch = pairs, .heads = 1, .seq_q = seq, .seq_kv = seq, .head_dim = head_dim, .causal = false},
      pairs);
}

TEST(AttentionTolerances, TheNormTakesTheMeanErrorOfMany) {
  // The tolerances are sqrt((2 * 5 + 2) / 3) = 2.0 and sqrt((2 * 5 + 7) / 3) = 2.38 round-offs.
  const AttentionTolerances bf16 = of(Precision::kBf16, 65536);
  EXPECT_NEAR(bf16.o.of_norm / 0x1p-8, 2.0, 0.05);
  EXPECT_NEAR(bf16.dq.of_norm / 0x1p-8, 2.38, 0.05);
  EXPECT_EQ(of(Precision::kFp16, 65536).o.of_norm * 8, bf16.o.of_norm);
}

TEST(AttentionTolerances, Float32IsTheLessExactTheLongerAndNowhereNearTf32) {
  const AttentionTolerances shorter = of(Precision::kFp32, 1024), longer = of(Precision::kFp32, 65536);
  EXPECT_LT(shorter.o.of_norm, 2.5e-6);
  EXPECT_GT(longer.o.of_norm, 4 * shorter.o.of_norm);
  EXPECT_LT(longer.o.of_norm, 0.01 * of(Precision::kTf32, 65536).o.of_norm);
  // The sums of the scores are also longer: 512 terms instead of 64.
  EXPECT_GT(of(Precision::kFp32, 1024, 512).o.of_norm, 1.2 * shorter.o.of_norm);
}

/// The largest errors in 5,540 records of correct implementations (bench/results/nvidia_h200), in unit round-offs.
TEST(AttentionTolerances, AllowWhatRightImplementationsShowOnAnH200) {
  constexpr double kMargin = 0.85;
  const auto float32 = [](double roundoffs) { return roundoffs * 0x1p-24 / kMargin; };
  const auto bfloat16 = [](double roundoffs) { return roundoffs * 0x1p-8 / kMargin; };
  EXPECT_GT(of(Precision::kFp32, 64, 32).dk.of_norm, float32(11.6));         // sdpa_efficient
  EXPECT_GT(of(Precision::kFp32, 128, 32).dq.of_norm, float32(12.2));        // sdpa_efficient
  EXPECT_GT(of(Precision::kFp32, 64, 32).o.of_norm, float32(8.8));           // sdpa_efficient
  EXPECT_GT(of(Precision::kFp32, 16384, 256, 1).dv.of_rms, float32(697));    // compiled
  EXPECT_GT(of(Precision::kFp32, 16384, 512, 1).o.of_rms, float32(601));     // compiled
  EXPECT_GT(of(Precision::kBf16, 16384, 32, 1).dq.of_norm, bfloat16(2.08));  // naive
  EXPECT_GT(of(Precision::kBf16, 8192, 32, 4).o.of_norm, bfloat16(1.58));    // naive
}

TEST(AttentionTolerances, AnElementMayBeOffTheMoreTheMoreThereAre) {
  const AttentionTolerances few = of(Precision::kBf16, 128, 64, 1), many = of(Precision::kBf16, 128, 64, 10'000);
  EXPECT_GT(many.o.of_rms, 1.2 * few.o.of_rms);
  EXPECT_GT(few.o.of_rms / 0x1p-8, 20.0);
  EXPECT_LT(many.o.of_rms / 0x1p-8, 100.0);
}

TEST(AttentionTolerances, WhatTheNormOfFewElementsSaysNothingOf) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(of(Precision::kBf16, 2, 4, 1).o.of_norm, kInfinity);
  // With one key, p is 1 and dq and dk are zero. A norm relative to zero has no meaning.
  EXPECT_EQ(of(Precision::kBf16, 1).dq.of_norm, kInfinity);
  EXPECT_GT(of(Precision::kBf16, 1).dk.absolute, 0.0);
  EXPECT_LT(of(Precision::kBf16, 1024).dk.absolute, 0.1 * of(Precision::kBf16, 1).dk.absolute);
}

}  // namespace
}  // namespace tbench::model
