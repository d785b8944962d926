// Tests the child process with small shell scripts. supervisor_test.cpp has the tests that need a worker's answers.
#include "process/child_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace tbench::process {
namespace {

using namespace std::chrono_literals;

constexpr Seconds kAmple{30.0};

/// `sh -c script`; the worker's flag becomes $0.
std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

/// Returns everything that the child writes to stdout and stderr until it ends.
std::string output_of(ChildProcess& child) {
  std::string output;
  std::array<char, 256> buffer;
  for (;;) {
    const Transfer read = read_some(child.streams().errors.get(), buffer);
    if (read.state == Transfer::State::kEnd) return output;
    output.append(buffer.data(), read.bytes);
    if (read.state == Transfer::State::kWouldBlock) std::this_thread::sleep_for(5ms);
  }
}

void wait_until_ended(const ChildProcess& child) {
  while (!child.has_ended()) std::this_thread::sleep_for(5ms);
}

TEST(ChildProcessTest, RunsWithTheWorkerFlagAppended) {
  ChildProcess child{shell("echo \"$0\"; echo on stderr >&2")};
  const std::string output = output_of(child);
  int read_descriptor = 0, write_descriptor = 0;
  EXPECT_EQ(std::sscanf(output.c_str(), "--tb_worker=%d,%d\n", &read_descriptor, &write_descriptor), 2) << output;
  EXPECT_GT(read_descriptor, STDERR_FILENO);
  EXPECT_NE(read_descriptor, write_descriptor);
  EXPECT_NE(output.find("on stderr\n"), std::string::npos);
}

TEST(ChildProcessTest, ReadsNothingFromStdin) {
  ChildProcess child{shell("read line && echo \"got $line\" || echo nothing to read")};
  EXPECT_EQ(output_of(child), "nothing to read\n");
}

TEST(ChildProcessTest, TellsExitsFromSignals) {
  ChildProcess exits{shell("exit 9")};
  wait_until_ended(exits);
  EXPECT_EQ(to_string(exits.kill_and_reap(kAmple)), "exited with status 9");
  ChildProcess dies{shell("kill -TERM $$")};
  wait_until_ended(dies);
  EXPECT_EQ(to_string(dies.kill_and_reap(kAmple)), "killed by signal 15 (Terminated)");
}

TEST(ChildProcessTest, KillsTheWholeGroupAndReaps) {
  ChildProcess child{shell("sleep 1000 & echo $!; wait")};
  std::string line;
  std::array<char, 64> buffer;
  while (line.find('\n') == std::string::npos) {
    const Transfer read = read_some(child.streams().errors.get(), buffer);
    ASSERT_NE(read.state, Transfer::State::kEnd);
    line.append(buffer.data(), read.bytes);
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_FALSE(child.has_ended());
  EXPECT_EQ(to_string(child.kill_and_reap(kAmple)), "killed by signal 9 (Killed)");
  EXPECT_EQ(waitpid(child.pid(), nullptr, WNOHANG), -1);
  EXPECT_EQ(output_of(child), "");  // the output ends only when the sleeper has closed the pipe, too
}

TEST(ChildProcessTest, ReapingAgainGivesTheSameAnswer) {
  ChildProcess child{shell("exit 2")};
  wait_until_ended(child);
  EXPECT_TRUE(child.has_ended()) << "looking must not reap";
  EXPECT_EQ(child.kill_and_reap(kAmple).value, 2);
  EXPECT_EQ(child.kill_and_reap(kAmple).value, 2);
  EXPECT_TRUE(child.has_ended());
}

TEST(ChildProcessTest, SignalsThatTheParentIgnoresWorkInTheChild) {
  const auto before = signal(SIGTERM, SIG_IGN);
  ChildProcess child{shell("kill -TERM $$; echo survived")};
  signal(SIGTERM, before);
  EXPECT_EQ(output_of(child), "");
}

TEST(ChildProcessTest, ChildrenThatNobodyMayReapEndUnknown) {
  const auto before = signal(SIGCHLD, SIG_IGN);
  ChildProcess child{shell("exit 2")};
  wait_until_ended(child);
  EXPECT_EQ(child.kill_and_reap(kAmple).kind, ChildEnd::Kind::kUnknown);
  signal(SIGCHLD, before);
}

TEST(ChildProcessTest, TheDestructorKillsAndReaps) {
  pid_t pid = 0;
  {
    ChildProcess child{shell("trap '' TERM INT; sleep 1000")};
    pid = child.pid();
  }
  EXPECT_EQ(waitpid(pid, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(ChildProcessTest, SaysWhatCannotBeStarted) {
  EXPECT_THROW(ChildProcess{{}}, std::invalid_argument);
  try {
    const ChildProcess child{{"/no/such/program"}};
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_STREQ(error.what(), "cannot start '/no/such/program': No such file or directory");
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace tbench::process
