// The new content of a file that is about to be replaced. It is in the file's folder, but has no name until it takes
// the file's place. If the program ends before that, nothing is left behind.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tbench/process/descriptor.hpp"
#include "tbench/process/scratch_folder.hpp"

namespace tbench::results {

class ReplacementFile {
 public:
  enum class Kind { kUnnamed, kNamed };

  /// @param target  path of the file to replace; need not exist, must not be a symbolic link
  /// @param kind    kNamed for a file with a name, as on a file system without unnamed files; the file is removed if
  ///                the process ends
  /// @throws        WriteError  naming the target; so do the functions below
  explicit ReplacementFile(std::string target, Kind kind = Kind::kUnnamed);
  ~ReplacementFile();
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;

  /// Writes all of the content, and waits until it is on the disk.
  void write(std::string_view content);
  /// Takes the target's place, with the target's permissions if it exists.
  void replace();

 private:
  bool open_unnamed();
  void open_named();
  void clean_up(const std::string& name);

  std::string target_;
  std::string name_;                         // empty while the file has no name
  std::optional<process::Cleaner> cleaner_;  // removes the file by its name
  process::UniqueDescriptor file_;
};

/// Writes all of the content.
/// @throws  WriteError
void write_all(int descriptor, std::string_view content, const std::string& path);

}  // namespace tbench::results
