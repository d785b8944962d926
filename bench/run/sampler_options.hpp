// The limits of warm-up and sampling that the command line asks for.
#pragma once

#include "bench/cli/options.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/measure/sampler.hpp"

namespace tbench::bench {

/// The limits of warm-up and sampling that the options ask for.
/// @param suite  smoke shortens both: it checks the machinery, and its numbers are for nothing else
[[nodiscard]] measure::SamplerOptions sampler_options(const Options& options, Suite suite, Regime regime);

}  // namespace tbench::bench
