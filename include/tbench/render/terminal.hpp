// Fits text to a terminal: the room that UTF-8 text takes, how to make it fit, and the line that tells what the run is
// doing, rewritten in place.
#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "tbench/core/units.hpp"

namespace tbench::render {

/// Escape sequences that colour what follows.
inline constexpr std::string_view kRed = "\033[31m";
inline constexpr std::string_view kGreen = "\033[32m";
inline constexpr std::string_view kYellow = "\033[33m";
inline constexpr std::string_view kPlain = "\033[0m";

enum class Align { kLeft, kRight };

/// Columns of a terminal that `text` takes: two for wide East Asian characters and emoji, none for combining marks, one
/// for a byte that is not UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// `text` if it fits into `width` columns, else its beginning and an ellipsis.
[[nodiscard]] std::string fit(std::string_view text, std::size_t width);

/// `text` with spaces on the other side, at least `width` columns.
[[nodiscard]] std::string pad(std::string_view text, std::size_t width, Align align);

/// Text that moves no cursor, changes no colour and turns no line around: control characters of ASCII and of Latin-1,
/// Unicode's line breaks and its controls of direction become a space each. It is for names, reasons and paths, which
/// may hold anything.
[[nodiscard]] std::string without_controls(std::string_view text);

/// without_controls(), less the spaces at the ends.
[[nodiscard]] std::string one_line(std::string_view text);

[[nodiscard]] std::string without_trailing_spaces(std::string line);

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

}  // namespace tbench::render
