// Rules over several options: what they imply, and which of them exclude each other.
#pragma once

#include "bench/cli/options.hpp"

namespace tbench::bench {

/// Completes the options: it turns traces on for a study or a profile that needs them, and puts the results file next
/// to an HTML page.
/// @throws  UsageError  naming the options, the problem and the remedy, for options that exclude each other, an output
///                      that would replace an input, and an unknown study
void apply_rules(Options& options);

}  // namespace tbench::bench
