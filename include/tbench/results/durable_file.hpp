// Files that survive a crash of the program or the machine: replaced as a whole, or appended to line by line. Files are
// packed with gzip (RFC 1952) if their name ends in .gz; readers recognise packed content by its first bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tbench/process/descriptor.hpp"

namespace tbench::results {

/// Replaces or creates the file at `path`: writes an unnamed file in its folder, syncs it, moves it to `path` with the
/// old file's permissions, and syncs the folder. A reader sees the old or the new content at any time, never a part,
/// and a crash leaves no other file. If `path` is a symbolic link, its target is replaced. A device or a FIFO is
/// written directly.
/// @throws  WriteError  the file is then unchanged
void write_atomically(const std::string& path, std::string_view content);

/// Resolves symbolic links at `path`, and returns the path of the final target, which need not exist.
/// @throws  WriteError  if the links form a cycle
[[nodiscard]] std::string without_links(const std::string& path);

/// The largest size in bytes of a file, packed or unpacked: 80 times the size of the largest results.
inline constexpr std::size_t kMaxContent = std::size_t{512} << 20;

/// Reads a file or a pipe to its end.
/// @throws  std::system_error  naming the path and the cause
/// @throws  UsageError         naming the path, for a device or for more than kMaxContent bytes
[[nodiscard]] std::string read_whole_file(const std::string& path);

/// Appends lines to a file. Each line is on disk before append() returns.
class LineAppender {
 public:
  /// Empties or creates the file at `path`.
  /// @throws  WriteError
  explicit LineAppender(const std::string& path);
  /// Empties a file that is open for appending.
  /// @param path  path of the file
  /// @throws      WriteError
  LineAppender(std::string path, process::UniqueDescriptor file);
  LineAppender(const LineAppender&) = delete;
  LineAppender& operator=(const LineAppender&) = delete;

  /// Appends `line` and a newline.
  /// @param line  a line without newlines
  /// @throws      WriteError  a partly written line is removed
  void append(std::string_view line);

 private:
  std::string path_;
  process::UniqueDescriptor file_;
};

/// Returns whether the name marks a packed file: it ends in ".gz".
[[nodiscard]] bool is_packed_name(std::string_view path);

/// Returns whether the content begins with gzip's magic bytes.
[[nodiscard]] bool is_packed(std::string_view content);

/// Packs content as one gzip member without name and time, so that equal content has equal bytes.
/// @throws  std::runtime_error  if zlib cannot get its memory
[[nodiscard]] std::string pack(std::string_view content);

/// Packs content that arrives in parts, like pack(). Keeps only the packed bytes in memory.
class Packer {
 public:
  /// @throws  std::runtime_error  if zlib cannot get its memory
  Packer();
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  void append(std::string_view content);
  /// Appends the last part.
  /// @return  the whole packed content; nothing can be appended afterwards
  [[nodiscard]] std::string finish(std::string_view content = {});

 private:
  class Deflater;
  std::unique_ptr<Deflater> deflater_;
};

/// Packed content exceeds the size limit when unpacked.
class UnpacksToTooMuch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the concatenated content of all gzip members. Checks every member's length and CRC.
/// @param most  largest number of unpacked bytes
/// @throws      std::runtime_error  naming the error: no gzip data, truncated or corrupt
/// @throws      UnpacksToTooMuch    for more than `most` bytes
[[nodiscard]] std::string unpack(std::string_view packed, std::size_t most = kMaxContent);

}  // namespace tbench::results
