// Exports Python functions to packages (tools/export_kernel.py). The cache keeps each package, so that it is made once.
#pragma once

#include <span>
#include <vector>

#include "bench/cli/options.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/model/plugins.hpp"

namespace tbench::bench {

/// Gives each Python function the packages that the cases need, from the cache or exported now, several at a time.
/// Prints each export with its time on stderr, and on a terminal its current step. If a function cannot be exported,
/// prints the reason in one line and stores it as the function's fault, so that only its own cases fail.
/// @throws  std::runtime_error  if a signal asked the program to stop; the exports in progress leave nothing
void export_functions(std::vector<model::Plugin>& plugins, std::span<const CaseId> cases, const Options& options);

}  // namespace tbench::bench
