// Writes a results file during a run, so that no finished record is lost. Each record is appended at once to a journal,
// which is synced to the disk (`FILE.journal`: a header, then one record per line). The file itself is rewritten every
// few seconds.
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

/// Returns whether the journal of the results at `path` holds a run, or the torn beginning of one. An empty journal
/// holds no run: a run that was killed before its first record left it.
[[nodiscard]] bool has_journal(const std::string& path);

/// Returns the results of a run that was interrupted: the records of the file at `path` and of its journal. If both
/// have a record of a case and repetition, the journal's record is used. A torn last line of the journal is ignored.
/// @return  the results, or nullopt if there is neither a file nor a journal with a header
/// @throws  UsageError  under the conditions of read_result_file(), for any other torn line of the journal, or if the
///                      journal belongs to another run than the file
[[nodiscard]] std::optional<ResultFile> load_for_resume(const std::string& path);

/// Checks that results from the environment `now` may join the results in `earlier`.
/// @param path  path of the results file, for the message
/// @throws      UsageError  with the reason (tbench::incompatibility()) and the remedy, if they may not
void check_resumable(const std::string& path, const ResultFile& earlier, const Environment& now);

/// Replaces the record of the same case and repetition, or appends the record if there is none.
void merge(std::vector<Record>& records, Record record);

class ResultWriter {
 public:
  static constexpr std::chrono::seconds kRewriteInterval{5};

  /// Starts a run. Does not change the files on the disk before the first add() or finish().
  /// @param lock      lock of the file, taken before load_for_resume() reads the file
  /// @param start     header of the file, and the records to keep: all records of load_for_resume(). Without records,
  ///                  the run replaces an existing file and its journal. Ignores
  ///                  `interrupted` and `other_processes_at_end`, which describe the end of the earlier run.
  /// @param interval  shortest time between two rewrites of the file
  ResultWriter(OutputLock lock, ResultFile start, std::chrono::nanoseconds interval = kRewriteInterval);
  /// Starts a run like the other constructor, but takes the lock itself.
  /// @throws  UsageError  under the conditions of OutputLock
  ResultWriter(std::string path, ResultFile start, std::chrono::nanoseconds interval = kRewriteInterval);
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;
  /// If finish() did not succeed, rewrites the file if it lacks a record, and leaves the journal. Prints an error on
  /// stderr, unless the last add() failed to write to the journal.
  ~ResultWriter();

  /// Adds a record, which is on the disk when this returns. Replaces a record of the same case and repetition.
  /// @throws  std::invalid_argument  under the conditions of result_file_to_json(); the record is not added
  /// @throws  WriteError             if the journal cannot be written: the record is not added; or if the file cannot
  ///                                 be rewritten: the record is in the journal, unless it is the first one
  void add(Record record);
  /// Marks the run as stopped by the user, from the next rewrite of the file on.
  void set_interrupted() { file_.interrupted = true; }
  /// Notes in the file how many other compute processes used the GPU when the run ended; nullopt if that is unknown.
  void set_other_processes_at_end(std::optional<std::int64_t> count) { file_.other_processes_at_end = count; }
  /// Rewrites the file and removes the journal.
  /// @throws  WriteError  if the file cannot be written; the journal then stays
  void finish();

  [[nodiscard]] const ResultFile& contents() const { return file_; }

  /// Checks, before any case runs, that a results file can be written at `path`. Does not change an existing file.
  /// @throws  UsageError  naming the path, the problem and the remedy: the folder does not exist, `path` is a folder or
  ///                      a device, permission is lacking, or the disk is full or read-only
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
  bool is_stale_{};    // whether a record is in the journal but not in the file
  bool has_failed_{};  // whether the last add() failed to write to the journal, and has reported it
};

}  // namespace tbench::results
