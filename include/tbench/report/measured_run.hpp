// One run of a history: what the processes of one build measured on one machine in one go, a night for instance. Where
// it is kept is history.hpp's.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/environment.hpp"
#include "tbench/report/comparison_input.hpp"

namespace tbench::report {

struct RunFile {
  std::string path;     // as it was given
  std::string digest;   // SHA-256 of its bytes, and of its journal's where there is one; hexadecimal
  std::string started;  // UTC, as format_timestamp writes it
};

struct MeasuredRun {
  std::string digest;          // of the files' digests: the same files in any order are the same run
  std::string started;         // the first process, UTC
  std::string fingerprint;     // fingerprint_of
  std::string epoch;           // epoch_of
  Environment environment;     // of the first process
  std::vector<RunFile> files;  // by start
  std::vector<ComparedCase> cases;
  std::vector<std::string> warnings;
};

/// What the machine is and how it was set: values of another fingerprint are never put beside each other. GPU name,
/// SMs, memory in whole GiB (drivers differ in what they keep of it), ECC, MIG, power limit, clock policy; without a
/// GPU the processor; and the build type.
[[nodiscard]] std::string fingerprint_of(const Environment& environment);

/// What a measurement stands on and the project does not decide: driver, CUDA, cuBLAS, cuDNN, LibTorch, and the schema
/// of the files. E.g. `driver 580.1, cuda_runtime 13.0, schema 1`.
[[nodiscard]] std::string epoch_of(const Environment& environment);

/// Reads the files of one run.
/// @throws  UsageError     as read_compared_run; for plain Google Benchmark JSON, a file without a readable date, a
///                         file given twice
/// @throws  NotComparable  for files of another schema, or that do not belong to one run: another fingerprint, epoch or
///                         build
[[nodiscard]] MeasuredRun read_measured_run(std::span<const std::string> paths);

/// Keys (match_key) of the run's cases whose name matches anywhere; none for an empty pattern.
/// @param pattern  regular expression (ECMAScript)
/// @param flag     where the pattern comes from, for error messages
/// @throws         UsageError  naming the flag, for one that is no regular expression or that no case matches
[[nodiscard]] std::set<std::string> matching_keys(const MeasuredRun& run, const std::string& pattern,
                                                  const std::string& flag);

struct RunsOfFolder {
  std::vector<MeasuredRun> runs;     // in the order in which they began
  std::vector<std::string> ignored;  // .json files that hold something else than results
};

/// Every results file in `folder` and the folders below it, but those called `null` and `confirm`, sorted into runs:
/// of one folder, fingerprint, epoch and build, each process begun at most six hours after the one before. A .json file
/// that does not begin with `context`, as results do, is left out; a damaged results file is an error.
/// @throws  UsageError, NotComparable  naming the file, as read_measured_run; for a folder without results
[[nodiscard]] RunsOfFolder read_runs_of_folder(const std::string& folder);

}  // namespace tbench::report
