#include "bench/run/run_facts.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "bench/cli/build_info.hpp"
#include "bench/run/sampler_options.hpp"
#include "tbench/core/text.hpp"
#include "tbench/cuda/device.hpp"
#include "tbench/model/device.hpp"
#include "tbench/process/host_limits.hpp"

namespace tbench::bench {
namespace {

/// Returns the rest of the first line of `path` that begins with `prefix`, trimmed of `separators`.
std::string value_in_file(const char* path, std::string_view prefix, std::string_view separators) {
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(prefix)) continue;
    const std::size_t begin = line.find_first_not_of(separators, prefix.size());
    if (begin == std::string::npos) break;
    return line.substr(begin, line.find_last_not_of(separators) - begin + 1);
  }
  return "unknown";
}

/// Adds the facts about the GPU. Call it before anything makes a CUDA context, so that this process is not among those
/// that use the GPU.
void add_gpu(Environment& environment) {
  const auto nvml = cuda::load_nvml();
  environment.gpu = cuda::gpu_facts(nvml);
  environment.versions["cuda_runtime"] = cuda::cuda_runtime_version();
  if (const auto driver = cuda::nvml_driver_version(nvml)) environment.versions["driver"] = *driver;
}

std::string now_as_iso8601() {
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

/// Returns the first number in a file that the Linux kernel provides; nullopt if there is none.
std::optional<double> number_in(const char* path) {
  std::ifstream file{path};
  double number{};
  if (file >> number) return number;
  return std::nullopt;
}

}  // namespace

Environment collect_environment(bool on_gpu, const std::string& clock_policy) {
  Environment environment;
  if (on_gpu) add_gpu(environment);
  environment.cpu_name = value_in_file("/proc/cpuinfo", "model name", " \t:");
  environment.cpu_cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  environment.cpu_limits = process::read_cpu_limits();
  environment.operating_system = value_in_file("/etc/os-release", "PRETTY_NAME=", "\"");
  environment.clock_policy = clock_policy;
  environment.versions.merge(model::library_versions());
  environment.versions["google_benchmark"] = TBENCH_GOOGLE_BENCHMARK_VERSION;
  environment.versions["compiler"] = build_info().compiler;
  environment.commit = build_info().commit;
  environment.sources_digest = build_info().sources_digest;
  environment.diff_digest = build_info().diff_digest;
  environment.build_type = build_info().build_type;
  environment.compile_options = build_info().compile_options;
  environment.variant = build_info().variant;
  environment.date = now_as_iso8601();
  return environment;
}

Environment without_identity(Environment environment) {
  if (environment.gpu) environment.gpu->uuid.clear();
  return environment;
}

results::HostFacts read_host_facts(std::string executable) {
  results::HostFacts host;
  host.executable = std::move(executable);
  constexpr double kKilohertzPerMegahertz = 1e3;
  if (const auto khz = number_in("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")) {
    host.mhz_per_cpu = *khz / kKilohertzPerMegahertz;
  }
  std::string governor;
  if (std::ifstream{"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"} >> governor) {
    host.cpu_scaling_enabled = governor != "performance";
  }
  std::array<double, 3> loads{};
  const int count = ::getloadavg(loads.data(), static_cast<int>(loads.size()));
  for (int i = 0; i < count; ++i) host.load_avg.push_back(loads.at(static_cast<std::size_t>(i)));
  return host;
}

std::map<std::string, std::string> recorded_options(const Options& options, const Selection& selection,
                                                    const std::set<Regime>& regimes, bool on_gpu) {
  std::map<std::string, std::string> recorded{{"filter", options.filter},
                                              {"seed", fmt::format("{}", options.seed)},
                                              {"repetitions", fmt::format("{}", options.repetitions)}};
  if (options.study.empty()) {
    recorded["suite"] = to_string(selection.suite);
  } else {
    recorded["study"] = options.study;
  }
  for (const AxisOverride& change : options.axes) {
    recorded[fmt::format("axis.{}.{}", change.family, change.axis.key)] = join(change.axis.values, ",");
  }
  for (const ModelSize& size : options.sizes) {
    recorded["size." + size.name] = extents_text(size);
  }
  if (options.shard) {
    recorded["shard"] = to_string(*options.shard);
    recorded["shared_cases"] = fmt::format("{}", shared_cases(selection));
  }
  if (options.launch) {
    recorded["ranks"] = fmt::format("{}", options.launch->size);
    recorded["launcher"] = to_string(options.launch->launcher);
    // torchrun sets the variable to 1 if it is not set.
    if (const char* const threads = std::getenv("OMP_NUM_THREADS")) recorded["omp_num_threads"] = threads;
  }
  if (options.processes > 1) recorded["processes"] = fmt::format("{}", options.processes);
  if (options.isolation == Isolation::kCase) recorded["isolate"] = "case";
  if (options.isolation == Isolation::kNone) recorded["isolate"] = "none";
  if (options.order_seed) recorded["order_seed"] = fmt::format("{}", *options.order_seed);
  if (options.plant) recorded["plant"] = fmt::format("{}:{}", options.plant->name, options.plant->share);
  const studies::StudyProtocol protocol = common_protocol(selection.protocols);
  for (const Regime regime : regimes) {
    const std::string prefix = regime == Regime::kBurst ? "burst_" : "";
    const measure::SamplerOptions sampler = sampler_options(options, selection.suite, regime, protocol);
    recorded[prefix + "min_time_s"] = fmt::format("{}", sampler.sample_time.value);
    recorded[prefix + "min_warmup_time_s"] = fmt::format("{}", sampler.warm_up_time.value);
    if (regime == Regime::kBurst && on_gpu) recorded["l2"] = to_string(sampler.l2);
    if (sampler.fixed_warm_up) recorded["warmup"] = fmt::format("{}", *sampler.fixed_warm_up);
    if (sampler.fixed_samples) recorded["samples"] = fmt::format("{}", *sampler.fixed_samples);
  }
  if (options.ceilings != CeilingChoice::kAuto) {
    recorded["ceilings"] = options.ceilings == CeilingChoice::kOn ? "on" : "off";
  }
  if (!options.verify_again.value_or(!protocol.verify_once)) recorded["verify"] = "once";
  if (!options.verify_again && selection.suite == Suite::kSmoke && options.plugins.empty())
    recorded["verify"] = "twice one case per family";
  if (options.trace.value_or(on_gpu)) recorded["trace"] = "on";
  if (options.memory_limit_gib) recorded["memory_limit"] = fmt::format("{}", *options.memory_limit_gib);
  for (const auto& [key, value] : options.context) recorded["context." + key] = value;
  return recorded;
}

}  // namespace tbench::bench
