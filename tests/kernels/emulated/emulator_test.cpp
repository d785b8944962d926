#include "emulated/emulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace tbench::kernels::emulator {
namespace {

constexpr int kThreads = 128;

BlockLaunch launch(std::uint32_t seed = 1) {
  return {.block = {}, .grid = {1, 1, 1}, .threads = kThreads, .shared_bytes = kThreads * sizeof(float), .seed = seed};
}

/// Every thread writes its number and then reads the number of its neighbour in the next warp.
std::vector<float> neighbours(std::uint32_t seed, bool with_barrier, bool late_copies = false) {
  std::vector<float> numbers(kThreads), seen(kThreads);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  BlockLaunch block = launch(seed);
  block.late_copies = late_copies;
  run_block(block, [&](char* shared) {
    const unsigned thread = thread_index().x;
    copy_async(thread * sizeof(float), &numbers[thread], sizeof(float), true);
    commit_copies();
    wait_copies(0);
    if (with_barrier) meet_block(0, kThreads, true);
    seen[thread] = reinterpret_cast<const float*>(shared)[(thread + kLanes) % kThreads];
  });
  return seen;
}

TEST(Emulator, ABarrierShowsWhatAllHaveWritten) {
  std::vector<float> expected(kThreads);
  std::iota(expected.begin(), expected.end(), static_cast<float>(kLanes));
  for (int i = 0; i < kLanes; ++i) expected[kThreads - kLanes + i] = static_cast<float>(i);
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(neighbours(seed, true, seed % 2 == 0), expected) << seed;
  }
}

TEST(Emulator, AMissingBarrierShowsNan) {
  int wrong = 0;
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    for (const float one : neighbours(seed, false)) wrong += std::isnan(one) ? 1 : 0;
  }
  EXPECT_GT(wrong, 0);
}

TEST(Emulator, ALateCopyIsNotThereBeforeItIsWaitedFor) {
  BlockLaunch block = launch();
  block.late_copies = true;
  const float one = 1.0f;
  run_block(block, [&](char* shared) {
    const auto at = static_cast<std::uint32_t>(thread_index().x * sizeof(float));
    copy_async(at, &one, sizeof(one), true);
    commit_copies();
    copy_async(at, &one, sizeof(one), false);
    commit_copies();
    const float& mine = reinterpret_cast<const float*>(shared)[thread_index().x];
    EXPECT_TRUE(std::isnan(mine));
    wait_copies(1);
    EXPECT_EQ(mine, 1.0f);
    wait_copies(0);
    EXPECT_EQ(mine, 0.0f);
  });
}

TEST(Emulator, APhaseWaitsForArrivalsAndBytes) {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    float copied = 1.0f;
    run_block(launch(seed), [&](char* shared) {
      const unsigned thread = thread_index().x;
      if (thread == 0) {
        make_counter(64, 2);
        EXPECT_TRUE(is_over(64, 1));
      }
      meet_block(0, kThreads, true);
      if (thread == 2 * kLanes) arrive(64);
      if (thread == kLanes) {
        arrive(64, 2 * sizeof(float));
        for (int i = 0; i < 2; ++i) {
          copy_some_time(64, sizeof(float), [&, shared, i] { reinterpret_cast<float*>(shared)[i] = copied++; });
        }
      }
      wait_for_phase(64, 0);
      EXPECT_EQ(reinterpret_cast<const float*>(shared)[0] + reinterpret_cast<const float*>(shared)[1], 3.0f);
      EXPECT_FALSE(is_over(64, 1));
    });
  }
}

TEST(Emulator, LanesSeeWhatAllOfTheirWarpHandIn) {
  run_block(launch(), [](char*) {
    for (int round = 0; round < 3; ++round) {
      const auto all = meet_warp(static_cast<int>(thread_index().x) + 1000 * round);
      for (int i = 0; i < kLanes; ++i) {
        ASSERT_EQ(all[i], static_cast<int>(thread_index().x) / kLanes * kLanes + i + 1000 * round);
      }
    }
  });
}

void expect_error(const std::function<void(char*)>& thread, const std::string& text) {
  try {
    run_block(launch(), thread);
    ADD_FAILURE() << "no error; expected: " << text;
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(text));
  }
}

TEST(Emulator, TellsWaitingInVainAndWrongAddresses) {
  expect_error(
      [](char*) {
        if (thread_index().x < kLanes) meet_block(1, 2 * kLanes, true);
      },
      "barrier 1 is left with 32 of 64 arrivals");
  expect_error([](char*) { meet_block(1, thread_index().x < kLanes ? kThreads : 2 * kThreads, true); }, "barrier 1 of");
  expect_error(
      [](char*) {
        if (thread_index().x != 5) static_cast<void>(meet_warp(1));
      },
      "a warp waits for lanes that have ended");
  expect_error(
      [](char*) {
        if (thread_index().x > 0) return;
        make_counter(8, 1);
        wait_for_phase(8, 0);
      },
      "1 threads wait in vain for phase 0 of the counter at 8");
  expect_error(
      [](char*) {
        make_counter(8, 1);
        arrive(8, 4);
        arrive(8);
      },
      "one too many at the counter at 8");
  expect_error([](char*) { arrive(8); }, "there is no counter at 8");
  expect_error([](char*) { static_cast<void>(shared_memory(kThreads * sizeof(float), 4)); }, "4 bytes at 512 of 512");
  expect_error([](char*) { static_cast<void>(shared_memory(2, 4)); }, "4 bytes at 2 of 512");
}

}  // namespace
}  // namespace tbench::kernels::emulator
