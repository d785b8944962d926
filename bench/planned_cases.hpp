// The cases of a run, one after the other through Google Benchmark: each is measured, held against its ceiling, shown
// and kept.
#pragma once

#include <vector>

#include "bench/ceilings.hpp"
#include "bench/options.hpp"
#include "bench/runners.hpp"
#include "bench/selection.hpp"
#include "tbench/core/record.hpp"
#include "tbench/results/result_writer.hpp"

namespace tbench::bench {

/// Runs the planned cases and shows them as they finish.
/// @param writer  null: no results file
/// @return        their records
[[nodiscard]] std::vector<Record> run_cases(const std::vector<PlannedCase>& plan, CaseRunner& runner,
                                            MeasuredCeilings& ceilings, const Options& options,
                                            results::ResultWriter* writer);

}  // namespace tbench::bench
