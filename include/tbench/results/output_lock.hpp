// A lock on a results file and its journal: only one process at a time may write them.
#pragma once

#include <string>

#include "tbench/process/descriptor.hpp"

namespace tbench::results {

/// Returns `FILE.journal`, where FILE is `path` with symbolic links resolved.
[[nodiscard]] std::string journal_path(const std::string& path);

/// A lock (flock) on the journal `FILE.journal`, which is created if absent; an empty journal holds no run. The kernel
/// releases the lock whenever the process ends.
class OutputLock {
 public:
  /// Takes the lock. If the file system has no locks, prints a warning on stderr and continues.
  /// @param path  path of the results file
  /// @throws      UsageError  if another process, which the message names, has the lock, or if the journal cannot
  ///                          be opened or created
  explicit OutputLock(std::string path);
  OutputLock(OutputLock&& other) noexcept = default;
  OutputLock& operator=(OutputLock&& other) = delete;
  /// Removes the journal if it is empty.
  ~OutputLock();

  /// Returns the path of the results file.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Returns the journal, open for appending. The descriptor shares the lock.
  /// @throws  WriteError
  [[nodiscard]] process::UniqueDescriptor journal() const;

 private:
  std::string path_;
  process::UniqueDescriptor journal_;
  bool is_locked_{};
};

/// Refuses an output file that another process is writing.
/// @param flag  the output's flag, for the message's advice to choose another file: `-o`
/// @throws      UsageError  if a process holds the lock of `path`
void refuse_locked(const std::string& path, const std::string& flag);

}  // namespace tbench::results
