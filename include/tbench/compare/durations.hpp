// Collects the durations of cases from results files into the table that runs use for planning (results/durations.hpp).
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

/// Returns the time that the record's case cost the run: its harness and its sampling. Files older than host_times lack
/// the sampling time; it is then estimated from the number of warm-up steps and samples.
[[nodiscard]] Seconds cost_of(const Record& record);

class DurationCollector {
 public:
  /// Adds the durations of a results file.
  /// @param file  a file of any build
  /// @throws      UsageError  naming the file, the problem and the remedy, if the cases ran on the CPU, on another GPU
  ///                          model than in the earlier files, with shortened sampling (the smoke suite) or with a
  ///                          memory limit below the GPU's memory (--tb_memory_limit)
  void add(const results::NamedResults& file);

  /// Returns the table as CSV, with one row per case, sorted by name. If several builds ran a case, the row comes from
  /// the build whose run started last, because builds may differ in time. The status is `ok` if any of this build's
  /// records is `ok`; if none is, it is the last of their statuses in the order of Status. A case is thus `oom` only if
  /// it always was. The row's time is a median: over the records with a time if the status has a time, else over the
  /// records without one. A case that failed and was never `ok` has no row.
  /// @param only  names of the cases to keep; empty for all
  /// @throws      UsageError  if no row is left
  [[nodiscard]] std::string csv(const std::set<std::string>& only) const;

 private:
  struct Run {
    Seconds time;
    Status status{};
    std::string build;  // digest of its sources
    std::string date;   // start of the file's run, ISO 8601
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
