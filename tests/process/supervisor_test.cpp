// Sends requests to a real worker process with injected faults (supervisor_test_worker.cpp). Tests results, and how a
// worker's death is reported.
#include "tbench/process/supervisor.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "supervisor_support.hpp"

namespace tbench::process {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Not;
using ::testing::StartsWith;

class SupervisorTest : public ::testing::Test {
 protected:
  Outcome ask(std::string_view what) { return supervisor_.request(what, ignore_progress, never); }
  std::string result_of(std::string_view what) {
    const Outcome outcome = ask(what);
    EXPECT_EQ(outcome.kind, Outcome::Kind::kResult) << outcome.reason;
    return outcome.payload;
  }
  std::string crash_of(std::string_view what) {
    const Outcome outcome = ask(what);
    EXPECT_EQ(outcome.kind, Outcome::Kind::kCrashed) << outcome.payload;
    return outcome.reason;
  }

  Supervisor supervisor_{options_with_timeout(kAmple)};
};

/// Returns the processes that this process has started and not yet reaped.
std::set<pid_t> children() {
  std::set<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator{"/proc"}) {
    std::ifstream stat{entry.path() / "stat"};
    pid_t pid{};
    pid_t parent{};
    std::string name;
    char state{};
    if (stat >> pid >> name >> state >> parent && parent == getpid()) found.insert(pid);
  }
  return found;
}

TEST_F(SupervisorTest, GivesHelloAndResultsOfOneChild) {
  const std::string hello = supervisor_.hello();
  EXPECT_THAT(hello, StartsWith("hello from "));
  EXPECT_EQ(result_of("echo:first"), "first");
  EXPECT_EQ(result_of("echo:"), "");
  EXPECT_THAT(result_of("identity"), StartsWith(hello.substr(std::string{"hello from "}.size())));
  EXPECT_EQ(supervisor_.hello(), hello);
}

TEST_F(SupervisorTest, AQuestionLeavesTheChildAsNewAsItWas) {
  const std::optional<std::string> first = supervisor_.ask("identity", never);
  ASSERT_TRUE(first);
  supervisor_.renew_child();
  EXPECT_EQ(result_of("identity"), *first) << "it has taken no request";
  EXPECT_EQ(supervisor_.ask("identity", never), first);
  supervisor_.renew_child();
  EXPECT_NE(result_of("identity"), *first);
  EXPECT_FALSE(supervisor_.ask("segfault", never)) << "a child that dies of a question has no answer";
  EXPECT_EQ(result_of("echo:next"), "next");
}

TEST_F(SupervisorTest, APreparedChildIsTheOneThatARenewedRequestGets) {
  const std::string first = result_of("identity");
  supervisor_.prepare_child();
  supervisor_.prepare_child();
  EXPECT_EQ(result_of("identity"), first) << "the old child goes on until it is renewed";
  supervisor_.renew_child();
  const std::string second = result_of("identity");
  EXPECT_NE(second, first);
  supervisor_.renew_child();
  EXPECT_NE(result_of("identity"), second) << "it was prepared once";
}

TEST_F(SupervisorTest, EndsAllChildrenAndStartsANewOneForTheNextRequest) {
  const std::set<pid_t> before = children();
  static_cast<void>(result_of("echo:first"));
  supervisor_.prepare_child();
  EXPECT_EQ(children().size(), before.size() + 2);
  supervisor_.end_children();
  EXPECT_EQ(children(), before);
  EXPECT_EQ(result_of("echo:second"), "second");
}

TEST_F(SupervisorTest, APreparedChildThatHasEndedIsReplaced) {
  const std::set<pid_t> before = children();
  static_cast<void>(result_of("echo:first"));
  const std::set<pid_t> serving = children();
  supervisor_.prepare_child();
  std::set<pid_t> prepared = children();
  for (const pid_t pid : serving) prepared.erase(pid);
  ASSERT_EQ(prepared.size(), 1U);
  ASSERT_EQ(kill(*prepared.begin(), SIGKILL), 0);
  supervisor_.renew_child();
  EXPECT_EQ(result_of("echo:second"), "second");
  EXPECT_GT(serving.size(), before.size());
}

TEST_F(SupervisorTest, TellsHowLongTheStartOfAChildForARequestTook) {
  EXPECT_GT(ask("echo:first").start, Seconds{0});
  EXPECT_EQ(ask("echo:second").start, Seconds{0});
  supervisor_.renew_child();
  EXPECT_GT(ask("echo:third").start, Seconds{0});
  static_cast<void>(crash_of("abort"));
  EXPECT_GT(ask("echo:fourth").start, Seconds{0});
  Supervisor greeted{options_with_timeout(kAmple)};
  static_cast<void>(greeted.hello());  // hello() started this child, so it belongs to no request
  EXPECT_EQ(greeted.request("echo:first", ignore_progress, never).start, Seconds{0});
}

TEST_F(SupervisorTest, ReportsProgressInOrder) {
  std::vector<std::string> activities;
  const Outcome outcome = supervisor_.request(
      "activity", [&](std::string_view activity) { activities.emplace_back(activity); }, never);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kResult);
  EXPECT_THAT(activities, ElementsAre("warming up", "sampling"));
}

TEST_F(SupervisorTest, ChildLeadsAGroupOfItsOwn) {
  std::istringstream words{result_of("identity")};
  pid_t child = 0, group = 0, parent = 0;
  words >> child >> group >> parent;
  EXPECT_EQ(group, child);
  EXPECT_EQ(parent, getpid());
}

TEST_F(SupervisorTest, ChildInheritsNothingButItsPipes) {
  const int leaked = open("/dev/null", O_RDONLY);  // deliberately not close-on-exec
  ASSERT_GE(leaked, 0);
  std::istringstream words{result_of("descriptors")};
  close(leaked);
  const std::vector<int> descriptors{std::istream_iterator<int>{words}, {}};
  ASSERT_EQ(descriptors.size(), 5U);  // stdin, stdout, stderr, requests, messages
  EXPECT_EQ(descriptors[2], STDERR_FILENO);
  EXPECT_THAT(descriptors, Not(::testing::Contains(leaked)));
}

TEST_F(SupervisorTest, CarriesAMebibyteBothWaysAndNoMore) {
  std::string text(kMaxPayloadBytes - std::string{"echo:"}.size(), 'a');
  for (std::size_t i = 0; i < text.size(); i += 997) text[i] = static_cast<char>('b' + i % 24);
  EXPECT_TRUE(result_of("echo:" + text) == text);  // not EXPECT_EQ, which would print them
  EXPECT_EQ(result_of("large:1048576").size(), kMaxPayloadBytes);
  EXPECT_EQ(crash_of("large:1048577"),
            "protocol error: a message of 1048577 bytes; at most 1048576 are read before reporting any progress");

  SupervisorOptions options = options_with_timeout(kAmple);
  options.max_message_bytes = kMaxPayloadBytes + 1;
  Supervisor supervisor{options};
  EXPECT_EQ(supervisor.request("large:1048577", ignore_progress, never).payload.size(), kMaxPayloadBytes + 1);
}

TEST_F(SupervisorTest, NamesTheSignalAndTheActivity) {
  EXPECT_THAT(crash_of("abort"), StartsWith("killed by signal 6 (Aborted) while sampling"));
  EXPECT_THAT(crash_of("segfault"),
              StartsWith("killed by signal 11 (Segmentation fault) before reporting any progress"));
  EXPECT_EQ(result_of("echo:still measured"), "still measured");
}

TEST_F(SupervisorTest, NamesTheExitStatusOfAChildThatDoesNotAnswer) {
  EXPECT_EQ(crash_of("exit:7"), "exited with status 7 while sampling");
  EXPECT_EQ(crash_of("exit:0"), "exited with status 0 while sampling");
  EXPECT_EQ(result_of("echo:x"), "x");
}

TEST_F(SupervisorTest, KeepsTheEndOfStderrAndOfStdout) {
  const std::string reason = crash_of("last_words");
  EXPECT_THAT(reason, StartsWith("killed by signal 6 (Aborted) before reporting any progress\nxxx"));
  EXPECT_THAT(reason, EndsWith("x\nlast words on stderr"));
  EXPECT_LT(reason.size(), 4096U + 100U);
  EXPECT_GT(reason.size(), 4000U);
  EXPECT_EQ(crash_of("stdout_words"), "exited with status 4 before reporting any progress\nsaid on stdout");
}

TEST_F(SupervisorTest, KeepsStderrToItselfUnlessAsked) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(result_of("say"), "said");
  EXPECT_EQ(result_of("echo:x"), "x");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");

  SupervisorOptions options = options_with_timeout(kAmple);
  options.echo_stderr = true;
  ::testing::internal::CaptureStderr();
  {
    Supervisor loud{options};
    EXPECT_EQ(loud.request("say", ignore_progress, never).payload, "said");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "said on stderr\n");
}

TEST_F(SupervisorTest, GarbageIsAProtocolError) {
  EXPECT_EQ(crash_of("garbage"), "protocol error: unknown message kind 0x7a before reporting any progress");
  EXPECT_THAT(crash_of("huge_length"), StartsWith("protocol error: a message of 9223372036854775807 bytes"));
  EXPECT_THAT(crash_of("wrong_kind"), StartsWith("protocol error: a message of kind 'H'"));
  EXPECT_EQ(result_of("echo:x"), "x");
}

TEST_F(SupervisorTest, ResultBeforePoisonedIsKeptAndTheNextChildIsNew) {
  const std::string old_hello = supervisor_.hello();
  EXPECT_THAT(result_of("answer_then_poisoned"), StartsWith("poisoned after "));
  EXPECT_EQ(result_of("echo:x"), "x");  // whether or not kPoisoned had arrived before this request was sent
  EXPECT_NE(supervisor_.hello(), old_hello);
}

TEST_F(SupervisorTest, APoisonedChildThatGoesOnIsNotAskedAgain) {
  const std::string old_hello = supervisor_.hello();
  EXPECT_EQ(result_of("answer_with_poisoned"), "poisoned");
  EXPECT_EQ(result_of("echo:x"), "x");
  EXPECT_NE(supervisor_.hello(), old_hello);
}

TEST_F(SupervisorTest, ResultAfterPoisonedIsKeptAndTheNextChildIsNew) {
  SupervisorOptions options = options_with_timeout(kAmple);
  options.exit_grace = Seconds{0.2};  // this worker does not end by itself
  Supervisor supervisor{options};
  const std::string old_hello = supervisor.hello();
  EXPECT_EQ(supervisor.request("poisoned_then_answer", ignore_progress, never).payload, "poisoned before");
  EXPECT_EQ(supervisor.request("echo:x", ignore_progress, never).payload, "x");
  EXPECT_NE(supervisor.hello(), old_hello);
}

TEST_F(SupervisorTest, ADeathAfterTheAnswerCostsTheNextRequestNothing) {
  EXPECT_EQ(result_of("answer_then_slow_death"), "answered");
  EXPECT_EQ(result_of("echo:sent to a dying child"), "sent to a dying child");
}

TEST_F(SupervisorTest, ACrashAtOnceAfterAnAnswerIsStillACrash) {
  EXPECT_EQ(result_of("echo:x"), "x");
  EXPECT_THAT(crash_of("segfault"), StartsWith("killed by signal 11"));
}

TEST_F(SupervisorTest, AnAnswerThatNobodyAskedForIsNotTakenForTheNext) {
  const std::string old_hello = supervisor_.hello();
  EXPECT_EQ(result_of("answer_twice"), "first");
  EXPECT_EQ(result_of("echo:x"), "x");
  EXPECT_NE(supervisor_.hello(), old_hello);
}

TEST_F(SupervisorTest, AnExceptionOfTheCallerEndsTheChild) {
  const std::string old_hello = supervisor_.hello();
  const auto fail = [](std::string_view) { throw std::domain_error{"the caller's"}; };
  EXPECT_THROW(static_cast<void>(supervisor_.request("activity", fail, never)), std::domain_error);
  EXPECT_EQ(result_of("echo:x"), "x");
  EXPECT_NE(supervisor_.hello(), old_hello);
}

bool is_alive(pid_t pid) { return kill(pid, 0) == 0; }

TEST_F(SupervisorTest, AProcessThatTheChildLeftBehindDoesNotHideItsEndAndEndsWithIt) {
  pid_t orphan = 0;
  const auto note_orphan = [&](std::string_view pid) { orphan = std::stoi(std::string{pid}); };
  const Outcome outcome = supervisor_.request("die_with_orphan", note_orphan, never);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kCrashed);
  EXPECT_THAT(outcome.reason, StartsWith("exited with status 5 while "));
  ASSERT_GT(orphan, 0);
  EXPECT_FALSE(is_alive(orphan));
}

TEST_F(SupervisorTest, ADaemonOfAChildEndsWithItAndNoOtherProcessDoes) {
  const pid_t own = std::stoi(supervisor_.hello().substr(std::string{"hello from "}.size()));
  SupervisorOptions options = options_with_timeout(kAmple);
  Supervisor other{options};
  const pid_t daemon = std::stoi(other.request("daemon", ignore_progress, never).payload);
  EXPECT_TRUE(is_alive(daemon));
  other.prepare_child();
  other.renew_child();
  EXPECT_FALSE(is_alive(daemon));
  EXPECT_EQ(other.request("echo:of the prepared child", ignore_progress, never).payload, "of the prepared child");
  EXPECT_TRUE(is_alive(own));
  EXPECT_EQ(children().size(), 2U) << "a worker of each";
}

TEST_F(SupervisorTest, AChildThatHoldsTooMuchMemoryIsKilled) {
  SupervisorOptions options = options_with_timeout(kAmple);
  options.max_memory_bytes = std::int64_t{1} << 29;
  Supervisor supervisor{options};
  EXPECT_EQ(supervisor.request("echo:small", ignore_progress, never).payload, "small");
  const Outcome outcome = supervisor.request("hold:700000000", ignore_progress, never);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kCrashed);
  EXPECT_THAT(outcome.reason,
              ::testing::MatchesRegex("held 0.[5-9] GiB of the host's memory, more than the 0.5 GiB that "
                                      "a worker may, and was killed while holding"));
}

TEST_F(SupervisorTest, AChildsLimitsAreNoHigherThanAWorkerNeeds) {
  std::istringstream words{result_of("limits")};
  const std::vector<std::uint64_t> limits{std::istream_iterator<std::uint64_t>{words}, {}};
  ASSERT_EQ(limits.size(), 4U);
  EXPECT_EQ(limits[0], 0U) << "no core files";
  EXPECT_LE(limits[1], std::uint64_t{16} << 30);
  EXPECT_LE(limits[2], 65536U);
  EXPECT_LT(limits[3], std::uint64_t{1} << 24) << "threads";
  EXPECT_GT(limits[3], 100U);
}

TEST_F(SupervisorTest, ExecutesAnotherFileThanTheFirstWordWhereOneIsGiven) {
  SupervisorOptions options = options_with_timeout(kAmple);
  options.executable = options.command.front();
  options.command.front() = "/no/such/program";
  Supervisor supervisor{options};
  EXPECT_EQ(supervisor.request("echo:x", ignore_progress, never).payload, "x");
}

TEST_F(SupervisorTest, AHelloThatIsRefusedEndsTheRequestAndTheChild) {
  SupervisorOptions options = options_with_timeout(kAmple);
  int hellos = 0;
  options.check_hello = [&](const std::string& hello) {
    EXPECT_THAT(hello, StartsWith("hello from "));
    if (++hellos > 1) throw std::domain_error{"another build"};
  };
  Supervisor supervisor{options};
  const std::string first = supervisor.hello();
  EXPECT_EQ(supervisor.request("echo:x", ignore_progress, never).payload, "x");
  supervisor.renew_child();
  EXPECT_THROW(static_cast<void>(supervisor.request("echo:x", ignore_progress, never)), std::domain_error);
  EXPECT_EQ(supervisor.hello(), first);
  EXPECT_EQ(hellos, 2);
}

}  // namespace
}  // namespace tbench::process
