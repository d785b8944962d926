#include "tbench/process/bound_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace tbench::process {
namespace {

constexpr CommandOutput kToErr{.out = STDERR_FILENO, .err = STDERR_FILENO};

class BoundRun : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "bound-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_ + "/" + name; }

  /// Waits until the file exists and returns the process id that it contains.
  [[nodiscard]] pid_t pid_in(const std::string& name) const {
    for (int i = 0; i < 3000; ++i) {
      std::ifstream in{file(name)};
      pid_t pid{};
      if (in >> pid) return pid;
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return 0;
  }

  /// Runs the script under run_bound in its own process, so that the test can send it a signal.
  pid_t start(const std::string& script, Seconds grace) {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    try {
      _exit(run_bound({"sh", "-c", script}, kToErr, grace));
    } catch (const Interrupted& error) {
      _exit(100 + error.number());
    }
  }

  static int status_of(pid_t pid) {
    int status{};
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  static bool is_gone(pid_t pid) {
    for (int i = 0; i < 3000; ++i) {
      if (::kill(pid, 0) != 0) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return false;
  }

  std::string folder_;
};

TEST_F(BoundRun, GivesTheExitStatus) {
  EXPECT_EQ(run_bound({"sh", "-c", "exit 7"}, kToErr), 7);
  EXPECT_EQ(run_bound({"sh", "-c", "kill -TERM $$"}, kToErr), 128 + SIGTERM);
  EXPECT_EQ(run_bound({"/no/such/program"}, kToErr), 127);
}

TEST_F(BoundRun, PassesASignalOnAndReportsIt) {
  // The script sets its trap first, because the signal may arrive as soon as the file has the process id.
  const pid_t runner = start("trap 'echo stopped >" + file("trap") + "; exit 0' TERM; echo $$ >" + file("pid") +
                                 "; while :; do sleep 0.05; done",
                             Seconds{30});
  const pid_t command = pid_in("pid");
  ASSERT_GT(command, 0);
  ::kill(runner, SIGTERM);
  EXPECT_EQ(status_of(runner), 100 + SIGTERM);
  EXPECT_TRUE(std::filesystem::exists(file("trap")));
  EXPECT_TRUE(is_gone(command));
}

TEST_F(BoundRun, KillsWhatDoesNotStopInTime) {
  const pid_t runner = start("trap '' TERM; echo $$ >" + file("pid") + "; while :; do sleep 0.05; done", Seconds{0.2});
  const pid_t command = pid_in("pid");
  ASSERT_GT(command, 0);
  ::kill(runner, SIGTERM);
  EXPECT_EQ(status_of(runner), 100 + SIGTERM);
  EXPECT_TRUE(is_gone(command));
}

TEST_F(BoundRun, LeavesNoDaemonBehind) {
  const std::string daemon = "setsid sh -c 'echo $$ >" + file("daemon") + "; exec sleep 60' >/dev/null 2>&1 &";
  EXPECT_EQ(run_bound({"sh", "-c", daemon + " while [ ! -s " + file("daemon") + " ]; do sleep 0.02; done"}, kToErr), 0);
  EXPECT_TRUE(is_gone(pid_in("daemon")));
}

TEST_F(BoundRun, EndsWithUs) {
  const pid_t runner = start("echo $$ >" + file("pid") + "; exec sleep 60", Seconds{10});
  const pid_t command = pid_in("pid");
  ASSERT_GT(command, 0);
  ::kill(runner, SIGKILL);
  EXPECT_EQ(status_of(runner), 128 + SIGKILL);
  EXPECT_TRUE(is_gone(command));
}

}  // namespace
}  // namespace tbench::process
