#include "bench/run/sampler_options.hpp"

#include <cstdint>
#include <optional>

#include "tbench/measure/burst.hpp"

namespace tbench::bench {
namespace {

// The smoke suite only checks that cases run; its times have no other use.
constexpr std::int64_t kSmokeWarmUp = 3;
constexpr std::int64_t kSmokeSamples = 5;

}  // namespace

measure::SamplerOptions sampler_options(const Options& options, Suite suite, Regime regime,
                                        const studies::StudyProtocol& protocol) {
  const bool is_burst = regime == Regime::kBurst;
  measure::SamplerOptions sampler = is_burst ? measure::burst_options() : measure::SamplerOptions{};
  if (suite == Suite::kSmoke) {
    constexpr double kShorter = 5.0;
    sampler.warm_up_time = sampler.warm_up_time / kShorter;
    sampler.warm_up_limit = is_burst ? Seconds{0.5} : Seconds{2.0};
    sampler.sample_time = sampler.sample_time / kShorter;
    sampler.sample_limit = is_burst ? Seconds{1.0} : Seconds{2.0};
    sampler.chunk_time = sampler.chunk_time / kShorter;
    if (!options.min_warm_up_time) sampler.fixed_warm_up = kSmokeWarmUp;
    if (!options.min_time) sampler.fixed_samples = kSmokeSamples;
  }
  if (options.min_time) sampler.sample_time = *options.min_time;
  if (options.min_warm_up_time) sampler.warm_up_time = *options.min_warm_up_time;
  sampler.verify_again = options.verify_again.value_or(!protocol.verify_once);
  const std::optional<std::int64_t> warm_up = options.fixed_warm_up ? options.fixed_warm_up : protocol.warm_up;
  const std::optional<std::int64_t> samples = options.fixed_samples ? options.fixed_samples : protocol.samples;
  if (warm_up) sampler.fixed_warm_up = warm_up;
  if (samples) sampler.fixed_samples = samples;
  sampler.l2 = options.l2.value_or(L2State::kCold);
  return sampler;
}

}  // namespace tbench::bench
