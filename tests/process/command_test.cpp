#include "tbench/process/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <system_error>

#include "tbench/process/descriptor.hpp"

namespace tbench::process {
namespace {

/// Returns what a shell's command writes to the given stream.
std::string output_of(const std::string& script, bool to_err) {
  Pipe pipe = make_pipe();
  const int end = pipe.write_end.get();
  Command command{{"sh", "-c", script},
                  to_err ? CommandOutput{.out = 1, .err = end} : CommandOutput{.out = end, .err = 2}};
  pipe.write_end.reset();
  std::string text;
  std::array<char, 256> buffer;
  for (;;) {
    const Transfer read = read_some(pipe.read_end.get(), buffer);
    if (read.state == Transfer::State::kEnd) break;
    text.append(buffer.data(), read.bytes);
  }
  EXPECT_EQ(command.wait(), 0);
  return text;
}

TEST(Command, GivesTheExitStatusOrTheSignal) {
  EXPECT_EQ((Command{{"sh", "-c", "exit 7"}}.wait()), 7);
  EXPECT_EQ((Command{{"sh", "-c", "kill -TERM $$"}}.wait()), 128 + SIGTERM);
}

TEST(Command, SendsEachStreamWhereItIsTold) {
  EXPECT_EQ(output_of("echo out", /*to_err=*/false), "out\n");
  EXPECT_EQ(output_of("echo err >&2", /*to_err=*/true), "err\n");
}

TEST(Command, ReadsNothingFromOurInput) { EXPECT_EQ(output_of("cat; echo end", /*to_err=*/false), "end\n"); }

TEST(Command, TakesArgumentsAsTheyAre) {
  Pipe pipe = make_pipe();
  Command command{{"printf", "%s|", "a b", "$HOME", "*"}, {.out = pipe.write_end.get(), .err = 2}};
  EXPECT_EQ(command.wait(), 0);
  std::array<char, 64> buffer;
  const Transfer read = read_some(pipe.read_end.get(), buffer);
  EXPECT_EQ(std::string(buffer.data(), read.bytes), "a b|$HOME|*|");
}

TEST(Command, TellsWithoutWaitingWhetherItHasEnded) {
  Command command{{"sleep", "60"}};
  EXPECT_EQ(command.poll(), std::nullopt);
  command.signal(SIGTERM);
  std::optional<int> status;
  while (!status) status = command.poll();
  EXPECT_EQ(status, 128 + SIGTERM);
  EXPECT_THROW(static_cast<void>(command.poll()), std::system_error);
}

TEST(Command, CanBeInterrupted) {
  Command command{{"sleep", "60"}};
  command.signal(SIGINT);
  EXPECT_EQ(command.wait(), 128 + SIGINT);
}

TEST(Command, NamesAProgramThatIsNotThere) {
  try {
    Command{{"/no/such/program"}};
    FAIL() << "no error";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("'/no/such/program'"));
  }
}

TEST(Command, IsWaitedForOnce) {
  Command command{{"true"}};
  EXPECT_EQ(command.wait(), 0);
  EXPECT_THROW(static_cast<void>(command.wait()), std::system_error);
}

}  // namespace
}  // namespace tbench::process
