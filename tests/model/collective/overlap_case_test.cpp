// Tests overlapping communication with two ranks in one process, each in a thread.
#include "tbench/model/overlap_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../support/two_ranks.hpp"

namespace tbench::model {
namespace {

using support::as_two_ranks;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr OverlapConfig kMebibyte{
    .bytes = std::int64_t{1} << 20, .precision = Precision::kFp32, .device = DeviceKind::kCpu, .seed = 3};

struct Counting final : PhaseMarker {
  void mark() override { ++marks; }
  int marks{};
};

TEST(OverlapCase, IsRightBeforeAndAfterManySteps) {
  as_two_ranks([](ranks::Group& group) {
    const auto subject = make_overlap_case(kMebibyte, group);
    ASSERT_EQ(subject->unsupported_reason(), std::nullopt);
    subject->build();
    const Verification before = subject->verify();
    EXPECT_TRUE(before.passed) << before.message;
    Counting marker;
    for (int step = 0; step < 3; ++step) subject->launch(marker);
    EXPECT_EQ(marker.marks, 9);
    EXPECT_THAT(subject->phases(), ElementsAre("products", "exchange", "both"));
    EXPECT_TRUE(subject->verify_again().value().passed);
    EXPECT_EQ(subject->labels().at("backend"), "gloo");
  });
}

TEST(OverlapCase, ProductsGrowWithTheExchange) {
  as_two_ranks([](ranks::Group& group) {
    EXPECT_EQ(make_overlap_case(kMebibyte, group)->counters().at("products"), 2);
    OverlapConfig other = kMebibyte;
    other.bytes = std::int64_t{100} << 20;
    EXPECT_EQ(make_overlap_case(other, group)->counters().at("products"), 8);
    other.bytes = 3;
    EXPECT_THAT(make_overlap_case(other, group)->unsupported_reason().value_or(""), HasSubstr("3 bytes"));
  });
}

/// Rank 1 has another seed, so it sends data that rank 0 does not expect.
TEST(OverlapCase, DataThatAnotherRankShouldNotHaveSentIsFound) {
  as_two_ranks([](ranks::Group& group) {
    OverlapConfig config = kMebibyte;
    config.seed += static_cast<std::uint64_t>(group.rank());
    const auto subject = make_overlap_case(config, group);
    subject->build();
    const Verification verdict = subject->verify();
    EXPECT_FALSE(verdict.passed);
    EXPECT_THAT(verdict.message, HasSubstr("sums of sums"));
  });
}

}  // namespace
}  // namespace tbench::model
