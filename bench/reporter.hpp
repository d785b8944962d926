// What a run shows and keeps: the progress line, and our reporter for Google Benchmark, which writes records to the
// results file as they arrive and shows them.
#pragma once

#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/record.hpp"
#include "tbench/render/summary.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::bench {

class RunProgress {
 public:
  /// Shows on stderr if that is a terminal, else nothing.
  explicit RunProgress(std::size_t case_count);

  void begin_case(std::size_t index, const std::string& name);
  /// Shows what the running case is doing; a repeated activity at most five times a second.
  void update(std::string_view activity);
  void clear() { line_.clear(); }
  [[nodiscard]] Seconds elapsed() const;

 private:
  render::ProgressLine line_;
  render::Progress shown_;
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point last_shown_;
};

/// Where a finished case's records wait for the reporter, by case name.
using FinishedRecords = std::map<std::string, std::vector<Record>>;

class RunReporter final : public benchmark::BenchmarkReporter {
 public:
  /// @param console  null: nothing on the console (--benchmark_format=json)
  /// @param writer   null: no result file
  RunReporter(FinishedRecords& finished, RunProgress& progress, render::ConsoleTable* console,
              results::ResultWriter* writer)
      : finished_{finished}, progress_{progress}, console_{console}, writer_{writer} {}

  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override;

  /// Records of this run in the order they arrived.
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }

 private:
  FinishedRecords& finished_;
  RunProgress& progress_;
  render::ConsoleTable* console_;
  results::ResultWriter* writer_;
  std::vector<Record> records_;
};

}  // namespace tbench::bench
