// The whole of transformer_bench after main(): reads the command line, then runs as a single process, as one of several
// ranks, or as a child process of a run or a rank.
#pragma once

#include <functional>
#include <vector>

#include "bench/families/family.hpp"

namespace tbench::bench {

/// Runs the program: parses the command line, then lists, measures or serves as a child. Turns errors into a line on
/// stderr and an exit status.
/// @param make_families  makes the families, given the user's model sizes
int run_program(int argc, const char* const* argv,
                const std::function<std::vector<Family>(const std::vector<ModelSize>&)>& make_families);

}  // namespace tbench::bench
