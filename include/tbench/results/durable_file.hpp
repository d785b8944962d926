// Files that survive the death of the program and of the machine: replaced as a whole, or appended to line by line.
// And their content packed with gzip (RFC 1952): written under a name that ends in .gz, known by its bytes when read.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tbench/process/descriptor.hpp"

namespace tbench::results {

/// Replaces the file at `path`, or makes it: writes a file without a name in its folder, syncs it, gives it the file's
/// place and permissions, syncs the folder. Whoever reads `path` at any time sees the old or the new content, never a
/// part, and whatever ends the program leaves nothing else. A symbolic link stays one: the file that it leads to is
/// replaced. A device or a FIFO is written through.
/// @throws  WriteError  the file is then unchanged
void write_atomically(const std::string& path, std::string_view content);

/// The path that writing to `path` leads to, where it is a symbolic link, whether that exists or not.
/// @throws  WriteError  if the links lead in a circle
[[nodiscard]] std::string without_links(const std::string& path);

/// The most bytes that a file may have, and that a packed one may unpack to: 80 times as many as the largest results.
inline constexpr std::size_t kMaxContent = std::size_t{512} << 20;

/// Reads a file, or what comes through a pipe.
/// @throws  std::system_error  naming the path and the cause
/// @throws  UsageError         naming the path, for a device, and for more than kMaxContent
[[nodiscard]] std::string read_whole_file(const std::string& path);

/// Appends lines, each on the disk before `append` returns.
class LineAppender {
 public:
  /// Empties the file at `path`, or makes it.
  /// @throws  WriteError
  explicit LineAppender(const std::string& path);
  /// Empties the file, which is open to append.
  /// @param path  its name
  /// @throws      WriteError
  LineAppender(std::string path, process::UniqueDescriptor file);
  LineAppender(const LineAppender&) = delete;
  LineAppender& operator=(const LineAppender&) = delete;

  /// Appends `line` and a newline.
  /// @param line  without newlines
  /// @throws      WriteError  a part that was written is taken back
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

/// Packs like pack(), but content that comes in parts: only the packed bytes are kept.
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

/// Packed content that unpacks to more than is read.
class UnpacksToTooMuch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the content of all members, one after the other, as gzip reads them. Checks every member's length and CRC.
/// @param most  bytes that they may hold
/// @throws      std::runtime_error  saying what is wrong: no gzip data, cut off, corrupt
/// @throws      UnpacksToTooMuch    for more than `most`
[[nodiscard]] std::string unpack(std::string_view packed, std::size_t most = kMaxContent);

}  // namespace tbench::results
