// --tb_explain as a command: an explanation of each selected case, and nothing is measured.
#pragma once

#include <vector>

#include "bench/cli/options.hpp"
#include "bench/families/family.hpp"

namespace tbench::bench {

/// Prints what each selected case runs on the device of --tb_explain: cases of the full suite, unless the options name
/// another suite or a study.
/// @throws  UsageError  if the filter matches no case, and for an unknown device
void explain_cases(const std::vector<Family>& families, Options options);

}  // namespace tbench::bench
