// Makes packages of functions in Python (tools/export_kernel.py), each once: they stay in the cache.
#pragma once

#include <span>
#include <vector>

#include "bench/cli/options.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/model/plugins.hpp"

namespace tbench::bench {

/// Gives each function in Python the packages that the cases need, from the cache or exported now, several at a time.
/// Says on stderr what it exports. A function that cannot be exported is said there in one line, and gets that as its
/// fault: its own cases alone are lost.
void export_functions(std::vector<model::Plugin>& plugins, std::span<const CaseId> cases, const Options& options);

}  // namespace tbench::bench
