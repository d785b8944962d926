#include "tbench/kernels/accumulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace tbench::kernels {
namespace {

using ::testing::HasSubstr;

std::string refusal(SumProblem problem, bool with_result = true) {
  float value{};
  try {
    sum(problem, with_result ? &value : nullptr, nullptr);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Sum, RefusesWhatItHasNoKernelFor) {
  const float value{};
  const SumProblem good{.a = &value,
                        .b = nullptr,
                        .count = 1,
                        .input = Precision::kFp16,
                        .accumulator = Precision::kFp16,
                        .order = SumOrder::kPairwise};
  SumProblem bad = good;
  bad.count = 0;
  EXPECT_THAT(refusal(bad), HasSubstr("0 terms"));
  bad.count = (std::int64_t{1} << 31) + 1;
  EXPECT_THAT(refusal(bad), HasSubstr("2147483649 terms"));
  bad = good;
  bad.accumulator = Precision::kBf16;
  EXPECT_THAT(refusal(bad), HasSubstr("fp16 input and bf16 accumulator have no kernel"));
  bad = good;
  bad.input = bad.accumulator = Precision::kTf32;
  EXPECT_THAT(refusal(bad), HasSubstr("no kernel"));
  bad = good;
  bad.a = nullptr;
  EXPECT_THAT(refusal(bad), HasSubstr("null"));
  EXPECT_THAT(refusal(good, false), HasSubstr("null"));
}

}  // namespace
}  // namespace tbench::kernels
