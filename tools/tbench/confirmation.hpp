// Runs a kept build and tonight's in turns, on the cases that look regressed.
#pragma once

#include <string>

#include "tbench/report/gate.hpp"

namespace tbench::tool {

/// Runs `base` and `next` six times base, next, next, base, every run a fresh process. Each is a command of the shell,
/// to which `--benchmark_filter=...` and `--benchmark_out=FILE` are added; what it prints goes to stderr.
/// @param folder  where the results go, as `LABEL_1_base_1.json` and so on; made if it is not there
/// @throws        from the function: UsageError for a command that writes no results the first time it runs, and for
///                results that cannot be read
[[nodiscard]] report::Confirm confirmation(std::string base, std::string next, std::string folder, std::string label);

/// An extended regular expression that matches exactly the names given.
[[nodiscard]] std::string exact_filter(const std::vector<std::string>& names);

}  // namespace tbench::tool
