// Tests the plan of a step's buffers: which buffers may share bytes, the least bytes needed, and that no two buffers
// with overlapping lifetimes overlap in memory.
#include "model/fused/buffer_plan.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <vector>

namespace tbench::model {
namespace {

constexpr std::int64_t kUnit = BufferPlan::kAlignment;

struct Request {
  std::int64_t bytes;
  Lifetime lifetime;
};

BufferPlan plan_of(const std::vector<Request>& requests) {
  BufferPlan plan;
  for (const Request& request : requests) static_cast<void>(plan.add(request.bytes, request.lifetime));
  plan.place();
  return plan;
}

void expect_apart(const BufferPlan& plan, const std::vector<Request>& requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(plan.offset(i) % kUnit, 0);
    EXPECT_LE(plan.offset(i) + requests[i].bytes, plan.bytes());
    for (std::size_t j = 0; j < i; ++j) {
      const bool together = requests[i].lifetime.first <= requests[j].lifetime.last &&
                            requests[j].lifetime.first <= requests[i].lifetime.last;
      if (!together || requests[i].bytes == 0 || requests[j].bytes == 0) continue;
      EXPECT_TRUE(plan.offset(i) + requests[i].bytes <= plan.offset(j) ||
                  plan.offset(j) + requests[j].bytes <= plan.offset(i))
          << i << " and " << j;
    }
  }
}

TEST(BufferPlan, BuffersThatNeverMeetShareTheirBytes) {
  const BufferPlan plan = plan_of({{4 * kUnit, {0, 1}}, {4 * kUnit, {2, 3}}, {kUnit, {1, 2}}});
  EXPECT_EQ(plan.offset(0), 0);
  EXPECT_EQ(plan.offset(1), 0);
  EXPECT_EQ(plan.offset(2), 4 * kUnit);
  EXPECT_EQ(plan.bytes(), 5 * kUnit);
  EXPECT_EQ(plan.least_bytes(), 5 * kUnit);
}

TEST(BufferPlan, ABufferThatEndsWhereAnotherBeginsDoesNotShare) {
  EXPECT_EQ(plan_of({{kUnit, {0, 1}}, {kUnit, {1, 2}}}).bytes(), 2 * kUnit);
}

TEST(BufferPlan, AGapBetweenTwoBuffersIsTaken) {
  // At moment 0, the first and the second buffer are adjacent. The third fits where the first was.
  const BufferPlan plan = plan_of({{3 * kUnit, {0, 0}}, {2 * kUnit, {0, 1}}, {kUnit, {1, 1}}});
  EXPECT_EQ(plan.offset(2), 0);
  EXPECT_EQ(plan.bytes(), 5 * kUnit);
}

TEST(BufferPlan, BytesAreRoundedUpAndNoneCostsNothing) {
  const BufferPlan plan = plan_of({{1, {0, 0}}, {0, {0, 0}}, {kUnit + 1, {0, 0}}});
  EXPECT_EQ(plan.bytes(), 3 * kUnit);
}

TEST(BufferPlan, ThePeakIsTheMomentWithTheMostBytes) {
  const BufferPlan plan = plan_of({{kUnit, {0, 9}}, {2 * kUnit, {3, 4}}, {kUnit, {4, 6}}});
  EXPECT_EQ(plan.peak_moment(), 4);
  EXPECT_TRUE(plan.lives_at(2, 4));
  EXPECT_FALSE(plan.lives_at(2, 3));
  EXPECT_EQ(plan.least_bytes(), 4 * kUnit);
}

TEST(BufferPlan, OfRandomBuffersNoTwoMeetAndLittleIsLost) {
  std::mt19937 random{5};
  for (int round = 0; round < 50; ++round) {
    std::vector<Request> requests;
    for (int i = 0; i < 60; ++i) {
      const auto first = static_cast<std::int64_t>(random() % 40), length = static_cast<std::int64_t>(random() % 20);
      requests.push_back({static_cast<std::int64_t>(random() % (20 * kUnit)), {first, first + length}});
    }
    const BufferPlan plan = plan_of(requests);
    expect_apart(plan, requests);
    EXPECT_GE(plan.bytes(), plan.least_bytes());
    EXPECT_LE(static_cast<double>(plan.bytes()), 1.4 * static_cast<double>(plan.least_bytes()));
  }
}

TEST(BufferPlan, WhatMakesNoSenseIsRefused) {
  BufferPlan plan;
  EXPECT_THROW(static_cast<void>(plan.add(-1, {0, 0})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(plan.add(1, {2, 1})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(plan.add(1, {-1, 1})), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::model
