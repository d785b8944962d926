#include "recorded_options.hpp"

#include <fmt/format.h>

#include "local_runner.hpp"
#include "tbench/core/text.hpp"

namespace tbench::bench {

std::map<std::string, std::string> recorded_options(const Options& options, Suite suite,
                                                    const std::set<Regime>& regimes, bool on_gpu) {
  std::map<std::string, std::string> recorded{{"filter", options.filter},
                                              {"seed", fmt::format("{}", options.seed)},
                                              {"repetitions", fmt::format("{}", options.repetitions)}};
  if (options.study.empty()) {
    recorded["suite"] = to_string(suite);
  } else {
    recorded["study"] = options.study;
  }
  for (const AxisOverride& change : options.axes) {
    recorded[fmt::format("axis.{}.{}", change.family, change.axis.key)] = join(change.axis.values, ",");
  }
  for (const ModelSize& size : options.sizes) {
    recorded["size." + size.name] =
        fmt::format("{},{},{},{}", size.d_model, size.d_ff, size.num_layers, size.num_heads);
  }
  if (options.processes > 1) recorded["processes"] = fmt::format("{}", options.processes);
  for (const Regime regime : regimes) {
    const std::string prefix = regime == Regime::kBurst ? "burst_" : "";
    const measure::SamplerOptions sampler = sampler_options(options, suite, regime);
    recorded[prefix + "min_time_s"] = fmt::format("{}", sampler.sample_time.value);
    recorded[prefix + "min_warmup_time_s"] = fmt::format("{}", sampler.warm_up_time.value);
    if (regime == Regime::kBurst && on_gpu) recorded["l2"] = to_string(sampler.l2);
  }
  if (options.ceilings != CeilingChoice::kAuto) {
    recorded["ceilings"] = options.ceilings == CeilingChoice::kOn ? "on" : "off";
  }
  if (options.fixed_warm_up) recorded["warmup"] = fmt::format("{}", *options.fixed_warm_up);
  if (options.fixed_samples) recorded["samples"] = fmt::format("{}", *options.fixed_samples);
  for (const auto& [key, value] : options.context) recorded["context." + key] = value;
  return recorded;
}

}  // namespace tbench::bench
