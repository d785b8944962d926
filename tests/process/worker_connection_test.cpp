// Tests the connection with shell scripts that are not workers: silence, an early end and stderr. Conversations with a
// real worker are in supervisor_test.cpp and supervisor_lifetime_test.cpp.
#include "process/worker_connection.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace tbench::process {
namespace {

using Event = WorkerConnection::Event;

constexpr Seconds kAmple{30.0};
constexpr Seconds kTick{0.05};

WorkerStart shell(const std::string& script) { return {.command = {"/bin/sh", "-c", script}}; }

Event next_event(WorkerConnection& connection, Seconds silence_limit) {
  for (;;) {
    if (auto event = connection.poll_event(kTick, silence_limit)) return *event;
  }
}

TEST(WorkerConnectionTest, FindsTheEndOfTheWorker) {
  WorkerConnection connection{shell("exit 3")};
  EXPECT_EQ(next_event(connection, kAmple).kind, Event::Kind::kClosed);
  const auto [end, was_killed] = connection.close(kAmple, kAmple);
  EXPECT_EQ(to_string(end), "exited with status 3");
  EXPECT_FALSE(was_killed);
}

TEST(WorkerConnectionTest, FindsSilenceNoEarlierThanItsLimit) {
  WorkerConnection connection{shell("while sleep 0.02; do echo noise; done")};
  connection.send(MessageKind::kRequest, "x");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(next_event(connection, Seconds{0.3}).kind, Event::Kind::kSilent);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds{300});
  EXPECT_TRUE(connection.close(Seconds{0.0}, kAmple).was_killed);
}

TEST(WorkerConnectionTest, GivesTheMessagesOfAWorkerThatHasEnded) {
  // `--tb_worker=R,W` is $0. W, after the comma, is the descriptor of the messages.
  WorkerConnection connection{
      shell("eval \"exec 1>&${0##*,}\"; printf 'R\\002\\000\\000\\000\\000\\000\\000\\000ok'; exit 1")};
  const Event event = next_event(connection, kAmple);
  ASSERT_EQ(event.kind, Event::Kind::kMessage);
  EXPECT_EQ(event.message.payload, "ok");
  EXPECT_EQ(next_event(connection, kAmple).kind, Event::Kind::kClosed);
}

TEST(WorkerConnectionTest, LetsAWorkerEndByItselfWithinTheGrace) {
  // The script ends when its request pipe is closed. Before that, it writes more than a pipe holds.
  WorkerConnection connection{
      shell("r=${0##*=}; eval \"cat <&${r%,*}\"; head -c 300000 /dev/zero | tr '\\0' x; echo bye; exit 4")};
  const auto [end, was_killed] = connection.close(kAmple, kAmple);
  EXPECT_FALSE(was_killed);
  EXPECT_EQ(to_string(end), "exited with status 4");
  const std::string tail = connection.stderr_tail();
  EXPECT_EQ(tail.size(), 4096U - 1U);  // the newline is removed
  EXPECT_EQ(tail.substr(tail.size() - 5), "xxbye");
}

}  // namespace
}  // namespace tbench::process
