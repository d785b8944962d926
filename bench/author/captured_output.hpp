// The output of a command, kept in memory: no file remains, however the program ends.
#pragma once

#include <string>

#include "tbench/process/command.hpp"
#include "tbench/process/descriptor.hpp"

namespace tbench::bench {

class CapturedOutput {
 public:
  /// @throws  std::system_error
  CapturedOutput();

  /// Returns the descriptors for a command whose standard output and error are captured together.
  [[nodiscard]] process::CommandOutput descriptors() const { return {.out = file_.get(), .err = file_.get()}; }
  /// Returns what was written so far.
  [[nodiscard]] std::string text() const;

 private:
  process::UniqueDescriptor file_;
};

}  // namespace tbench::bench
