// Tests two stalled ranks with a simulated clock.
#include "bench/run/stall_watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include "shared_store.hpp"

namespace tbench::bench {
namespace {

constexpr Seconds kLimit{10};

/// A rank whose position is set by the test.
class WatchedRank {
 public:
  WatchedRank(int rank, SharedStore& shared)
      : store_{shared.view()},
        check_{{.group = "group/7", .rank = rank, .size = 2, .limit = kLimit}, [this] { return position; }, *store_} {}

  /// Checks once per second. @return how often the check said that it waits
  int run(double from, double to) {
    int waits = 0;
    for (double now = from; now < to; ++now) waits += check_.waits_for_another({now}) ? 1 : 0;
    return waits;
  }

  std::int64_t position{};

 private:
  std::unique_ptr<ranks::Store> store_;
  StallCheck check_;
};

class StallChecks : public ::testing::Test {
 protected:
  SharedStore shared_;
  WatchedRank first_{0, shared_};
  WatchedRank second_{1, shared_};
};

TEST_F(StallChecks, WhoeverIsAheadWaitsForTheOther) {
  first_.position = 57;
  second_.position = 56;
  EXPECT_EQ(first_.run(1, 14) + second_.run(1, 14), 0);
  EXPECT_EQ(first_.run(14, 40), 1);
  EXPECT_EQ(second_.run(14, 40), 0);
}

TEST_F(StallChecks, AProcessThatIsStoppedSaysNothing) {
  second_.position = 57;
  EXPECT_EQ(second_.run(1, 40), 1);
}

TEST_F(StallChecks, NobodyWaitsWhereAllStandAtTheSamePoint) {
  first_.position = second_.position = 57;
  EXPECT_EQ(first_.run(1, 12) + second_.run(1, 12), 0);
  EXPECT_EQ(first_.run(12, 40) + second_.run(12, 40), 0);
}

TEST_F(StallChecks, WhoeverMovesDoesNotWait) {
  for (int minute = 0; minute < 3; ++minute) {
    ++first_.position;
    EXPECT_EQ(first_.run(minute * 9 + 1, minute * 9 + 10), 0);
  }
}

TEST_F(StallChecks, ARankThatIsBehindDoesNotReportThatItWaits) {
  second_.position = 3;
  EXPECT_EQ(second_.run(1, 12), 0);
  first_.position = 57;
  EXPECT_EQ(first_.run(20, 40), 1);
  first_.position = 58;  // detected again, after it has moved
  EXPECT_EQ(first_.run(40, 60), 1);
}

TEST(StallWatchdog, SaysInAThreadOfItsOwnThatThisRankWaits) {
  SharedStore shared;
  std::mutex mutex;
  std::condition_variable said;
  int waits = 0;
  const StallWatchdog watch{{.group = "group/1", .rank = 0, .size = 2, .limit = {0.01}},
                            [] { return 5; },
                            [&] { return shared.view(); },
                            [&] {
                              const std::lock_guard lock{mutex};
                              ++waits;
                              said.notify_one();
                            }};
  std::unique_lock lock{mutex};
  EXPECT_TRUE(said.wait_for(lock, std::chrono::seconds{20}, [&] { return waits == 1; }));
}

TEST(StallWatchdog, EndsAtOnceAndWithoutAStore) {
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<bool> opened{};
  {
    const StallWatchdog watch{{.group = "group/1", .rank = 0, .size = 2, .limit = {100}},
                              [] { return 5; },
                              [&]() -> std::unique_ptr<ranks::Store> {
                                opened = true;
                                throw std::runtime_error{"nobody serves it"};
                              },
                              [] { ADD_FAILURE() << "it cannot know"; }};
    while (!opened && std::chrono::steady_clock::now() - begin < std::chrono::seconds{20}) std::this_thread::yield();
  }
  EXPECT_TRUE(opened);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{20});
}

}  // namespace
}  // namespace tbench::bench
