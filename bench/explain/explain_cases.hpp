// The command --tb_explain: explains each selected case and measures nothing.
#pragma once

#include <vector>

#include "bench/cli/options.hpp"
#include "bench/families/family.hpp"

namespace tbench::bench {

/// Prints which kernels each selected case runs on the device of --tb_explain. Selects from the full suite unless the
/// options name another suite or a study.
/// @throws  UsageError  if the filter matches no case, and for an unknown device
void explain_cases(const std::vector<Family>& families, Options options);

}  // namespace tbench::bench
