// One run of a history: the measurements of one build's processes on one machine at one time, for instance in one
// night. history.hpp stores it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tbench/compare/sides.hpp"
#include "tbench/core/environment.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::history {

struct RunFile {
  std::string path;     // as it was given
  std::string digest;   // SHA-256 of its bytes, and of its journal's where there is one; hexadecimal
  std::string started;  // UTC, as format_timestamp writes it
};

struct MeasuredRun {
  std::string digest;          // digest of the files' digests: equal for the same files in any order
  std::string started;         // the first process, UTC
  std::string fingerprint;     // fingerprint_of
  std::string epoch;           // epoch_of
  Environment environment;     // of the first process
  std::vector<RunFile> files;  // by start
  std::vector<results::MeasuredCase> cases;
  std::vector<std::string> warnings;
  std::string planted;    // as compare::ComparisonSide
  results::RunFlags run;  // likewise
  // The same fields as in compare::ComparisonSide.
  bool was_interrupted{};
  std::map<std::string, std::size_t> planned{};
  std::string way{};
  std::string suite{};                                   // suite of the first file; empty if not recorded
  std::optional<std::int64_t> other_processes{};         // maximum number on the GPU at the start of a file
  std::optional<std::int64_t> other_processes_at_end{};  // maximum number on the GPU at the end of a file
};

/// Refuses a run with an injected slowdown, which does not belong in a history.
/// @throws  UsageError  for such a run
void refuse_planted(const MeasuredRun& run);

/// Identifies the machine and its settings: values of different fingerprints are never compared. The fingerprint has
/// the GPU's name and UUID (GPUs of the same model differ by percents, their hosts by more), SMs, memory in whole GiB
/// (drivers reserve different amounts), ECC, MIG and power limit. It also has the processor, the clock policy and the
/// build type.
[[nodiscard]] std::string fingerprint_of(const Environment& environment);

/// Returns the machine model that a run was measured on: runs on the same model are expected to have the same cases.
[[nodiscard]] std::string model_of(const Environment& environment);

/// Returns the part of the fingerprint that all machines of a pool share: everything except the GPU's UUID and the
/// processor.
[[nodiscard]] std::string pool_of(Environment environment);

/// Returns the versions that a measurement depends on and the project does not control, of driver, CUDA, cuBLAS, cuDNN
/// and LibTorch: `driver 580.1, cuda_runtime 13.0`.
[[nodiscard]] std::string epoch_of(const Environment& environment);

/// Returns the epoch of a machine that changed permanently while its software did not: `EPOCH, machine since STARTED`.
/// @param epoch    result of epoch_of
/// @param started  the first run of the machine as it is now
[[nodiscard]] std::string machine_epoch(const std::string& epoch, const std::string& started);

/// Whether `epoch` is the epoch `measured` or a machine epoch that belongs to it.
[[nodiscard]] bool is_of_epoch(const std::string& epoch, const std::string& measured);

/// Reads the results files of one run.
/// @throws  UsageError     as read_side; for plain Google Benchmark JSON, a pipe, a file without a readable date, a
///                         file given twice, in whole or in part
/// @throws  NotComparable  for files of another schema, or that do not belong to one run: another fingerprint, epoch or
///                         build
[[nodiscard]] MeasuredRun read_measured_run(std::span<const std::string> paths);

/// Returns the keys (match_key) of the run's cases whose name contains a match; none for an empty pattern.
/// @param pattern  as CaseFilter takes it
/// @param flag     where the pattern comes from, for error messages
/// @throws         UsageError  naming the flag, for one that is not a regular expression or that no case matches
[[nodiscard]] std::set<std::string> matching_keys(const MeasuredRun& run, const std::string& pattern,
                                                  const std::string& flag);

struct RunsOfFolder {
  std::vector<MeasuredRun> runs;       // in the order in which they began
  std::vector<std::string> ignored;    // .json files that are not results
  std::vector<std::string> refused{};  // one sentence per results file that cannot be read
};

/// Returns the results files of a result_folder(), sorted into runs. The files of a run have the same folder,
/// fingerprint, epoch and build, and each of its processes began at most six hours after the one before. A results file
/// that cannot be read, or repeats an earlier one, in whole or in part, is left out.
/// @throws  UsageError  naming the folder, for one without results
[[nodiscard]] RunsOfFolder read_runs_of_folder(const std::string& folder);

}  // namespace tbench::history
