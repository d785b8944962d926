// Writes a results file while the run goes on, so that nothing finished is ever lost: every record goes to a synced
// journal (`FILE.journal`: a header, then a record a line) at once, and into the file itself every few seconds.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "tbench/results/durable_file.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::results {

/// What is known of the run whose results are at `path`: the file and the journal beside it, merged by case name and
/// repetition, the journal's record before the file's. The last line of a journal may be torn and is then left out.
/// @return  nothing if neither exists
/// @throws  UsageError  as read_result_file; for another torn line; or if the journal belongs to another run than the
///                      file
[[nodiscard]] std::optional<ResultFile> load_for_resume(const std::string& path);

/// Whether results of `now` may join those of `earlier`.
/// @throws  UsageError  with the reason (tbench::incompatibility) and the remedy
void check_resumable(const std::string& path, const ResultFile& earlier, const Environment& now);

class ResultWriter {
 public:
  static constexpr std::chrono::seconds kRewriteInterval{5};

  /// Nothing on the disk changes before the first `add` or `finish`.
  /// @param start     header of the file, and the records to keep: those of load_for_resume; with none, the run starts
  ///                  afresh, and a file and a journal at `path` are replaced. `interrupted` is ignored.
  /// @param interval  shortest time between two rewrites of the file
  ResultWriter(std::string path, ResultFile start, std::chrono::nanoseconds interval = kRewriteInterval);
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;
  /// Without `finish`: rewrites the file if a record is missing in it and leaves the journal. Reports an error on
  /// stderr.
  ~ResultWriter();

  /// When it returns, the record is on the disk. One of the same case and repetition is replaced.
  /// @throws  std::invalid_argument  as result_file_to_json; std::system_error naming the file. The record is then left
  /// out
  void add(Record record);
  /// Notes in the file that the user stopped the run.
  void set_interrupted() { file_.interrupted = true; }
  /// Rewrites the file and removes the journal.
  /// @throws  std::system_error  naming the file; the journal then stays
  void finish();

  [[nodiscard]] const ResultFile& contents() const { return file_; }

  /// Checks before any work that a results file can be written at `path`, without changing what is there.
  /// @throws  UsageError  naming the path, the problem and the remedy: no such folder, a folder or a device instead of
  ///                      a file, no permission, a full or read-only disk
  static void check_writable(const std::string& path);

 private:
  void begin();
  void rewrite();

  std::string path_;
  ResultFile file_;
  std::chrono::nanoseconds interval_;
  bool starts_afresh_;
  std::unique_ptr<LineAppender> journal_;
  std::chrono::steady_clock::time_point last_rewrite_;
  bool is_stale_{};  // a record is in the journal alone
};

}  // namespace tbench::results
