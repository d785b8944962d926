// What a comparison needs of results files: a few numbers a case and replicate, from our files and from plain Google
// Benchmark JSON. Samples are not kept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/environment.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/status.hpp"
#include "tbench/core/units.hpp"
#include "tbench/report/result_json.hpp"

namespace tbench::report {

/// Results that must not be compared with each other. The message says why, and what would be right.
class NotComparable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One measurement of a case, if all is well in a process of its own.
struct Replicate {
  Status status{Status::kOk};
  std::string reason;                         // empty if the status is ok
  std::optional<Seconds> time;                // median of the samples, above 0
  std::optional<double> relative_half_width;  // of the median's 95 % interval inside the process
  std::optional<Hertz> sm_clock;              // median while sampling
  std::optional<std::int64_t> peak_bytes;     // allocated; exact
  std::optional<Flop> work;
  std::optional<double> ceiling_share;  // of the datasheet's peak at the measured clock: MFU
  std::optional<Regime> regime;         // absent without a time, and in plain Google Benchmark JSON
  std::optional<L2State> l2;
};

struct Observation {
  CaseId id;
  Replicate replicate;
};

/// What one file holds.
struct ComparedRun {
  std::string path;
  std::optional<Environment> environment;  // absent: plain Google Benchmark JSON
  std::vector<Observation> observations;   // in the file's order
  std::vector<std::string> warnings;
};

/// A case of one side with all its replicates.
struct ComparedCase {
  CaseId id;
  std::string key;  // the same for the same parameters in whatever order
  std::vector<Replicate> replicates;
};

/// One side of a comparison.
struct ComparisonSide {
  std::vector<std::string> paths;
  std::vector<Environment> environments;  // of the files that tell
  std::vector<ComparedCase> cases;        // in the order in which they first appear
  std::vector<std::string> warnings;
};

/// What cases are matched by: family and parameters, the order of which does not matter.
[[nodiscard]] std::string match_key(const CaseId& id);

/// @throws  std::runtime_error  for a median that is not above 0
[[nodiscard]] Observation observation_of(const Record& record);

/// Results that are read already.
/// @param path  how warnings call them
/// @throws      as observation_of
[[nodiscard]] ComparedRun compared_run(const std::string& path, const ResultFile& file);

/// Reads a results file (with the journal of a killed run beside it) or plain Google Benchmark JSON. A name of the
/// latter loses what the library appends to it (`/iterations:N`, `/repeats:N`, `/manual_time`, ...); an entry with an
/// error counts as `crashed`, a skipped one as `unsupported`.
/// @throws  UsageError     naming the file, the problem and the remedy, as read_result_file
/// @throws  NotComparable  for a file of another schema version
[[nodiscard]] ComparedRun read_compared_run(const std::string& path);

/// Several files at once, as many as there are processors, in the order given.
/// @throws  as read_compared_run, for the first file that fails
[[nodiscard]] std::vector<ComparedRun> read_compared_runs(std::span<const std::string> paths);

[[nodiscard]] ComparisonSide side_of(std::vector<ComparedRun> runs);

}  // namespace tbench::report
