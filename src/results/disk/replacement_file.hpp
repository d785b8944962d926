// The new content of a file that is about to be replaced: in the file's folder, without a name until it takes the place
// of the file, so that whatever ends the program leaves nothing behind.
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

  /// @param target  that it will replace; need not exist, and is no link
  /// @param kind    kNamed: as where the file system knows no files without a name; it has one that goes with the
  ///                process
  /// @throws        WriteError  naming the target, as the functions below do
  explicit ReplacementFile(std::string target, Kind kind = Kind::kUnnamed);
  ~ReplacementFile();
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;

  /// Writes all of the content, and waits until it is on the disk.
  void write(std::string_view content);
  /// Takes the target's place, with its permissions where there is one.
  void replace();

 private:
  bool open_unnamed();
  void open_named();
  void clean_up(const std::string& name);

  std::string target_;
  std::string name_;                         // empty while it has none
  std::optional<process::Cleaner> cleaner_;  // of the name
  process::UniqueDescriptor file_;
};

/// Writes all of the content.
/// @throws  WriteError
void write_all(int descriptor, std::string_view content, const std::string& path);

}  // namespace tbench::results
