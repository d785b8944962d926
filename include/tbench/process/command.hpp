// Runs a program as a user does: finds it on PATH, sends its output where the caller wants it, and waits for it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace tbench::process {

/// The descriptors for a command's output. The caller still owns them. Standard input is /dev/null.
struct CommandOutput {
  int out{1};
  int err{2};
};

class Command {
 public:
  /// Starts the program, which inherits the environment.
  /// @param words  program and arguments, at least the program, which is searched for on PATH
  /// @throws       std::system_error  if the program cannot be started; the message names it
  explicit Command(const std::vector<std::string>& words, CommandOutput output = {});
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  /// Kills a command that was not waited for.
  ~Command();

  /// Sends a signal to the command. This has no effect on a command that has ended but was not waited for.
  void signal(int number) const;
  /// Returns what wait() returns, or nullopt if the command is still running.
  /// @throws  std::system_error  as wait()
  [[nodiscard]] std::optional<int> poll();
  /// Waits until the command ends.
  /// @return  the exit status; 128 + signal if a signal ended the command
  /// @throws  std::system_error  if the command was waited for before
  [[nodiscard]] int wait();

 private:
  std::optional<int> wait_with(int options);

  pid_t pid_{};
};

}  // namespace tbench::process
