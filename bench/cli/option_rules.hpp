// Rules over several options: what they imply, and which of them exclude each other.
#pragma once

#include "bench/cli/options.hpp"

namespace tbench::bench {

/// Completes the options: a study or a profile that needs traces asks for them, and a page has its results beside it.
/// @throws  UsageError  naming the options, the problem and the remedy, for options that exclude each other, an output
///                      that would replace an input, and an unknown study
void apply_rules(Options& options);

}  // namespace tbench::bench
