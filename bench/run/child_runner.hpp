// Runs cases in children of this program, which may crash or hang alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/cli/options.hpp"
#include "bench/run/case_runner.hpp"

namespace tbench::bench {

/// Runs cases in children of this program's own executable, started with the same arguments. A case for which a child
/// is started that is not as the first one (another build, GPU or version of a library) throws std::runtime_error.
[[nodiscard]] std::unique_ptr<CaseRunner> make_supervised_runner(const Options& options,
                                                                 std::vector<std::string> arguments);

}  // namespace tbench::bench
