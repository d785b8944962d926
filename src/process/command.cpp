#include "tbench/process/command.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "process/descendants.hpp"

extern char** environ;

namespace tbench::process {
namespace {

constexpr int kSignalStatus = 128;  // as shells do

/// Changes of the new process's descriptors before it executes the program.
class FileActions {
 public:
  explicit FileActions(const CommandOutput& output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output.out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output.err, STDERR_FILENO);
  }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

Command::Command(const std::vector<std::string>& words, CommandOutput output) {
  if (words.empty()) throw std::invalid_argument{"a command without words"};
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const FileActions actions{output};
  const std::unique_lock lock = lock_children();
  const int error = ::posix_spawnp(&pid_, arguments.front(), actions.get(), nullptr, arguments.data(), environ);
  if (error != 0) throw std::system_error{error, std::generic_category(), "cannot start '" + words.front() + "'"};
  add_own_child(pid_, lock);
}

Command::~Command() {
  if (pid_ == 0) return;
  signal(SIGKILL);
  static_cast<void>(wait());
}

void Command::signal(int number) const {
  if (pid_ != 0) ::kill(pid_, number);
}

std::optional<int> Command::poll() { return wait_with(WNOHANG); }

int Command::wait() { return wait_with(0).value(); }

/// Waits as waitpid() does with these options.
std::optional<int> Command::wait_with(int options) {
  if (pid_ == 0) throw std::system_error{ECHILD, std::generic_category(), "waitpid"};
  int status{};
  pid_t ended{};
  while ((ended = ::waitpid(pid_, &status, options)) < 0) {
    if (errno != EINTR) throw std::system_error{errno, std::generic_category(), "waitpid"};
  }
  if (ended == 0) return std::nullopt;
  remove_own_child(std::exchange(pid_, 0));
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalStatus + WTERMSIG(status);
}

}  // namespace tbench::process
