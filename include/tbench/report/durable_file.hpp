// Files that survive the death of the program and of the machine: replaced as a whole, or appended to line by line.
#pragma once

#include <string>
#include <string_view>

namespace tbench::report {

/// Replaces the file at `path`, or makes it: writes `PATH.tmp` beside it, syncs it, renames it, syncs the folder.
/// Whoever reads `path` at any time sees the old or the new content, never a part. A symbolic link stays one: the file
/// that it leads to is replaced.
/// @throws  std::system_error  naming the path and the cause; the file is then unchanged
void write_atomically(const std::string& path, std::string_view content);

/// @throws  std::system_error  naming the path and the cause
[[nodiscard]] std::string read_whole_file(const std::string& path);

/// Appends lines, each on the disk before `append` returns.
class LineAppender {
 public:
  /// Empties the file at `path`, or makes it.
  /// @throws  std::system_error  naming the path and the cause
  explicit LineAppender(std::string path);
  LineAppender(const LineAppender&) = delete;
  LineAppender& operator=(const LineAppender&) = delete;
  ~LineAppender();

  /// Appends `line` and a newline.
  /// @param line  without newlines
  /// @throws      std::system_error  naming the path and the cause; a part that was written is taken back
  void append(std::string_view line);

 private:
  std::string path_;
  int descriptor_{-1};
};

}  // namespace tbench::report
