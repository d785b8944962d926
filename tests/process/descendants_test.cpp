// Tests the descendants of this process: children of all its threads, and the memory that they hold.
// supervisor_test.cpp tests that orphans end.
#include "process/descendants.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace tbench::process {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

/// Starts a process that holds `bytes` bytes until it is killed.
pid_t start_holder(std::size_t bytes) {
  int ready[2];
  if (pipe(ready) != 0) return -1;
  const pid_t pid = fork();
  if (pid == 0) {
    const std::string held(bytes, 'm');
    if (write(ready[1], held.data(), 1) != 1) _exit(1);
    for (;;) pause();
  }
  char byte{};
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  return pid;
}

void end(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST(Descendants, AreThoseOfAllThreads) {
  pid_t of_thread = 0;
  std::thread{[&] { of_thread = start_holder(1); }}.join();
  const pid_t of_this = start_holder(1);
  EXPECT_THAT(children_of(getpid()), Contains(of_this));
  EXPECT_THAT(children_of(getpid()), Contains(of_thread));
  end(of_this);
  end(of_thread);
  EXPECT_THAT(children_of(getpid()), Not(Contains(of_this)));
  EXPECT_THAT(children_of(of_this), IsEmpty()) << "it has ended";
}

TEST(Descendants, HoldWhatTheirMemoryHasAndAllThatIsBelow) {
  constexpr std::int64_t kBytes = std::int64_t{64} << 20;
  const std::int64_t before = held_bytes(getpid());
  const pid_t pid = start_holder(kBytes);
  EXPECT_GE(held_bytes(pid), kBytes);
  EXPECT_GE(held_bytes(getpid()), before + kBytes);
  end(pid);
  EXPECT_LT(held_bytes(getpid()), before + kBytes);
  EXPECT_EQ(held_bytes(pid), 0);
}

}  // namespace
}  // namespace tbench::process
