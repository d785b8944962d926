// Runs the cases of a run one after the other through Google Benchmark: each is measured, compared with its ceiling,
// printed and stored.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/cli/options.hpp"
#include "bench/plan/ceilings.hpp"
#include "bench/plan/durations.hpp"
#include "bench/plan/run_plan.hpp"
#include "bench/run/case_runner.hpp"
#include "tbench/core/record.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::bench {

/// The data by which a run plans its time.
struct RunTime {
  std::chrono::steady_clock::time_point program_began;
  const RunDurations* durations{};   // durations for the device of the cases; null if unknown
  std::vector<std::string> command;  // program and arguments, for the hint on how to resume
};

/// The file that takes the records of a run, and the name of the machine in it.
struct RecordOutput {
  results::ResultWriter* writer{};  // null: no results file
  std::int64_t machine{};           // this machine's place among the machines of the file
};

/// Runs the planned cases and prints each as it finishes. If --tb_stop_after leaves no time for the next case, requests
/// a stop and prints how many cases are left.
/// @param ceilings  null: records are not compared with ceilings
/// @return          records of the cases
[[nodiscard]] std::vector<Record> run_cases(const RunPlan& plan, CaseRunner& runner, MeasuredCeilings* ceilings,
                                            const Options& options, const RecordOutput& output, const RunTime& time);

}  // namespace tbench::bench
