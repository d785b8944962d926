#include "model/torch/kept_launches.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace tbench::model {
namespace {

using testing::Each;
using testing::Optional;

TEST(Reservoir, KeepsEveryLaunchWithTheSameProbability) {
  constexpr int kLaunches = 20, kReservoirs = 20'000;
  constexpr std::size_t kSize = 5;
  std::mt19937_64 random{1};
  std::vector<double> kept(kLaunches);
  for (int run = 0; run < kReservoirs; ++run) {
    Reservoir reservoir{kSize};
    std::vector<int> places(kSize);
    for (int launch = 0; launch < kLaunches; ++launch) {
      if (const auto place = reservoir.next(random())) places[*place] = launch;
    }
    EXPECT_EQ(reservoir.kept(), kSize);
    for (const int launch : places) ++kept[static_cast<std::size_t>(launch)];
  }
  // Five standard deviations of a binomial count are allowed.
  const double share = static_cast<double>(kSize) / kLaunches;
  const double allowed = 5 * std::sqrt(kReservoirs * share * (1 - share));
  EXPECT_THAT(kept, Each(testing::DoubleNear(kReservoirs * share, allowed)));
}

TEST(Reservoir, KeepsAllOfFewLaunches) {
  Reservoir reservoir{3};
  EXPECT_EQ(reservoir.kept(), 0U);
  EXPECT_THAT(reservoir.next(7), Optional(0U));
  EXPECT_THAT(reservoir.next(7), Optional(1U));
  EXPECT_EQ(reservoir.kept(), 2U);
}

TimedLaunch launch_number(std::uint32_t number) { return {.number = number, .keys = {}, .hidden = 5 + number}; }

TEST(KeptLaunches, HaveRowsOfOneGroupDigestsAndAWhole) {
  constexpr std::int64_t kGroups = 3, kRows = 4, kColumns = 5;
  KeptLaunches kept{DeviceKind::kCpu, kGroups};
  const at::Tensor output = at::arange(kGroups * kRows * kColumns, at::kFloat).view({kGroups, kRows, kColumns});
  const at::Tensor few = at::arange(kGroups, at::kFloat).unsqueeze(-1);
  for (std::uint32_t number = 1; number <= 3; ++number) kept.add(launch_number(number), {output, at::Tensor{}, few});
  ASSERT_EQ(kept.compared().size(), 3U);
  ASSERT_EQ(kept.digested().size(), 3U);
  EXPECT_EQ(kept.first_bad(), std::nullopt);
  EXPECT_TRUE(kept.outputs()[0].equal(output));
  for (std::size_t place = 0; place < 3; ++place) {
    const at::Tensor rows = kept.rows(place)[0];
    EXPECT_TRUE(rows.floor_divide(kRows).eq(kept.group(place)).all().item<bool>());
    EXPECT_TRUE(kept.values(place)[0].equal(output.view({-1, kColumns}).index_select(0, rows)));
    EXPECT_FALSE(kept.values(place)[1].defined());
    EXPECT_TRUE(kept.values(place)[2].eq(static_cast<double>(kept.group(place))).all().item<bool>());
    const at::Tensor signs = kept.signs(place)[0];
    EXPECT_TRUE(signs.abs().eq(1).all().item<bool>());
    EXPECT_TRUE(kept.digests(place)[0].equal(output.view({-1, kColumns}).to(at::kDouble).mv(signs)));
  }
}

TEST(KeptLaunches, KnowTheFirstThatLeftAnything) {
  KeptLaunches kept{DeviceKind::kCpu, 1};
  for (std::uint32_t number = 1; number <= 600; ++number) {
    at::Tensor output = at::full({7, 3}, 1.0);
    if (number == 441) output[6][2] = std::numeric_limits<double>::quiet_NaN();
    if (number == 500) output[0][0] = std::numeric_limits<double>::infinity();
    kept.add(launch_number(number), {output});
  }
  EXPECT_THAT(kept.first_bad(), Optional(441U));
}

TEST(KeptLaunches, KnowTheFirstOfAnotherShape) {
  KeptLaunches kept{DeviceKind::kCpu, 1};
  kept.add(launch_number(1), {at::full({2, 2}, 1.0)});
  kept.add(launch_number(2), {at::full({2, 3}, 1.0)});
  kept.add(launch_number(3), {at::Tensor{}});
  EXPECT_THAT(kept.first_bad(), Optional(2U));
}

}  // namespace
}  // namespace tbench::model
