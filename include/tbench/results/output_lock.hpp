// The right to write a results file and the journal beside it: one process at a time has it.
#pragma once

#include <string>

#include "tbench/process/descriptor.hpp"

namespace tbench::results {

/// `FILE.journal`, of the file that `path` leads to where it is a symbolic link.
[[nodiscard]] std::string journal_path(const std::string& path);

/// A lock (flock) on the journal `FILE.journal`, which is made for it where there is none: an empty journal holds no
/// run. The kernel takes the lock back when the process ends, however that ends.
class OutputLock {
 public:
  /// Says so on stderr and continues if the file system has no locks.
  /// @param path  of the results file
  /// @throws      UsageError  if another process has it, which is named; if the journal cannot be opened or made
  explicit OutputLock(std::string path);
  OutputLock(OutputLock&& other) noexcept = default;
  OutputLock& operator=(OutputLock&& other) = delete;
  /// Removes the journal if it is empty.
  ~OutputLock();

  /// The path of the results file.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// The journal, open to append. It shares the lock.
  /// @throws  WriteError
  [[nodiscard]] process::UniqueDescriptor journal() const;

 private:
  std::string path_;
  process::UniqueDescriptor journal_;
  bool is_locked_{};
};

/// @param flag  of the output, which the message tells to choose otherwise: `-o`
/// @throws      UsageError  if a process has the lock of `path`
void refuse_locked(const std::string& path, const std::string& flag);

}  // namespace tbench::results
