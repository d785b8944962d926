// What a results file says of the command line that made it.
#pragma once

#include <map>
#include <string>

#include "options.hpp"
#include "tbench/core/case_table.hpp"

namespace tbench::bench {

/// Options by name, as text, defaults included: suite or study, filter, seed, repetitions, times. The user's axes as
/// `axis.FAMILY.KEY` and sizes as `size.NAME`, from which `tbench report --study` knows what the study was changed to.
[[nodiscard]] std::map<std::string, std::string> recorded_options(const Options& options, Suite suite);

}  // namespace tbench::bench
