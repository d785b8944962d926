// A program run as a user runs it: found on PATH, its output where the caller wants it, waited for.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tbench::process {

/// Descriptors that a command's output goes to; the caller keeps them. Standard input is /dev/null.
struct CommandOutput {
  int out{1};
  int err{2};
};

class Command {
 public:
  /// Starts the program, which inherits the environment.
  /// @param words  program and arguments, at least the program; it is searched for on PATH
  /// @throws       std::system_error naming the program, if it cannot be started
  explicit Command(const std::vector<std::string>& words, CommandOutput output = {});
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  /// Kills a command that was not waited for.
  ~Command();

  /// Sends a signal. A command that has ended but was not waited for does not notice.
  void signal(int number) const;
  /// @return  the exit status; 128 + signal if one ended it
  /// @throws  std::system_error  if it was waited for before
  [[nodiscard]] int wait();

 private:
  pid_t pid_{};
};

}  // namespace tbench::process
