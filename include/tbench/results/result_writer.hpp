// Writes a results file while the run goes on, so that nothing finished is ever lost: every record goes to a synced
// journal (`FILE.journal`: a header, then one record per line) at once, and into the file itself every few seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tbench/results/durable_file.hpp"
#include "tbench/results/output_lock.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::results {

/// Whether a journal is beside the results at `path` that holds a run, or the torn start of one. An empty one holds
/// none: a run that was killed before its first record left it.
[[nodiscard]] bool has_journal(const std::string& path);

/// Returns what is known about the run whose results are at `path`: the file and the journal beside it, merged by case
/// name and repetition, where both have a record, the one in the journal. The last line of a journal may be torn and is
/// then left out.
/// @return  nothing if neither exists
/// @throws  UsageError  as read_result_file; for another torn line; or if the journal belongs to another run than the
///                      file
[[nodiscard]] std::optional<ResultFile> load_for_resume(const std::string& path);

/// Whether results of `now` may join the results of `earlier`.
/// @throws  UsageError  with the reason (tbench::incompatibility) and the remedy
void check_resumable(const std::string& path, const ResultFile& earlier, const Environment& now);

class ResultWriter {
 public:
  static constexpr std::chrono::seconds kRewriteInterval{5};

  /// Starts a run. The files on the disk stay before the first `add` or `finish`.
  /// @param lock      lock of the file; begins before its present content is read (load_for_resume)
  /// @param start     header of the file, and the records to keep: all of load_for_resume; with none, the run starts
  ///                  afresh, and a file and a journal at its path are replaced. What it says of
  ///                  the end of an earlier run is ignored (`interrupted`, `other_processes_at_end`).
  /// @param interval  shortest time between two rewrites of the file
  ResultWriter(OutputLock lock, ResultFile start, std::chrono::nanoseconds interval = kRewriteInterval);
  /// Starts a run like the other constructor, and takes the lock itself.
  /// @throws  as OutputLock
  ResultWriter(std::string path, ResultFile start, std::chrono::nanoseconds interval = kRewriteInterval);
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;
  /// Without `finish`: rewrites the file if a record is missing in it and leaves the journal. Reports an error on
  /// stderr, unless the last `add` threw one.
  ~ResultWriter();

  /// When it returns, the record is on the disk. One of the same case and repetition is replaced.
  /// @throws  std::invalid_argument  as result_file_to_json; WriteError. The record is then left out
  void add(Record record);
  /// Notes in the file that the user stopped the run.
  void set_interrupted() { file_.interrupted = true; }
  /// Notes in the file how many other compute processes used the GPU when the run ended; nullopt if that is unknown.
  void set_other_processes_at_end(std::optional<std::int64_t> count) { file_.other_processes_at_end = count; }
  /// Rewrites the file and removes the journal.
  /// @throws  WriteError  the journal then stays
  void finish();

  [[nodiscard]] const ResultFile& contents() const { return file_; }

  /// Checks before any work that a results file can be written at `path`, without changing what is there.
  /// @throws  UsageError  naming the path, the problem and the remedy: no such folder, a folder or a device instead of
  ///                      a file, no permission, a full or read-only disk
  static void check_writable(const std::string& path);

 private:
  void begin();
  void rewrite();

  OutputLock lock_;
  ResultFile file_;
  std::chrono::nanoseconds interval_;
  bool starts_afresh_;
  std::unique_ptr<LineAppender> journal_;
  std::chrono::steady_clock::time_point last_rewrite_;
  bool is_stale_{};    // a record is in the journal alone
  bool has_failed_{};  // the last add() threw what the disk did: the destructor need not say it again
};

}  // namespace tbench::results
