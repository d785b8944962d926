// Our reporter for Google Benchmark: writes records to the result file as they arrive, and shows them.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <string>
#include <vector>

#include "run_progress.hpp"
#include "tbench/core/record.hpp"
#include "tbench/report/console_table.hpp"
#include "tbench/report/result_writer.hpp"

namespace tbench::bench {

/// Where a finished case's records wait for the reporter, by case name.
using FinishedRecords = std::map<std::string, std::vector<Record>>;

class RunReporter final : public benchmark::BenchmarkReporter {
 public:
  /// @param console  null: nothing on the console (--benchmark_format=json)
  /// @param writer   null: no result file
  RunReporter(FinishedRecords& finished, RunProgress& progress, report::ConsoleTable* console,
              report::ResultWriter* writer)
      : finished_{finished}, progress_{progress}, console_{console}, writer_{writer} {}

  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;

  /// Records of this run in the order they arrived.
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }

 private:
  FinishedRecords& finished_;
  RunProgress& progress_;
  report::ConsoleTable* console_;
  report::ResultWriter* writer_;
  std::vector<Record> records_;
};

}  // namespace tbench::bench
