// Tests collective operations with two ranks in one process, each in a thread.
#include "tbench/model/collective_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "../../support/two_ranks.hpp"

namespace tbench::model {
namespace {

using support::as_two_ranks;
using ::testing::HasSubstr;

struct NoMarker final : PhaseMarker {
  void mark() override {}
};

CollectiveConfig config_of(CollectiveOp op, Precision precision, std::int64_t bytes) {
  return {.op = op, .bytes = bytes, .precision = precision, .device = DeviceKind::kCpu, .seed = 3};
}

/// Also covers more elements than are compared at once (1 Mi), and a count that two ranks cannot share evenly.
TEST(CollectiveCase, EveryOperationIsRightBeforeAndAfterManySteps) {
  for (const std::int64_t bytes : {std::int64_t{1030}, std::int64_t{10} << 20}) {
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      as_two_ranks([&](ranks::Group& group) {
        for (const CollectiveOp op : kAllOf<CollectiveOp>) {
          const auto subject = make_collective_case(config_of(op, precision, bytes), group);
          ASSERT_EQ(subject->unsupported_reason(), std::nullopt);
          subject->build();
          const Verification before = subject->verify();
          EXPECT_TRUE(before.passed) << to_string(op) << " of " << bytes << ": " << before.message;
          NoMarker marker;
          for (int step = 0; step < 3; ++step) subject->launch(marker);
          EXPECT_TRUE(subject->verify_again().value().passed) << to_string(op);
          EXPECT_EQ(subject->counters().at("bus_factor"), bus_factor(op, 2));
          EXPECT_EQ(subject->labels().at("backend"), "gloo");
        }
      });
    }
  }
}

TEST(CollectiveCase, CountsTheBytesThatTheRanksShareEvenly) {
  as_two_ranks([](ranks::Group& group) {
    const auto bytes_of = [&](Precision precision, std::int64_t bytes) {
      return make_collective_case(config_of(CollectiveOp::kAllReduce, precision, bytes), group)->work().bytes;
    };
    EXPECT_EQ(bytes_of(Precision::kFp32, 1030), 1024);  // 128 elements of 4 bytes for each of the 2 ranks
    EXPECT_EQ(bytes_of(Precision::kBf16, 1030), 1028);  // 257 elements of 2 bytes for each rank
    const auto smallest = make_collective_case(config_of(CollectiveOp::kAllReduce, Precision::kFp32, 7), group);
    EXPECT_THAT(smallest->unsupported_reason().value_or(""), HasSubstr("7 bytes"));
  });
}

/// Rank 1 has another seed, so it sends data that rank 0 does not expect, and expects data that rank 0 does not send.
TEST(CollectiveCase, DataThatAnotherRankShouldNotHaveSentIsFound) {
  for (const CollectiveOp op : kAllOf<CollectiveOp>) {
    bool passed[2]{};
    as_two_ranks([&](ranks::Group& group) {
      CollectiveConfig config = config_of(op, Precision::kBf16, 4096);
      config.seed += static_cast<std::uint64_t>(group.rank());
      const auto subject = make_collective_case(config, group);
      subject->build();
      passed[group.rank()] = subject->verify().passed;
    });
    EXPECT_FALSE(passed[1]) << to_string(op);
    EXPECT_EQ(passed[0], op == CollectiveOp::kBroadcast) << to_string(op);  // rank 0 of a broadcast receives nothing
  }
}

}  // namespace
}  // namespace tbench::model
