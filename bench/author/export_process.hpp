// One running tools/export_kernel.py, which makes a package.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "bench/author/captured_output.hpp"
#include "tbench/core/units.hpp"
#include "tbench/process/command.hpp"

namespace tbench::bench {

class ExportProcess {
 public:
  /// Starts the tool, which writes a draft next to `path`.
  /// @param command  program and arguments, without --out
  /// @param path     the package to make; ends in .pt2
  ExportProcess(std::vector<std::string> command, std::string path);
  ExportProcess(const ExportProcess&) = delete;
  ExportProcess& operator=(const ExportProcess&) = delete;
  /// Kills a tool that is still running, and removes the draft.
  ~ExportProcess();

  /// Returns whether the tool has ended.
  [[nodiscard]] bool has_ended();
  /// Moves the package of a tool that has ended to its path.
  /// @throws  std::runtime_error  with the reason if there is no package
  void keep_package();
  /// Returns what the tool does now, such as `compiling forward/fp32 (1 of 6)`.
  [[nodiscard]] std::string step() const;
  [[nodiscard]] Seconds elapsed() const;

 private:
  std::vector<std::string> command_;
  std::string path_;
  std::string draft_;
  std::chrono::steady_clock::time_point began_;
  CapturedOutput output_;
  process::Command running_;
  std::optional<int> status_;
};

}  // namespace tbench::bench
