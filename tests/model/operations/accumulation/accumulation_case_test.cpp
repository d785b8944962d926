// Tests sums on the CPU: the course's numbers to the last digit, the errors of LibTorch's sums, and injected faults.
#include "tbench/model/accumulation_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "model/operations/accumulation/sums.hpp"
#include "tbench/core/error.hpp"
#include "tests/model/case_support.hpp"
#include "tests/model/planted_output.hpp"

namespace tbench::model {
namespace {

using enum AccumulationOp;
using enum AccumulationMethod;
using testing::HasSubstr;

constexpr Precision kFp32 = Precision::kFp32, kFp16 = Precision::kFp16, kBf16 = Precision::kBf16;

AccumulationConfig cpu_sum(AccumulationOp op, std::int64_t n, Precision input, Precision accumulator,
                           AccumulationMethod method) {
  return {.op = op,
          .n = n,
          .input = input,
          .accumulator = accumulator,
          .method = method,
          .device = DeviceKind::kCpu,
          .seed = 1};
}

/// Returns the counters after a verification that passed.
std::map<std::string, double> counters_of_sum(const AccumulationConfig& config) {
  return verified(make_accumulation_case(config))->counters();
}

struct KnownSum {
  std::int64_t n;
  Precision input, accumulator;
  AccumulationMethod method;
  double result;
};

// The first four sums come from the course.
const KnownSum kKnownSums[] = {
    {1000, kFp32, kFp32, kSequential, 10.000133514404297},
    {1000, kFp16, kFp16, kSequential, 9.953125},
    {1000, kFp16, kFp32, kSequential, 10.00213623046875},
    {1000, kFp16, kFp32, kCastUp, 10.00213623046875},
    {1000, kBf16, kBf16, kSequential, 4.0},
    {1000, kBf16, kFp32, kSequential, 10.009765625},
    {1000, kBf16, kFp32, kCastUp, 10.009765625},
    {10'000, kFp32, kFp32, kSequential, 100.0029525756836},
    {10'000, kFp16, kFp16, kSequential, 32.0},
    {10'000, kFp16, kFp32, kSequential, 100.0213623046875},
    {10'000, kBf16, kBf16, kSequential, 4.0},
    {100'000, kFp32, kFp32, kSequential, 1000.6650390625},
};

TEST(RepeatedAdditions, HaveTheirKnownResultsToTheLastDigit) {
  for (const KnownSum& known : kKnownSums) {
    SCOPED_TRACE(testing::Message() << known.n << ' ' << to_string(known.input) << ' ' << to_string(known.accumulator)
                                    << ' ' << to_string(known.method));
    const auto counters = counters_of_sum(cpu_sum(kSum, known.n, known.input, known.accumulator, known.method));
    EXPECT_EQ(counters.at("result"), known.result);
    // The value of 0.01 in the input's type.
    const double addend = known.input == kFp32   ? 0.009999999776482582
                          : known.input == kFp16 ? 0.01000213623046875
                                                 : 0.010009765625;
    const double exact = static_cast<double>(known.n) * addend;
    EXPECT_DOUBLE_EQ(counters.at("relative_error"), std::abs(known.result - exact) / exact);
  }
}

TEST(RepeatedAdditions, AWrongOneIsCaught) {
  const auto operation = make_accumulation_case(cpu_sum(kSum, 1000, kFp16, kFp16, kSequential));
  operation->build();
  const PlantedOutput fault{"aten::add_", at::kHalf, 1.01};
  const Verification verdict = operation->verify();
  EXPECT_TRUE(PlantedOutput::planted());
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.message, HasSubstr("but must be 9.953125"));
}

TEST(ExactVerdict, TakesTheVeryNumberAlone) {
  EXPECT_TRUE(exact_verdict(0.1, 0.1, "").passed);
  EXPECT_FALSE(exact_verdict(0.1, std::nextafter(0.1, 1.0), "").passed);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(exact_verdict(kNaN, kNaN, "").passed);
}

TEST(Reduce, LibTorchsSumsAreNearFloat64) {
  for (const Precision input : {kFp32, kFp16, kBf16}) {
    for (const std::int64_t n : {1, 1000, 65'537}) {
      const auto counters = counters_of_sum(cpu_sum(kReduce, n, input, kFp32, kAten));
      EXPECT_LT(counters.at("relative_error"), 1e-6) << n;
      // The terms have the mean 0.01 and the standard deviation 0.0076.
      if (n == 1) continue;
      EXPECT_NEAR(counters.at("result") / static_cast<double>(n), 0.01, 5 * 0.0076 / std::sqrt(static_cast<double>(n)));
    }
  }
}

TEST(Dot, LibTorchsIsNearFloat64) {
  const auto counters = counters_of_sum(cpu_sum(kDot, 65'537, kFp32, kFp32, kAten));
  EXPECT_LT(counters.at("relative_error"), 1e-5);
  EXPECT_NEAR(counters.at("result") / 65'537, 0.01, 0.001);
}

TEST(Reduce, AWrongSumIsCaught) {
  const auto operation = make_accumulation_case(cpu_sum(kReduce, 65'536, kFp16, kFp32, kAten));
  operation->build();
  const PlantedOutput fault{"aten::sum", at::kFloat, 1.001};
  EXPECT_FALSE(operation->verify().passed);
  EXPECT_TRUE(PlantedOutput::planted());
}

TEST(LongMatmul, IsNearFloat64) {
  for (const Precision input : {kFp32, kFp16, kBf16}) {
    const auto counters = counters_of_sum(cpu_sum(kMatmul, 96, input, kFp32, kAten));
    // Rounding the result to the input's type causes an error below one unit round-off, and above a tenth of it.
    EXPECT_LT(counters.at("relative_error"), (input == kFp32 ? 16 : 1) * unit_roundoff(input));
    EXPECT_GT(counters.at("relative_error"), 0.1 * unit_roundoff(input));
  }
}

TEST(LongMatmul, AWrongElementIsCaught) {
  const auto operation = make_accumulation_case(cpu_sum(kMatmul, 96, kBf16, kFp32, kAten));
  operation->build();
  const PlantedOutput fault{"aten::mm", at::kBFloat16, 1.5};
  const Verification verdict = operation->verify();
  EXPECT_TRUE(PlantedOutput::planted());
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.message, HasSubstr("y[0, 0]"));
}

TEST(Accumulation, ACpuSaysWhatItLacks) {
  const auto reason = [](const AccumulationConfig& config) {
    return make_accumulation_case(config)->unsupported_reason().value_or("");
  };
  EXPECT_THAT(reason(cpu_sum(kReduce, 8, kFp16, kFp16, kKahan)), HasSubstr("needs a GPU"));
  EXPECT_THAT(reason(cpu_sum(kMatmul, 8, kFp16, kFp16, kAten)), HasSubstr("add in fp32"));
  EXPECT_THAT(reason(cpu_sum(kMatmul, 8, kFp16, kFp32, kCublasLt)), HasSubstr("needs a GPU"));
}

TEST(Accumulation, NonsenseIsRefusedWithTheReason) {
  const auto refusal = [](const AccumulationConfig& config) {
    try {
      static_cast<void>(make_accumulation_case(config));
    } catch (const UsageError& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_THAT(refusal(cpu_sum(kSum, 8, kFp32, kFp32, kKahan)), HasSubstr("it has sequential, cast_up"));
  EXPECT_THAT(refusal(cpu_sum(kSum, 8, kFp32, kFp16, kSequential)), HasSubstr("fp32 or of the input's format"));
  EXPECT_THAT(refusal(cpu_sum(kSum, 8, kFp16, kFp16, kCastUp)), HasSubstr("casts nothing"));
  EXPECT_THAT(refusal(cpu_sum(kSum, 0, kFp32, kFp32, kSequential)), HasSubstr("n:0"));
  EXPECT_THAT(refusal(cpu_sum(kReduce, 8, kFp16, kFp16, kAten)), HasSubstr("at::sum adds in fp32"));
  EXPECT_THAT(refusal(cpu_sum(kDot, 8, kFp16, kFp32, kAten)), HasSubstr("at::dot rounds"));
  EXPECT_THAT(refusal(cpu_sum(kMatmul, 8, kBf16, kBf16, kCublasLt)), HasSubstr("in bf16"));
}

TEST(Accumulation, CountsItsWork) {
  EXPECT_EQ(make_accumulation_case(cpu_sum(kSum, 1000, kFp32, kFp32, kSequential))->work().flop.value, 1000);
  EXPECT_EQ(make_accumulation_case(cpu_sum(kDot, 1000, kFp32, kFp32, kAten))->work().flop.value, 2000);
  EXPECT_EQ(make_accumulation_case(cpu_sum(kMatmul, 3, kFp16, kFp32, kAten))->work().flop.value, 2.0 * 1024 * 1024 * 3);
}

}  // namespace
}  // namespace tbench::model
