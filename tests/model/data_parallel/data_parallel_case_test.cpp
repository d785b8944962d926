// Tests every strategy on two ranks, each in a thread.
#include "tbench/model/data_parallel_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "tbench/core/error.hpp"
#include "tests/model/case_support.hpp"
#include "tests/support/two_ranks.hpp"

namespace tbench::model {
namespace {

using support::as_two_ranks;
using ::testing::HasSubstr;

/// Divides a tiny model into several buckets: its largest parameters have 500 * 64 * 4 = 128,000 bytes.
constexpr std::int64_t kSmallBuckets = 64 << 10;

DataParallelConfig parallel_step(ParallelStrategy strategy, Precision precision, const std::string& impl = "sdpa") {
  return {.model = tiny_step(impl, Pass::kTrainStep, precision), .strategy = strategy, .bucket_bytes = kSmallBuckets};
}

/// Embedding and head: 2 * 500 * 64. Per layer: 4 * 64 * 64 + 3 * 64 * 256 + 2 * 64. Last norm: 64.
constexpr double kParameters = 2 * 500 * 64 + 2 * (4 * 64 * 64 + 3 * 64 * 256 + 2 * 64) + 64;
/// Elements of one storage, rounded up to a multiple of 2 * 64: kParameters is 3053 * 64.
constexpr double kWhole = kParameters + 64;

TEST(DataParallelCase, EveryStrategyIsRightBeforeAndAfterManySteps) {
  const OneThread one_thread;
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    for (const ParallelStrategy strategy : kAllOf<ParallelStrategy>) {
      as_two_ranks([&](ranks::Group& group) {
        const auto subject = make_data_parallel_case(parallel_step(strategy, precision), group);
        ASSERT_EQ(subject->unsupported_reason(), std::nullopt);
        subject->build();
        const Verification before = subject->verify();
        EXPECT_TRUE(before.passed) << to_string(strategy) << ": " << before.message;
        for (int step = 0; step < 3; ++step) EXPECT_EQ(launch(*subject), 3);
        const Verification after = subject->verify_again().value();
        EXPECT_TRUE(after.passed) << to_string(strategy) << ": " << after.message;
        EXPECT_EQ(launch(*subject), 3);
        EXPECT_FALSE(group.has_failed());
      });
    }
  }
}

TEST(DataParallelCase, OtherImplementationsAreRightToo) {
  const OneThread one_thread;
  for (const ParallelStrategy strategy : {ParallelStrategy::kOverlapped, ParallelStrategy::kShardedOptimizer}) {
    as_two_ranks([&](ranks::Group& group) {
      const auto subject = make_data_parallel_case(parallel_step(strategy, Precision::kFp32, "eager"), group);
      subject->build();
      const Verification verdict = subject->verify();
      EXPECT_TRUE(verdict.passed) << to_string(strategy) << ": " << verdict.message;
    });
  }
}

TEST(DataParallelCase, CountsTokensOfAllRanksAndWhatOneGivesToTheOthers) {
  const OneThread one_thread;
  as_two_ranks([](ranks::Group& group) {
    const Work alone =
        model_step_work(tiny_step("sdpa", Pass::kTrainStep, Precision::kFp32).size, 32, 2, Pass::kTrainStep);
    for (const ParallelStrategy strategy : kAllOf<ParallelStrategy>) {
      const auto subject = make_data_parallel_case(parallel_step(strategy, Precision::kFp32), group);
      subject->build();
      EXPECT_EQ(subject->work().tokens, 2 * 2 * 32);
      EXPECT_EQ(subject->work().flop.value, alone.flop.value);
      EXPECT_EQ(subject->labels().at("backend"), "gloo");
      // The alignment adds nothing, because every parameter's count is a multiple of it. A rank's share is half of the
      // storage.
      const double bytes = subject->counters().at("communication_bytes");
      const double expected = strategy == ParallelStrategy::kNone               ? 0
                              : strategy == ParallelStrategy::kShardedOptimizer ? kWhole * 4 * 1.5
                                                                                : kParameters * 4;
      EXPECT_EQ(bytes, expected) << to_string(strategy);
    }
  });
}

TEST(DataParallelCase, AShareOfTheOptimizerIsHalfOfItsState) {
  const OneThread one_thread;
  as_two_ranks([](ranks::Group& group) {
    std::map<ParallelStrategy, std::int64_t> state;
    for (const ParallelStrategy strategy : {ParallelStrategy::kNone, ParallelStrategy::kShardedOptimizer}) {
      const auto subject = make_data_parallel_case(parallel_step(strategy, Precision::kFp32), group);
      subject->build();
      std::map<std::string_view, std::int64_t> held;
      for (const LiveTensor& tensor : subject->live_tensors()) held[tensor.memory_class] += tensor.bytes;
      state[strategy] = held.at("optimizer_state") - 4;  // the step count
      const bool is_whole = strategy == ParallelStrategy::kNone;
      EXPECT_EQ(held.at("parameters"), static_cast<std::int64_t>(is_whole ? kParameters : kWhole) * 4);
      EXPECT_FALSE(held.contains("communication_buffers"));
    }
    EXPECT_EQ(state[ParallelStrategy::kNone], static_cast<std::int64_t>(kParameters) * 8);
    EXPECT_EQ(state[ParallelStrategy::kShardedOptimizer], static_cast<std::int64_t>(kWhole) * 4);
  });
}

TEST(DataParallelCase, RefusesWhatItsRanksCannotAgreeOn) {
  as_two_ranks([](ranks::Group& group) {
    EXPECT_THROW(
        static_cast<void>(make_data_parallel_case(parallel_step(ParallelStrategy::kFlat, Precision::kFp16), group)),
        UsageError);
    DataParallelConfig config = parallel_step(ParallelStrategy::kBucketed, Precision::kFp32);
    config.bucket_bytes = 0;
    EXPECT_THROW(static_cast<void>(make_data_parallel_case(config, group)), UsageError);
  });
}

TEST(DataParallelCase, SaysWhyAStrategyDoesNotGoWithAnImplementation) {
  as_two_ranks([](ranks::Group& group) {
    const auto reason_of = [&](ParallelStrategy strategy, const std::string& impl, Execution exec) {
      DataParallelConfig config = parallel_step(strategy, Precision::kBf16, impl);
      config.model.exec = exec;
      return make_data_parallel_case(config, group)->unsupported_reason().value_or("");
    };
    for (const ParallelStrategy strategy : {ParallelStrategy::kOverlapped, ParallelStrategy::kReducer}) {
      EXPECT_THAT(reason_of(strategy, "fused", Execution::kStream), HasSubstr("impl:fused does without"));
    }
    EXPECT_THAT(reason_of(ParallelStrategy::kShardedOptimizer, "fused", Execution::kStream), HasSubstr("copies"));
    EXPECT_THAT(reason_of(ParallelStrategy::kNaive, "fused", Execution::kStream), HasSubstr("GPUs only"));
    EXPECT_THAT(reason_of(ParallelStrategy::kReducer, "sdpa", Execution::kGraph), HasSubstr("strategy:reducer"));
    EXPECT_THAT(reason_of(ParallelStrategy::kFlat, "sdpa", Execution::kGraph), HasSubstr("CUDA graphs"));
  });
}

}  // namespace
}  // namespace tbench::model
