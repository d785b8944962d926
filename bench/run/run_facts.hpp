// The facts about a run in its results file: the machine and the command line.
#pragma once

#include <map>
#include <set>
#include <string>

#include "bench/cli/options.hpp"
#include "bench/plan/selection.hpp"
#include "tbench/core/case_table.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/environment.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::bench {

/// Collects the environment of the run.
/// @param on_gpu         whether the cases run on the current CUDA device
/// @param clock_policy   the user's description of the clock settings, recorded unchanged
[[nodiscard]] Environment collect_environment(bool on_gpu, const std::string& clock_policy);

/// Returns the environment without the GPU's UUID, the only field that identifies this machine.
[[nodiscard]] Environment without_identity(Environment environment);

/// Reads Google Benchmark's facts about this machine and its current state.
/// @param executable  program name as the user called it
[[nodiscard]] results::HostFacts read_host_facts(std::string executable);

/// Returns the options by name, as text, including defaults: suite or study, filter, seed, repetitions, times. The
/// user's axes are `axis.FAMILY.KEY` and sizes `size.NAME`; `tbench report --study` reads from them how the study was
/// changed. A shard also has its index and the number of shared cases, from which `tbench merge` finds missing cases.
/// @param regimes  regimes of the selected cases, each of which has its own times
[[nodiscard]] std::map<std::string, std::string> recorded_options(const Options& options, const Selection& selection,
                                                                  const std::set<Regime>& regimes, bool on_gpu);

}  // namespace tbench::bench
