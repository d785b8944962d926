// Everything behind `main` of transformer_bench: reads the command line, then runs as a whole run, as one of its ranks,
// or as a child process of a run or a rank.
#pragma once

#include <functional>
#include <vector>

#include "bench/families/family.hpp"

namespace tbench::bench {

/// Everything behind `main`: parses, lists, works or serves as a child; turns errors into a line on stderr and an exit
/// status.
/// @param make_families  given the user's model sizes
int run_program(int argc, const char* const* argv,
                const std::function<std::vector<Family>(const std::vector<ModelSize>&)>& make_families);

}  // namespace tbench::bench
