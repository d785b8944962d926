// Fits text to a terminal: the width of UTF-8 text, shortening and padding, and a progress line that is rewritten in
// place.
#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/units.hpp"

namespace tbench::render {

/// Escape sequences that colour the text after them.
inline constexpr std::string_view kRed = "\033[31m";
inline constexpr std::string_view kGreen = "\033[32m";
inline constexpr std::string_view kYellow = "\033[33m";
inline constexpr std::string_view kPlain = "\033[0m";

enum class Align { kLeft, kRight };

/// Returns the number of terminal columns that `text` occupies: two for wide East Asian characters and emoji, none for
/// combining marks, one for a byte that is not UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Returns `text` if it fits into `width` columns, otherwise its beginning and an ellipsis.
[[nodiscard]] std::string fit(std::string_view text, std::size_t width);

/// Pads `text` with spaces to at least `width` columns, so that it is aligned as requested.
[[nodiscard]] std::string pad(std::string_view text, std::size_t width, Align align);

/// Replaces each character that moves the cursor, changes colours or reverses the text direction (ASCII and Latin-1
/// controls, Unicode line breaks and direction controls) by a space, and bytes that are not UTF-8 by U+FFFD. Used for
/// names, reasons and paths, which may contain any byte.
[[nodiscard]] std::string without_controls(std::string_view text);

/// Applies without_controls() and removes the spaces at both ends.
[[nodiscard]] std::string one_line(std::string_view text);

[[nodiscard]] std::string without_trailing_spaces(std::string line);

/// Appends `text` to `lines`, wrapped between words. The first line begins with `begin`, the next lines with `indent`
/// spaces. A line has at most `width` bytes, unless a single word is longer.
void add_wrapped(std::vector<std::string>& lines, std::string begin, std::string_view text, std::size_t indent,
                 std::size_t width);

/// Returns the number of columns of a file descriptor's terminal, or nullopt if it is not a terminal (a pipe, a file).
[[nodiscard]] std::optional<std::size_t> terminal_width(int descriptor);

/// Largest number of columns of a table or a message.
inline constexpr std::size_t kConsoleWidth = 100;

/// Returns the number of columns that tables and messages may take: the width of the descriptor's terminal, and at most
/// kConsoleWidth.
[[nodiscard]] std::size_t console_width(int descriptor);

struct Progress {
  std::size_t number{};  // number of the running case, counted from 1
  std::size_t count{};   // number of selected cases
  std::string name;
  std::string activity;  // build, verify, warm up, sample ...
  Seconds elapsed;
  std::optional<Seconds> remaining;  // estimated time left; absent until there is an estimate
};

/// `[12/60] Model/... · warming up · 0:41 elapsed, about 2:10 left`, in at most `width` columns: the name is shortened
/// first.
[[nodiscard]] std::string progress_text(const Progress& progress, std::size_t width);

class ProgressLine {
 public:
  /// Prepares a line. If there is no terminal, all calls print nothing.
  /// @param out    stream to write to; must outlive the line
  /// @param width  width of the terminal, from terminal_width(); nullopt if there is no terminal
  ProgressLine(std::FILE* out, std::optional<std::size_t> width) : out_{out}, width_{width} {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// Replaces the line by `progress`, and flushes.
  void update(const Progress& progress);
  /// Removes the line: call it before printing anything else to the same terminal.
  void clear();

 private:
  std::FILE* out_;
  std::optional<std::size_t> width_;
  bool is_shown_{};
};

}  // namespace tbench::render
