#include "tbench/model/operation/exact.hpp"

#include <ATen/ops/arange.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tbench/model/compare.hpp"

namespace tbench::model {
namespace {

at::Tensor numbers() { return at::arange(1, 7, at::TensorOptions{}.dtype(at::kFloat)).view({2, 3}); }

TEST(VerifyEqual, PassesForTheSameValues) {
  const Verification verdict = verify_equal("x", numbers(), numbers(), "itself");
  EXPECT_TRUE(verdict.passed);
  EXPECT_EQ(verdict.worst_error, 0.0);
  EXPECT_EQ(verdict.reference, "itself");
}

TEST(VerifyEqual, NamesTheFirstElementThatDiffersHoweverLittle) {
  at::Tensor actual = numbers();
  actual[1][1] = std::nextafter(5.0F, 6.0F);
  actual[1][2] = 7;
  const Verification verdict = verify_equal("x", actual, numbers(), "itself");
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.worst_error, kWorstErrorCap);
  EXPECT_EQ(verdict.worst_where, "x[4]");
  EXPECT_EQ(verdict.message, "x[4] is 5.00000048, and has to be 5 exactly (bad elements: 2)");
}

TEST(VerifyEqual, NaNIsEqualToNothing) {
  at::Tensor actual = numbers();
  actual[0][0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(verify_equal("x", actual, actual, "itself").passed);
}

}  // namespace
}  // namespace tbench::model
