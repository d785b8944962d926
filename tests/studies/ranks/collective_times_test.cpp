#include "studies/ranks/collective_times.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

namespace tbench::studies {
namespace {

using enum CollectiveOp;

constexpr double kUs = 1e-6;

/// Returns times of two GPUs: 10 us up to 1 kB, 40 us for 100 kB, and 400 us for 1 MB.
CollectiveTimes of_two() {
  CollectiveTimes times;
  times.add(kAllReduce, 2, 1e3, Seconds{10 * kUs});
  times.add(kAllReduce, 2, 1e6, Seconds{400 * kUs});
  times.add(kAllReduce, 2, 1e5, Seconds{40 * kUs});
  return times;
}

double us(const CollectiveTimes& times, std::int64_t gpus, double bytes) {
  return times.time(kAllReduce, gpus, bytes).value().value / kUs;
}

TEST(CollectiveTimes, LieOnLinesInTheLogarithmsOfWhatWasMeasured) {
  const CollectiveTimes times = of_two();
  EXPECT_NEAR(us(times, 2, 1e5), 40, 1e-9);
  EXPECT_NEAR(us(times, 2, 1e4), 20, 1e-9);  // logarithmically half way from 1 kB to 100 kB: sqrt(10 * 40)
  EXPECT_NEAR(us(times, 2, 100), 10, 1e-9);
  EXPECT_NEAR(us(times, 2, 1e7), 4000, 1e-9);  // with the bandwidth of 1 MB
}

TEST(CollectiveTimes, OfMoreGpusKeepTheBusBandwidthAndTheLatency) {
  const CollectiveTimes times = of_two();
  EXPECT_NEAR(us(times, 4, 1e5), 55, 1e-9);    // 10 + (40 - 10) * 1.5 / 1
  EXPECT_NEAR(us(times, 8, 1e5), 62.5, 1e-9);  // 10 + 30 * 1.75
  EXPECT_NEAR(us(times, 8, 100), 10, 1e-9);
  EXPECT_EQ(times.source(kAllReduce, 8), 2);
}

TEST(CollectiveTimes, TwoCountsGiveTheLatencyOfOthers) {
  CollectiveTimes times = of_two();
  times.add(kAllReduce, 4, 1e3, Seconds{14 * kUs});
  times.add(kAllReduce, 4, 1e5, Seconds{50 * kUs});
  EXPECT_NEAR(us(times, 4, 1e5), 50, 1e-9);
  EXPECT_NEAR(us(times, 8, 1e5), 64, 1e-9);  // latency 14 + 4 * 2; (50 - 14) * 1.75 / 1.5
  EXPECT_NEAR(us(times, 3, 1e5), 52, 1e-9);  // from 2: latency 10 + 2; 30 * (4 / 3) / 1
  EXPECT_EQ(times.source(kAllReduce, 8), 4);
  EXPECT_EQ(times.source(kAllReduce, 3), 2);
}

TEST(CollectiveTimes, OfFewerGpusComeFromTheSmallestCount) {
  CollectiveTimes times;
  times.add(kAllGather, 8, 1e3, Seconds{10 * kUs});
  times.add(kAllGather, 8, 1e6, Seconds{360 * kUs});
  EXPECT_EQ(times.source(kAllGather, 2), 8);
  EXPECT_NEAR(times.time(kAllGather, 2, 1e6).value().value / kUs, 210, 1e-9);  // 10 + 350 * 0.5 / 0.875
}

TEST(CollectiveTimes, KnowNothingOfWhatWasNotMeasured) {
  EXPECT_EQ(of_two().time(kAllGather, 2, 1e3), std::nullopt);
  EXPECT_EQ(of_two().source(kAllGather, 2), std::nullopt);
}

TEST(CollectiveTimes, RefuseWhatIsNoTime) {
  CollectiveTimes times;
  EXPECT_THROW(times.add(kAllReduce, 1, 1e3, Seconds{1}), std::invalid_argument);
  EXPECT_THROW(times.add(kAllReduce, 2, 0, Seconds{1}), std::invalid_argument);
  EXPECT_THROW(times.add(kAllReduce, 2, 1e3, Seconds{0}), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::studies
