#include "tbench/process/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <string>
#include <system_error>
#include <utility>

namespace tbench::process {
namespace {

bool is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

TEST(UniqueDescriptorTest, ClosesOnceAndMoves) {
  Pipe pipe = make_pipe();
  const int number = pipe.read_end.get();
  {
    UniqueDescriptor moved{std::move(pipe.read_end)};
    EXPECT_EQ(moved.get(), number);
    EXPECT_FALSE(pipe.read_end);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(UniqueDescriptorTest, AssignmentClosesWhatWasThere) {
  Pipe pipe = make_pipe();
  const int read_number = pipe.read_end.get();
  const int write_number = pipe.write_end.get();
  pipe.read_end = std::move(pipe.write_end);
  EXPECT_FALSE(is_open(read_number));
  EXPECT_EQ(pipe.read_end.get(), write_number);
  pipe.read_end.reset();
  EXPECT_FALSE(is_open(write_number));
  EXPECT_LT(pipe.read_end.get(), 0);
}

TEST(PipeTest, ClosesOnExecAndLeavesTheStandardStreamsAlone) {
  const int kept_stdin = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
  close(STDIN_FILENO);  // as in a process that was started with `<&-`
  const Pipe pipe = make_pipe();
  if (kept_stdin >= 0) dup2(kept_stdin, STDIN_FILENO), close(kept_stdin);
  for (const UniqueDescriptor* end : {&pipe.read_end, &pipe.write_end}) {
    EXPECT_GT(end->get(), STDERR_FILENO);
    EXPECT_EQ(fcntl(end->get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  }
}

TEST(TransferTest, TellsBytesFromABlockAndFromTheEnd) {
  Pipe pipe = make_pipe();
  std::array<char, 8> buffer{};
  set_non_blocking(pipe.read_end);
  EXPECT_EQ(read_some(pipe.read_end.get(), buffer).state, Transfer::State::kWouldBlock);
  EXPECT_EQ(write_some(pipe.write_end.get(), "abc").bytes, 3U);
  const Transfer read = read_some(pipe.read_end.get(), buffer);
  EXPECT_EQ(read.state, Transfer::State::kMoved);
  EXPECT_EQ(std::string(buffer.data(), read.bytes), "abc");
  pipe.write_end.reset();
  EXPECT_EQ(read_some(pipe.read_end.get(), buffer).state, Transfer::State::kEnd);
}

TEST(TransferTest, AFullPipeBlocks) {
  const Pipe pipe = make_pipe();
  set_non_blocking(pipe.write_end);
  const std::string large(10'000'000, 'x');  // NOLINT(bugprone-string-constructor)
  const Transfer first = write_some(pipe.write_end.get(), large);
  EXPECT_EQ(first.state, Transfer::State::kMoved);
  EXPECT_LT(first.bytes, large.size());
  EXPECT_EQ(write_some(pipe.write_end.get(), large).state, Transfer::State::kWouldBlock);
}

TEST(TransferTest, AReaderThatIsGoneKillsNobody) {
  Pipe pipe = make_pipe();
  pipe.read_end.reset();
  ASSERT_EQ(signal(SIGPIPE, SIG_DFL), SIG_DFL);
  EXPECT_EQ(write_some(pipe.write_end.get(), "abc").state, Transfer::State::kEnd);
  sigset_t pending, mask;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGPIPE), 0);
}

TEST(TransferTest, ABadDescriptorThrows) {
  std::array<char, 8> buffer{};
  EXPECT_THROW(static_cast<void>(read_some(-1, buffer)), std::system_error);
  EXPECT_THROW(static_cast<void>(write_some(-1, "abc")), std::system_error);
  EXPECT_THROW(set_non_blocking(UniqueDescriptor{}), std::system_error);
}

}  // namespace
}  // namespace tbench::process
