#include "profile/ranges.hpp"

#include <gtest/gtest.h>

#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

Profile profile_of(const Trace& trace) { return analyse(trace, KernelRules::built_in()); }

TEST(DerivedRanges, OfAForward) {
  const std::vector<DerivedRange> ranges = profile_of(one_layer()).derived_ranges;
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_EQ(ranges[0].name, "projections");
  EXPECT_EQ(ranges[0].of, 0U);
  EXPECT_EQ(ranges[0].host_ns, 8 + 8);
  EXPECT_EQ(ranges[0].gpu_sum_ns, 40 + 20);
  EXPECT_EQ(ranges[0].launches, 2);
  EXPECT_EQ(ranges[1].name, "residual");
  EXPECT_EQ(ranges[1].host_ns, 140 - 6 - 80 - 20);
  EXPECT_EQ(ranges[1].gpu_sum_ns, 4);
  EXPECT_EQ(ranges[1].operations, 1);
  EXPECT_EQ(ranges[2].name, "not attention");
  EXPECT_EQ(ranges[2].host_ns, 200 - 80);
  EXPECT_EQ(ranges[2].gpu_sum_ns, 10 + 4 + 30);
  EXPECT_EQ(ranges[2].launches, 3);
}

TEST(DerivedRanges, CountAnAttentionInsideOfAnotherOnce) {
  const Trace trace = TraceWriter{}
                          .range(0, 100, "forward")
                          .range(10, 50, "attention")
                          .range(20, 40, "attention")
                          .call(21, 22, 1)
                          .kernel(30, 37, 1)
                          .take();
  const std::vector<DerivedRange> ranges = profile_of(trace).derived_ranges;
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].host_ns, 60);
  EXPECT_EQ(ranges[0].gpu_sum_ns, 0);
}

TEST(DerivedRanges, AreOfTheOutermostRangesWhereNoneIsAPass) {
  const Trace trace =
      TraceWriter{}.range(0, 50, "step").range(10, 30, "attention").range(60, 90, "other").call(1, 2, 1).take();
  const Profile profile = profile_of(trace);
  ASSERT_EQ(profile.derived_ranges.size(), 1U);
  EXPECT_EQ(profile.ranges[profile.derived_ranges[0].of].label, "step");
  EXPECT_EQ(profile.derived_ranges[0].host_ns, 30);
  EXPECT_TRUE(profile_of(Trace{}).derived_ranges.empty());
}

TEST(AttentionTimes, TellSoftmaxMatrixProductsAndTheRestApart) {
  const std::vector<AttentionTime> times = profile_of(one_layer()).attention;
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].phase, 0U);
  EXPECT_EQ(times[0].softmax_ns, 15 + 5);  // includes the elementwise kernel in attention.softmax
  EXPECT_EQ(times[0].scores_ns, 30);
  EXPECT_EQ(times[0].context_ns, 20);
  EXPECT_EQ(times[0].other_ns, 10);
  EXPECT_EQ(times[0].matmul_ns(), 50);
  EXPECT_EQ(times[0].total_ns(), 80);
  EXPECT_TRUE(profile_of(one_step()).attention.empty());
}

}  // namespace
}  // namespace tbench::profile
