// The child process: measures what its parent asks for and answers with records.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "family.hpp"
#include "options.hpp"
#include "tbench/core/record.hpp"

namespace tbench::bench {

/// Serves requests until the parent closes the pipe, or a case has poisoned the CUDA context.
/// @return  exit status
int run_worker(std::vector<Family> families, const Options& options);

}  // namespace tbench::bench
