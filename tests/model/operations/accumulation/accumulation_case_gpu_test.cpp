// Tests sums on a GPU: the course's numbers, our kernels bit by bit at every length around their tiles, and matrix
// products for each accumulator.
#include <gmock/gmock.h>

#include <map>
#include <string>

#include "tbench/model/accumulation_case.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using enum AccumulationOp;
using enum AccumulationMethod;
using testing::HasSubstr;

AccumulationConfig gpu_sum(AccumulationOp op, std::int64_t n, Precision input, Precision accumulator,
                           AccumulationMethod method, std::uint64_t seed = 1) {
  return {.op = op,
          .n = n,
          .input = input,
          .accumulator = accumulator,
          .method = method,
          .device = DeviceKind::kCuda,
          .seed = seed};
}

struct GpuFormats {
  Precision input, accumulator;
};
constexpr GpuFormats kGpuFormats[] = {{Precision::kFp32, Precision::kFp32},
                                      {Precision::kFp16, Precision::kFp16},
                                      {Precision::kFp16, Precision::kFp32},
                                      {Precision::kBf16, Precision::kBf16},
                                      {Precision::kBf16, Precision::kFp32}};

class AccumulationOnGpu : public GpuTest {
 protected:
  /// Returns the counters after a verification that passed.
  static std::map<std::string, double> counters_of_sum(const AccumulationConfig& config) {
    SCOPED_TRACE(testing::Message() << to_string(config.op) << " n " << config.n << ' ' << to_string(config.input)
                                    << ' ' << to_string(config.accumulator) << ' ' << to_string(config.method));
    return verified(make_accumulation_case(config))->counters();
  }
};

TEST_F(AccumulationOnGpu, TheCoursesSumsToTheLastDigit) {
  const auto result = [](Precision input, Precision accumulator, AccumulationMethod method) {
    return counters_of_sum(gpu_sum(kSum, 1000, input, accumulator, method)).at("result");
  };
  EXPECT_EQ(result(Precision::kFp32, Precision::kFp32, kSequential), 10.000133514404297);
  EXPECT_EQ(result(Precision::kFp16, Precision::kFp16, kSequential), 9.953125);
  EXPECT_EQ(result(Precision::kFp16, Precision::kFp32, kSequential), 10.00213623046875);
  EXPECT_EQ(result(Precision::kFp16, Precision::kFp32, kCastUp), 10.00213623046875);
  EXPECT_EQ(result(Precision::kBf16, Precision::kBf16, kSequential), 4.0);
}

TEST_F(AccumulationOnGpu, OurKernelsAreTheHostsSumsBitByBit) {
  for (const auto& [input, accumulator] : kGpuFormats) {
    for (const AccumulationMethod method : {kSequential, kPairwise, kKahan}) {
      for (const std::int64_t n : {1, 2, 3, 255, 1023, 1024, 1025, 4095, 4096, 4097, 7 * 1024 + 5, 65'536, 1'000'003}) {
        for (const AccumulationOp op : {kReduce, kDot}) {
          counters_of_sum(gpu_sum(op, n, input, accumulator, method, static_cast<std::uint64_t>(n)));
        }
      }
    }
  }
}

TEST_F(AccumulationOnGpu, A16BitSumStopsGrowingAndKahansDoesNot) {
  const auto error = [](AccumulationMethod method) {
    return counters_of_sum(gpu_sum(kReduce, 65'536, Precision::kFp16, Precision::kFp16, method)).at("relative_error");
  };
  EXPECT_GT(error(kSequential), 0.5);  // 65,536 * 0.01 = 655, and from 128 on float16 loses terms under 0.0625
  EXPECT_LT(error(kKahan), 0.01);
  EXPECT_LT(error(kPairwise), 0.01);
}

TEST_F(AccumulationOnGpu, LibTorchsSumsAreNearFloat64) {
  for (const Precision input : {Precision::kFp32, Precision::kFp16, Precision::kBf16}) {
    for (const std::int64_t n : {1, 1025, 1'000'003})
      counters_of_sum(gpu_sum(kReduce, n, input, Precision::kFp32, kAten));
  }
  counters_of_sum(gpu_sum(kDot, 1'000'003, Precision::kFp32, Precision::kFp32, kAten));
}

TEST_F(AccumulationOnGpu, MatrixProductsByAccumulator) {
  for (const AccumulationMethod method : {kAten, kCublasLt}) {
    for (const std::int64_t n : {64, 1024, 16'384}) {
      counters_of_sum(gpu_sum(kMatmul, n, Precision::kFp32, Precision::kFp32, method));
      counters_of_sum(gpu_sum(kMatmul, n, Precision::kBf16, Precision::kFp32, method));
      const double wide =
          counters_of_sum(gpu_sum(kMatmul, n, Precision::kFp16, Precision::kFp32, method)).at("relative_error");
      const double half =
          counters_of_sum(gpu_sum(kMatmul, n, Precision::kFp16, Precision::kFp16, method)).at("relative_error");
      RecordProperty(std::string{to_string(method)} + "_" + std::to_string(n) + "_fp16", std::to_string(half));
      if (n == 64) continue;  // rounding of the result hides the accumulator's error
      EXPECT_GT(half, 1.2 * wide) << to_string(method) << ' ' << n;
    }
  }
}

TEST_F(AccumulationOnGpu, CublasLtSaysWhichAlgorithmItTook) {
  const auto operation =
      make_accumulation_case(gpu_sum(kMatmul, 65'536, Precision::kFp16, Precision::kFp16, kCublasLt));
  operation->build();
  const std::map<std::string, std::string> labels = operation->labels();
  EXPECT_THAT(labels.at("sums"), testing::AnyOf("whole", "split"));
  EXPECT_EQ(labels.at("sums") == "whole", labels.at("algorithm").find("split_k 1,") != std::string::npos ||
                                              labels.at("algorithm").find("split_k 0,") != std::string::npos);
}

}  // namespace
}  // namespace tbench::model
