// Runs a program as a user does, and gives what it printed and how it ended.
#pragma once

#include <string>
#include <vector>

namespace tbench::test {

struct CommandResult {
  int status{};  // exit status; 128 + signal if a signal ended it
  std::string out;
  std::string err;
};

/// @param interrupt_after_s  send SIGINT after so many seconds; 0: never
[[nodiscard]] CommandResult run_command(const std::vector<std::string>& words, double interrupt_after_s = 0);

}  // namespace tbench::test
