// The cases of a run, one after the other through Google Benchmark: each is measured, compared with its ceiling,
// shown and kept.
#pragma once

#include <chrono>
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

/// The facts by which a run plans its time.
struct RunTime {
  std::chrono::steady_clock::time_point program_began;
  const RunDurations* durations{};   // of where the cases run; null: none are known
  std::vector<std::string> command;  // program and arguments, for who goes on with it
};

/// Runs the planned cases and shows them as they finish. Where --tb_stop_after leaves no time for the next one,
/// requests a stop, and says how many are left.
/// @param ceilings  null: nothing is compared with ceilings
/// @param writer    null: no results file
/// @return          their records
[[nodiscard]] std::vector<Record> run_cases(const RunPlan& plan, CaseRunner& runner, MeasuredCeilings* ceilings,
                                            const Options& options, results::ResultWriter* writer, const RunTime& time);

}  // namespace tbench::bench
