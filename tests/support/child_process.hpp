// Runs a program as a user does, or a function on a C stream, and returns what it prints.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbench::support {

struct ChildResult {
  int exit_status{};  // 128 + signal if a signal ended it
  std::string out;
  std::string err;
};

/// When to send SIGKILL: `delay` after the output has `lines` lines.
struct KillMoment {
  std::size_t lines{};
  std::chrono::microseconds delay{};
};

/// Runs a program and returns its output.
/// @param command  program and arguments
/// @param kill     when to kill it; if absent, the program ends by itself
[[nodiscard]] ChildResult run_child(const std::vector<std::string>& command,
                                    std::optional<KillMoment> kill = std::nullopt);

/// Runs tbench like run_child(), and joins the lines of each message on standard error, which tbench wraps.
[[nodiscard]] ChildResult run_tool(const std::vector<std::string>& command);

/// Returns what `print` prints to a file.
template <class Print>
std::string printed(Print print) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), &std::fclose};
  print(file.get());
  std::rewind(file.get());
  std::string text(10'000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  return text;
}

}  // namespace tbench::support
