// The limits of warm-up and sampling that the command line asks for.
#pragma once

#include "bench/cli/options.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/measure/sampler.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::bench {

/// Returns the limits of warm-up and sampling for a regime.
/// @param suite     the smoke suite shortens both, because it only checks that cases run
/// @param protocol  counts of the study, which hold unless the options give others
[[nodiscard]] measure::SamplerOptions sampler_options(const Options& options, Suite suite, Regime regime,
                                                      const studies::StudyProtocol& protocol);

}  // namespace tbench::bench
