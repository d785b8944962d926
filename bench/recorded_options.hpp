// What a results file says of the command line that made it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "options.hpp"
#include "tbench/core/case_table.hpp"
#include "tbench/core/regime.hpp"

namespace tbench::bench {

/// Options by name, as text, defaults included: suite or study, filter, seed, repetitions, times. The user's axes as
/// `axis.FAMILY.KEY` and sizes as `size.NAME`, from which `tbench report --study` knows what the study was changed to.
/// @param regimes  of the selected cases: each has its own times
[[nodiscard]] std::map<std::string, std::string> recorded_options(const Options& options, Suite suite,
                                                                  const std::set<Regime>& regimes, bool on_gpu);

}  // namespace tbench::bench
