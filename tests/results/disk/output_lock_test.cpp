// Tests that only one process at a time writes a results file, and that a killed process leaves no lock.
#include "tbench/results/output_lock.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/process/descriptor.hpp"
#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::results {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class OutputLockTest : public testing::Test {
 protected:
  /// Returns the message for a second lock on the path; empty if it is granted.
  static std::string refusal(const std::string& path) {
    try {
      const OutputLock second{path};
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  [[nodiscard]] std::string expected(const std::string& path, const std::string& flag = "--benchmark_out") const {
    return "'" + path + "': process " + std::to_string(::getpid()) + " is writing it. Wait for it, or name another " +
           flag + ".";
  }

  support::TemporaryFolder folder_;
  std::string path_ = folder_.file("a.json");
};

TEST_F(OutputLockTest, NamesTheProcessThatHasIt) {
  {
    const OutputLock first{path_};
    EXPECT_EQ(refusal(path_), expected(path_));
    EXPECT_EQ(refusal(folder_.file("b.json")), "");
  }
  EXPECT_EQ(refusal(path_), "");
}

TEST_F(OutputLockTest, LeavesNothingAndKeepsAJournalThatHoldsARun) {
  { const OutputLock lock{path_}; }
  EXPECT_THAT(folder_.names(), IsEmpty());
  support::write_text(path_ + ".journal", "a header\n");
  { const OutputLock lock{path_}; }
  EXPECT_EQ(read_whole_file(path_ + ".journal"), "a header\n");
}

TEST_F(OutputLockTest, IsThatOfTheFileThatALinkLeadsTo) {
  fs::create_symlink("a.json", folder_.file("link.json"));
  const OutputLock first{folder_.file("link.json")};
  EXPECT_EQ(refusal(path_), expected(path_));
  EXPECT_THAT(folder_.names(), ElementsAre("a.json.journal", "link.json"));
}

TEST_F(OutputLockTest, FollowsNoLinkThatTakesTheJournalsPlace) {
  support::write_text(folder_.file("victim"), "precious");
  fs::create_symlink("victim", path_ + ".journal");
  EXPECT_THAT(refusal(path_), HasSubstr("a.json.journal': Too many levels of symbolic links"));
  EXPECT_EQ(read_whole_file(folder_.file("victim")), "precious");
}

TEST_F(OutputLockTest, OfAKilledRunIsFree) {
  const support::KillMoment early{.lines = 3, .delay = {}};
  ASSERT_EQ(support::run_child({TBENCH_SERIES_WRITER, path_, "80", "fresh"}, early).exit_status, 128 + 9);
  EXPECT_TRUE(has_journal(path_));
  EXPECT_EQ(refusal(path_), "");
}

TEST_F(OutputLockTest, OfARunKeepsOtherWritersOut) {
  refuse_locked(path_, "-o");
  EXPECT_THAT(folder_.names(), IsEmpty());
  const OutputLock lock{path_};
  try {
    refuse_locked(path_, "-o");
    FAIL() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_EQ(error.what(), expected(path_, "-o"));
  }
}

TEST_F(OutputLockTest, IsGrantedWhereACommandOnlyAsks) {
  support::write_text(path_ + ".journal", "a header\n");
  const process::UniqueDescriptor asked{::open((path_ + ".journal").c_str(), O_RDONLY | O_CLOEXEC)};
  ASSERT_EQ(::flock(asked.get(), LOCK_SH), 0);
  const std::jthread answered{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    ::flock(asked.get(), LOCK_UN);
  }};
  EXPECT_EQ(refusal(path_), "");
}

TEST_F(OutputLockTest, OfTwentyAtOnceOneHasIt) {
  std::atomic<int> holders{};
  std::atomic<int> refused{};
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 20; ++i) {
      writers.emplace_back([&] {
        try {
          const OutputLock lock{path_};
          ++holders;
          while (refused < 19) std::this_thread::yield();
        } catch (const UsageError&) {
          ++refused;
        }
      });
    }
  }
  EXPECT_EQ(holders, 1);
  EXPECT_THAT(folder_.names(), IsEmpty());
}

}  // namespace
}  // namespace tbench::results
