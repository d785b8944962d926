#include "child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sample_results.hpp"
#include "tbench/report/durable_file.hpp"

extern char** environ;

namespace tbench::report {
namespace {

/// Starts the program with its output on `out` and its errors in the file `err`.
pid_t spawn(const std::vector<std::string>& command, int out, const std::string& err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t pid{};
  const int error = ::posix_spawn(&pid, command.front().c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error{"cannot start " + command.front()};
  return pid;
}

/// Appends what arrives until `lines` lines are there; false at the end of the output.
bool read_lines(int descriptor, std::size_t lines, std::string& text) {
  std::array<char, 4096> buffer{};
  while (static_cast<std::size_t>(std::ranges::count(text, '\n')) < lines) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count <= 0) return false;
    text += std::string_view{buffer.data(), static_cast<std::size_t>(count)};
  }
  return true;
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command, std::optional<KillMoment> kill) {
  const TemporaryFolder folder;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error{"no pipe"};
  const pid_t pid = spawn(command, ends[1], folder.file("err"));
  ::close(ends[1]);
  ChildResult result;
  if (kill && read_lines(ends[0], kill->lines, result.out)) {
    std::this_thread::sleep_for(kill->delay);
    ::kill(pid, SIGKILL);  // a program that has ended waits for waitpid: the id is still its own
  }
  read_lines(ends[0], std::string::npos, result.out);
  ::close(ends[0]);
  int status{};
  ::waitpid(pid, &status, 0);
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.err = read_whole_file(folder.file("err"));
  return result;
}

}  // namespace tbench::report
