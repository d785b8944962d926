// Files that survive the death of the program and of the machine: replaced as a whole, or appended to line by line.
// And their content packed with gzip (RFC 1952), for which a name that ends in .gz is all it takes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tbench/process/descriptor.hpp"

namespace tbench::results {

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

  /// Appends `line` and a newline.
  /// @param line  without newlines
  /// @throws      std::system_error  naming the path and the cause; a part that was written is taken back
  void append(std::string_view line);

 private:
  std::string path_;
  process::UniqueDescriptor file_;
};

/// Whether the name says that the file is packed: it ends in ".gz".
[[nodiscard]] bool is_packed_name(std::string_view path);

/// Whether the content begins as gzip's does.
[[nodiscard]] bool is_packed(std::string_view content);

/// One gzip member without name and time: equal content gives equal bytes.
/// @throws  std::runtime_error  if zlib cannot get its memory
[[nodiscard]] std::string pack(std::string_view content);

/// As pack(), of content that comes in parts: only what is packed is kept.
class Packer {
 public:
  /// @throws  std::runtime_error  if zlib cannot get its memory
  Packer();
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  void append(std::string_view content);
  /// Appends the last part.
  /// @return  all of it, packed; nothing can be appended after that
  [[nodiscard]] std::string finish(std::string_view content = {});

 private:
  class Deflater;
  std::unique_ptr<Deflater> deflater_;
};

/// What all members hold, one after the other, as gzip reads them. Checks every member's length and CRC.
/// @throws  std::runtime_error  saying what is wrong: no gzip data, cut off, corrupt
[[nodiscard]] std::string unpack(std::string_view packed);

}  // namespace tbench::results
