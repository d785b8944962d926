// How long the cases of results files took, as the table that runs plan by (results/durations.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tbench/core/enums.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/units.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::compare {

/// Returns the time that the record's case cost the run: its harness and its sampling. Where a file does not tell the
/// time of sampling (before host_times), the steps that it counts stand for it: warm-up and samples.
[[nodiscard]] Seconds cost_of(const Record& record);

class DurationCollector {
 public:
  /// @param file  of any build
  /// @throws      UsageError  naming the file, the problem and the remedy: its cases ran on the CPU, on another GPU
  ///                          model than those of the files before, with shortened sampling (the smoke suite) or with
  ///                          less memory than the GPU has (--tb_memory_limit)
  void add(const results::NamedResults& file);

  /// A row for each case, sorted by name, from the build whose file of that case was begun last: another build may take
  /// another time. Several records of a case by that build give `ok` if any is, else the last of their statuses in the
  /// order of Status, so that a case is `oom` only if it always was; the median time of the records that, like this
  /// status, have a time or have none. A case that failed without ever being `ok` has no row.
  /// @param only  names of the cases to keep; empty: all
  /// @throws      UsageError  if no row is left
  [[nodiscard]] std::string csv(const std::set<std::string>& only) const;

 private:
  struct Run {
    Seconds time;
    Status status{};
    std::string build;  // digest of its sources
    std::string date;   // of the file's begin, ISO 8601
  };
  [[nodiscard]] static std::vector<Run> runs_of_latest_build(std::vector<Run> runs);

  std::string first_file_;
  std::string gpu_;
  std::int64_t memory_bytes_{};
  std::set<std::string> builds_;
  std::size_t files_{};
  std::map<std::string, std::vector<Run>> runs_;  // by case name
};

}  // namespace tbench::compare
