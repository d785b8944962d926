// A command that ends with us: run in a process group of its own, with the signals that ask us to stop passed on to it.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "tbench/core/units.hpp"
#include "tbench/process/command.hpp"

namespace tbench::process {

/// Thrown if a signal asked us to stop while a command ran. The command has ended by then.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int number);
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// Runs a program and waits for it. It gets each SIGINT, SIGTERM and SIGHUP that we get, and SIGKILL when we die.
/// Processes that it leaves running are killed, including those that left its group.
/// @param words  program and arguments, at least the program; it is searched for on PATH
/// @param grace  how long after a signal it may go on
/// @return       the exit status; 128 + signal if one ended it; 127 if it cannot be started
/// @throws       Interrupted  after a signal; std::system_error if no process can be made
[[nodiscard]] int run_bound(const std::vector<std::string>& words, CommandOutput output, Seconds grace = Seconds{10});

}  // namespace tbench::process
