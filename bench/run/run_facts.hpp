// The facts about its run in a results file: the machine and the command line.
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

/// @param on_gpu         whether the cases run on the current CUDA device
/// @param clock_policy   what the user says about the clocks; recorded as it is
[[nodiscard]] Environment collect_environment(bool on_gpu, const std::string& clock_policy);

/// Returns the environment without the GPU's UUID, the only field that identifies this machine.
[[nodiscard]] Environment without_identity(Environment environment);

/// Reads what Google Benchmark tells about this machine, as it is now.
/// @param executable  as it was called
[[nodiscard]] results::HostFacts read_host_facts(std::string executable);

/// Options by name, as text, defaults included: suite or study, filter, seed, repetitions, times. The user's axes as
/// `axis.FAMILY.KEY` and sizes as `size.NAME`, from which `tbench report --study` knows what the study was changed to.
/// A shard also has its index and how many cases are shared out, from which `tbench merge` knows what is missing.
/// @param regimes  of the selected cases: each has its own times
[[nodiscard]] std::map<std::string, std::string> recorded_options(const Options& options, const Selection& selection,
                                                                  const std::set<Regime>& regimes, bool on_gpu);

}  // namespace tbench::bench
