// Runs a command that ends with this process. The command has a process group of its own, and gets the signals that ask
// this process to stop.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "tbench/core/units.hpp"
#include "tbench/process/command.hpp"

namespace tbench::process {

/// Thrown if a signal asked this process to stop while a command ran. The command has ended by then.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int number);
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// Runs a program and waits for it. The program gets each SIGINT, SIGTERM and SIGHUP that this process gets, and gets
/// SIGKILL when this process dies. Processes that it leaves running are killed, including those that left its group.
/// @param words  program and arguments, at least the program, which is searched for on PATH
/// @param grace  how long the program may keep running after a signal
/// @return       the exit status; 128 + signal if a signal ended the program; 127 if it cannot be started
/// @throws       Interrupted  after a signal; std::system_error if no process can be created
[[nodiscard]] int run_bound(const std::vector<std::string>& words, CommandOutput output, Seconds grace = Seconds{10});

}  // namespace tbench::process
