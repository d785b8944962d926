// Runs a program as a user does, and keeps what it says.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tbench::report {

struct ChildResult {
  int exit_status{};  // 128 + signal if one ended it
  std::string out;
  std::string err;
};

/// When to send SIGKILL: so long after so many lines of output.
struct KillMoment {
  std::size_t lines{};
  std::chrono::microseconds delay{};
};

/// @param command  program and arguments
/// @param kill     nothing: the program ends by itself
[[nodiscard]] ChildResult run_child(const std::vector<std::string>& command,
                                    std::optional<KillMoment> kill = std::nullopt);

}  // namespace tbench::report
