// One line on a terminal that tells what the run is doing, rewritten in place.
#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>

#include "tbench/core/units.hpp"

namespace tbench::report {

/// Columns of the terminal behind a file descriptor; nothing if there is no terminal (a pipe, a file).
[[nodiscard]] std::optional<std::size_t> terminal_width(int descriptor);

struct Progress {
  std::size_t number{};  // of the running case, counted from 1
  std::size_t count{};   // of the selected cases
  std::string name;
  std::string activity;  // build, verify, warm up, sample ...
  Seconds elapsed;
  std::optional<Seconds> remaining;  // estimate, once there is one
};

/// `[12/60] Model/... · warming up · 0:41 elapsed, about 2:10 left`, in at most `width` columns: the name is shortened
/// first.
[[nodiscard]] std::string progress_text(const Progress& progress, std::size_t width);

class ProgressLine {
 public:
  /// @param out    must outlive the line
  /// @param width  of the terminal (terminal_width); nothing: every call is silent
  ProgressLine(std::FILE* out, std::optional<std::size_t> width) : out_{out}, width_{width} {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// Shows `progress` in place of what the line showed. Flushes.
  void update(const Progress& progress);
  /// Removes the line: call it before printing anything else to the same terminal.
  void clear();

 private:
  std::FILE* out_;
  std::optional<std::size_t> width_;
  bool is_shown_{};
};

}  // namespace tbench::report
