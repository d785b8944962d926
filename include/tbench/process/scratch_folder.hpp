// Files and folders that are removed at the end of their process, however it ends.
#pragma once

#include <sys/types.h>

#include <string>

#include "tbench/process/descriptor.hpp"

namespace tbench::process {

/// Removes a file, or a folder with its content, when this object is destroyed or when the process ends. A process of
/// its own waits for the first of the two.
class Cleaner {
 public:
  /// Starts the process that waits.
  /// @param path  need not exist, now or at the end
  /// @throws      std::system_error  if no process can be created
  explicit Cleaner(const std::string& path);
  Cleaner(const Cleaner&) = delete;
  Cleaner& operator=(const Cleaner&) = delete;
  /// Removes the path before it returns.
  ~Cleaner();

  /// Leaves the path as it is, because somebody else owns it now.
  void release();

 private:
  UniqueDescriptor alive_;  // closed with this object, or with the process
  pid_t keeper_{};
};

/// A folder in the system's folder of temporary files, with an unpredictable name.
class ScratchFolder {
 public:
  /// Creates the folder.
  /// @param name  beginning of the folder's name
  /// @throws      std::system_error  if the folder or the process that removes it cannot be created
  explicit ScratchFolder(const std::string& name);

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  Cleaner cleaner_;
};

}  // namespace tbench::process
