// Tests how the supervisor starts, gives up, interrupts and replaces a real worker process, and that no worker is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>

#include "supervisor_support.hpp"
#include "tbench/core/error.hpp"
#include "tbench/process/supervisor.hpp"

namespace tbench::process {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr Seconds kShort{1.0};

/// Ends the test with a failure if this process still has a child, running or a zombie.
class NoChildIsLeft : public ::testing::Environment {
 public:
  void TearDown() override {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }
};
const auto* const kNoChildIsLeft = ::testing::AddGlobalTestEnvironment(new NoChildIsLeft);

TEST(SupervisorTimeout, AChildThatHangsIsKilled) {
  Supervisor supervisor{options_with_timeout(kShort)};
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome = supervisor.request("hang:warming up", ignore_progress, never);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds{1000});
  EXPECT_EQ(outcome.kind, Outcome::Kind::kTimeout);
  EXPECT_EQ(outcome.reason, "no sign of life for 1 s while warming up");
  outcome = supervisor.request("hang_silently", ignore_progress, never);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kTimeout);
  EXPECT_EQ(outcome.reason, "no sign of life for 1 s before reporting any progress");
}

TEST(SupervisorTimeout, HalfAFrameIsNoAnswer) {
  Supervisor supervisor{options_with_timeout(kShort)};
  EXPECT_EQ(supervisor.request("half_a_frame", ignore_progress, never).kind, Outcome::Kind::kTimeout);
}

TEST(SupervisorTimeout, StderrIsNoSignOfLife) {
  Supervisor supervisor{options_with_timeout(kShort)};
  const Outcome outcome = supervisor.request("chatter", ignore_progress, never);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kTimeout);
  EXPECT_THAT(outcome.reason, HasSubstr("\nstill here"));
}

TEST(SupervisorTimeout, ProgressIsASignOfLife) {
  Supervisor supervisor{options_with_timeout({2.0})};  // the worker takes 2.5 s, and reports every 0.1 s
  const Outcome outcome = supervisor.request("slow", ignore_progress, never);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kResult) << outcome.reason;
  EXPECT_EQ(outcome.payload, "25 steps");
}

TEST(SupervisorTimeout, AChildThatIgnoresSignalsIsKilled) {
  Supervisor supervisor{options_with_timeout(kShort)};
  bool is_ignoring = false;
  const Outcome outcome = supervisor.request(
      "ignore_signals", [&](std::string_view) { is_ignoring = true; }, [&] { return is_ignoring; });
  EXPECT_EQ(outcome.kind, Outcome::Kind::kTimeout);
  EXPECT_EQ(outcome.reason, "no sign of life for 1 s while ignoring signals");
}

TEST(SupervisorTimeout, AChildThatClosesItsPipeAndStaysIsKilled) {
  SupervisorOptions options = options_with_timeout(kAmple);
  options.exit_grace = Seconds{0.3};
  Supervisor supervisor{options};
  const Outcome outcome = supervisor.request("close_pipe", ignore_progress, never);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kCrashed);
  EXPECT_EQ(outcome.reason, "closed its pipe and did not end within 0.3 s before reporting any progress");
}

TEST(SupervisorTimeout, AChildThatCannotBeReapedIsLeftBehind) {
  SupervisorOptions options = options_with_timeout(kShort);
  options.kill_limit = Seconds{0.2};
  Supervisor supervisor{options};
  pid_t tracer = 0;
  const Outcome outcome = supervisor.request(
      "unreapable", [&](std::string_view pid) { tracer = std::stoi(std::string{pid}); }, never);
  if (outcome.payload == "ptrace is not allowed") GTEST_SKIP() << outcome.payload;
  EXPECT_EQ(outcome.kind, Outcome::Kind::kTimeout);
  EXPECT_THAT(outcome.reason, AllOf(StartsWith("no sign of life for 1 s while "),
                                    EndsWith("; it did not end within 0.2 s of SIGKILL and was left behind")));
  EXPECT_EQ(supervisor.request("echo:x", ignore_progress, never).payload, "x");
  ASSERT_GT(tracer, 0);
  kill(tracer, SIGKILL);
  int status = 0;
  EXPECT_GT(waitpid(-1, &status, 0), 0);  // the child that was left; the other one still waits for requests
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST(SupervisorInterrupt, AChildThatDiesOfItIsInterrupted) {
  Supervisor supervisor{options_with_timeout(kAmple)};
  bool is_busy = false;
  const Outcome outcome = supervisor.request(
      "hang:sampling", [&](std::string_view) { is_busy = true; }, [&] { return is_busy; });
  EXPECT_EQ(outcome.kind, Outcome::Kind::kInterrupted);
  EXPECT_EQ(outcome.reason, "killed by signal 2 (Interrupt) while sampling");
}

TEST(SupervisorInterrupt, AChildThatAnswersAfterOneSignalGivesItsResult) {
  Supervisor supervisor{options_with_timeout(kAmple)};
  bool is_waiting = false;
  const Outcome outcome = supervisor.request(
      "answer_after_interrupt", [&](std::string_view) { is_waiting = true; }, [&] { return is_waiting; });
  EXPECT_EQ(outcome.kind, Outcome::Kind::kResult) << outcome.reason;
  EXPECT_EQ(outcome.payload, "interrupts: 1");
}

TEST(SupervisorInterrupt, NothingIsSentOnceItIsTimeToStop) {
  Supervisor supervisor{options_with_timeout(kAmple)};
  const Outcome outcome = supervisor.request("echo:x", ignore_progress, [] { return true; });
  EXPECT_EQ(outcome.kind, Outcome::Kind::kInterrupted);
  EXPECT_THAT(outcome.payload, IsEmpty());
}

TEST(SupervisorInterrupt, AStartingChildIsNotWaitedFor) {
  SupervisorOptions options = options_with_timeout(kAmple);
  options.command.emplace_back("--silent");
  Supervisor supervisor{options};
  int asked = 0;
  const Outcome outcome = supervisor.request("echo:x", ignore_progress, [&] { return ++asked > 3; });
  EXPECT_EQ(outcome.kind, Outcome::Kind::kInterrupted);
}

TEST(SupervisorInterrupt, TheFirstHelloIsNotWaitedForEither) {
  SupervisorOptions options = options_with_timeout(kAmple);
  options.command.emplace_back("--silent");
  Supervisor supervisor{options};
  int asked = 0;
  EXPECT_THROW(static_cast<void>(supervisor.hello([&] { return ++asked > 3; })), std::runtime_error);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "the child is still there";
}

TEST(SupervisorStart, SaysWhyThereIsNoHello) {
  SupervisorOptions options = options_with_timeout(kAmple);
  options.command.emplace_back("--no_hello");
  Supervisor supervisor{options};
  try {
    static_cast<void>(supervisor.hello());
    FAIL() << "a hello from a worker that sends none";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), EndsWith("exited with status 3 before saying hello\nno device found"));
  }
  EXPECT_THROW(static_cast<void>(supervisor.request("echo:x", ignore_progress, never)), std::runtime_error);
}

TEST(SupervisorStart, AWorkerThatRefusesTheOptionsIsTheUsersError) {
  SupervisorOptions options = options_with_timeout(kAmple);
  options.command.emplace_back("--refuses");
  Supervisor supervisor{options};
  try {
    static_cast<void>(supervisor.hello());
    FAIL() << "a hello from a worker that refuses";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--tb_memory_limit=9: the GPU has 8");
  }
}

TEST(SupervisorStart, DoesNotWaitForeverForTheHello) {
  SupervisorOptions options = options_with_timeout(kAmple);
  options.command.emplace_back("--silent");
  options.start_timeout = Seconds{0.3};
  Supervisor supervisor{options};
  try {
    static_cast<void>(supervisor.hello());
    FAIL() << "a hello from a worker that sends none";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), EndsWith("no sign of life for 0.3 s before saying hello"));
  }
}

TEST(SupervisorStart, NamesAProgramThatIsNotThere) {
  SupervisorOptions options = options_with_timeout(kAmple);
  options.command = {"/no/such/program"};
  Supervisor supervisor{options};
  try {
    static_cast<void>(supervisor.hello());
    FAIL() << "started a program that is not there";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/no/such/program"), HasSubstr("No such file")));
  }
}

TEST(SupervisorFreshChild, EveryRequestGetsItsOwn) {
  SupervisorOptions options = options_with_timeout(kAmple);
  options.fresh_child_per_request = true;
  Supervisor supervisor{options};
  const std::string hello = supervisor.hello();
  const std::string first = supervisor.request("identity", ignore_progress, never).payload;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "the child outlived its request";
  const std::string second = supervisor.request("identity", ignore_progress, never).payload;
  EXPECT_THAT(first, StartsWith(hello.substr(std::string{"hello from "}.size())));
  EXPECT_NE(first, second);
}

TEST(SupervisorFreshChild, ARenewedOneIsNewOnlyIfTheOldOneWasUsed) {
  Supervisor supervisor{options_with_timeout(kAmple)};
  const std::string hello = supervisor.hello();
  supervisor.renew_child();
  const std::string first = supervisor.request("identity", ignore_progress, never).payload;
  EXPECT_THAT(first, StartsWith(hello.substr(std::string{"hello from "}.size()))) << "an unused child was thrown away";
  EXPECT_EQ(supervisor.request("identity", ignore_progress, never).payload, first);
  supervisor.renew_child();
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "the old child is still there";
  EXPECT_NE(supervisor.request("identity", ignore_progress, never).payload, first);
}

TEST(SupervisorEnd, LeavesNoChild) {
  { Supervisor never_used{options_with_timeout(kAmple)}; }
  {
    Supervisor supervisor{options_with_timeout(kAmple)};
    EXPECT_EQ(supervisor.request("echo:x", ignore_progress, never).payload, "x");
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), 0) << "the child should be waiting for a request";
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

/// Runs in its own process: supervises a worker that hangs, and writes the worker's process id to `pipe`.
[[noreturn]] void supervise_a_hanging_worker(int pipe) {
  Supervisor supervisor{options_with_timeout(kAmple)};
  const pid_t worker = std::stoi(supervisor.request("identity", ignore_progress, never).payload);
  const auto tell = [&](std::string_view) {
    if (write(pipe, &worker, sizeof worker) != sizeof worker) _exit(1);
  };
  static_cast<void>(supervisor.request("ignore_signals", tell, never));
  _exit(0);
}

TEST(SupervisorEnd, NoChildOutlivesAKilledParent) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // makes the orphan a child that this process can wait for
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) supervise_a_hanging_worker(ends[1]);
  pid_t worker = 0;
  ASSERT_EQ(read(ends[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  kill(parent, SIGKILL);
  EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
  int status = 0;
  EXPECT_EQ(waitpid(worker, &status, 0), worker);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  close(ends[0]);
  close(ends[1]);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace
}  // namespace tbench::process
