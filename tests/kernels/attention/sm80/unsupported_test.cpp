#include "kernels/attention/sm80/unsupported.hpp"

#include <gtest/gtest.h>

#include "support/sm80_problems.hpp"

namespace tbench::kernels::sm80 {
namespace {

constexpr int kHeadDims[]{16, 32, 64, 80, 96, 128, 256};
constexpr int kHeadDims32Bit[]{16, 32, 64, 80, 96, 128};

TEST(Unsupported16Bit, NamesWhatDoesNotFit) {
  for (const int head_dim : kHeadDims) {
    EXPECT_EQ(unsupported_reason(problem_16bit(4096, head_dim), kA100), std::nullopt) << head_dim;
  }
  EXPECT_EQ(unsupported_reason(problem_16bit(4096, 96), kSmall), std::nullopt);
  EXPECT_EQ(unsupported_reason(problem_16bit(4096, 128), kSmall),
            "head_dim 128 in bf16 needs 105472 bytes of shared memory a block, the GPU has 101376");
}

TEST(Unsupported16Bit, RefusesMoreBlocksThanAreCounted) {
  // one K/V and one Q tile in each of 2^30 - 1 heads, then in 2^30 heads
  AttentionProblem one = problem_16bit(64, 64);
  one.shape.batch = 32767;
  one.shape.heads = 32769;
  EXPECT_EQ(unsupported_reason(one, kH200), std::nullopt);
  one.shape.batch = one.shape.heads = 32768;
  EXPECT_EQ(
      unsupported_reason(one, kH200),
      "batch 32768, heads 32768, sequences of 64 and 64 make 2147483648 blocks: the kernels count up to 2147483647");
}

TEST(Unsupported32Bit, NamesWhatDoesNotFit) {
  EXPECT_EQ(unsupported_reason(problem_32bit(4, 16, 4096, 64), kSmall), std::nullopt);
  // At head_dim 128 two streamed tiles next to the stationary ones take 512 bytes more than there are.
  const auto reason = unsupported_reason(problem_32bit(4, 16, 4096, 128), kSmall);
  ASSERT_TRUE(reason.has_value());
  EXPECT_NE(reason->find("head_dim 128 in tf32 needs 101888 bytes"), std::string::npos) << *reason;
  EXPECT_NE(reason->find("101376"), std::string::npos) << *reason;
  for (const int head_dim : kHeadDims32Bit)
    EXPECT_EQ(unsupported_reason(problem_32bit(1, 1, 64, head_dim), kH200), std::nullopt) << head_dim;
}

TEST(Unsupported32Bit, RefusesMoreBlocksThanAreCounted) {
  // one K/V and one Q tile in each of 2^30 - 1 heads, then in 2^30 heads
  EXPECT_EQ(unsupported_reason(problem_32bit(32768 - 1, 32768 + 1, 64, 64), kH200), std::nullopt);
  const auto reason = unsupported_reason(problem_32bit(32768, 32768, 64, 64), kH200);
  ASSERT_TRUE(reason.has_value());
  EXPECT_NE(reason->find("make 2147483648 blocks"), std::string::npos) << *reason;
}

}  // namespace
}  // namespace tbench::kernels::sm80
