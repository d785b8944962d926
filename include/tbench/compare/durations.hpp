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

  /// Returns a row for each case, sorted by name, from the build whose file with that case started last, as builds may
  /// differ in time. If that build has several records of a case, the row's status is `ok` if any record is, otherwise
  /// the last of the statuses in the order of Status, so that a case is `oom` only if it always was. The row's time is
  /// the median over the records that agree with this status in having a time or not. A case that failed and was never
  /// `ok` has no row.
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
