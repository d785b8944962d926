#include "collect_environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "build_info.hpp"
#include "tbench/cuda/device.hpp"
#include "tbench/model/device.hpp"

namespace tbench::bench {
namespace {

/// The rest of the first line of `path` that begins with `prefix`, without `separators` around it.
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

/// Before anything makes a CUDA context, so that this process does not count among those that use the GPU.
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

}  // namespace

Environment collect_environment(bool on_gpu, const std::string& clock_policy) {
  Environment environment;
  if (on_gpu) add_gpu(environment);
  environment.cpu_name = value_in_file("/proc/cpuinfo", "model name", " \t:");
  environment.cpu_cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  environment.operating_system = value_in_file("/etc/os-release", "PRETTY_NAME=", "\"");
  environment.clock_policy = clock_policy;
  environment.versions.merge(model::library_versions());
  environment.versions["google_benchmark"] = TBENCH_GOOGLE_BENCHMARK_VERSION;
  environment.versions["compiler"] = build_info().compiler;
  environment.commit = build_info().commit;
  environment.sources_digest = build_info().sources_digest;
  environment.build_type = build_info().build_type;
  environment.date = now_as_iso8601();
  return environment;
}

}  // namespace tbench::bench
