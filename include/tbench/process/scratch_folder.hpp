// Files and folders that are gone when their process is, however that ends.
#pragma once

#include <sys/types.h>

#include <string>

#include "tbench/process/descriptor.hpp"

namespace tbench::process {

/// Removes a file, or a folder with all that is in it, at its own end or at the end of the process, whichever comes
/// first: a process of its own waits for either.
class Cleaner {
 public:
  /// @param path  need not be there, now or at the end
  /// @throws      std::system_error  if no process can be made
  explicit Cleaner(const std::string& path);
  Cleaner(const Cleaner&) = delete;
  Cleaner& operator=(const Cleaner&) = delete;
  /// When it returns, the path is gone.
  ~Cleaner();

  /// Leaves the path as it is: it belongs to somebody else.
  void release();

 private:
  UniqueDescriptor alive_;  // closed with this object, or with the process
  pid_t keeper_{};
};

/// A folder in the system's folder of temporary files, under a name that nobody can foresee.
class ScratchFolder {
 public:
  /// @param name  begins the folder's
  /// @throws      std::system_error  if folder or process cannot be made
  explicit ScratchFolder(const std::string& name);

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  Cleaner cleaner_;
};

}  // namespace tbench::process
