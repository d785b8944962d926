// Runs cases in child processes, which may crash or hang alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/cli/options.hpp"
#include "bench/run/case_runner.hpp"

namespace tbench::bench {

/// Makes a runner whose children run this program's own executable with the same arguments. run() throws
/// std::runtime_error if a child differs from the first child (another build, GPU or version of a library).
[[nodiscard]] std::unique_ptr<CaseRunner> make_supervised_runner(const Options& options,
                                                                 std::vector<std::string> arguments);

}  // namespace tbench::bench
