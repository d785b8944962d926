#include "bench/run/present_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "bench/run/own_program.hpp"
#include "tbench/core/text.hpp"
#include "tbench/cuda/device.hpp"
#include "tbench/cuda/nvml.hpp"
#include "tbench/process/command.hpp"
#include "tbench/studies/writeup.hpp"

namespace tbench::bench {
namespace {

/// Returns the first entry of CUDA_VISIBLE_DEVICES, as CUDA reads it; nullopt if the variable hides all GPUs.
std::optional<std::string> first_visible() {
  const char* const variable = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string visible = variable == nullptr ? "0" : variable;
  if (visible.empty() || visible == "-1") return std::nullopt;
  return visible.substr(0, visible.find(','));
}

/// Returns the GPU that an entry of CUDA_VISIBLE_DEVICES names: an index or a UUID.
cuda::NvmlDevice visible_device(std::shared_ptr<const cuda::NvmlLibrary> library, const std::string& entry) {
  const std::optional<std::int64_t> index = parse_integer(entry);
  return index ? cuda::NvmlDevice::by_index(std::move(library), static_cast<unsigned int>(*index))
               : cuda::NvmlDevice::by_uuid(std::move(library), entry);
}

}  // namespace

std::optional<std::string> present_gpu() {
  const std::optional<std::string> first = first_visible();
  if (!first) return std::nullopt;
  const auto library = cuda::load_nvml();
  if (!cuda::nvml_driver_version(library)) return std::nullopt;
  return visible_device(library, *first).name().value_or("GPU of an unknown model");
}

std::optional<std::int64_t> other_processes_now(const Environment& environment) {
  if (!environment.gpu) return std::nullopt;
  const std::string entry = environment.gpu->uuid.empty() ? first_visible().value_or("0") : environment.gpu->uuid;
  const cuda::NvmlDevice device = visible_device(cuda::load_nvml(), entry);
  std::optional<std::int64_t> count = device.other_compute_processes();
  // The driver may list a process for a moment after its end.
  for (int attempt = 0; attempt < 10 && count.value_or(0) > 0; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    count = device.other_compute_processes();
  }
  return count;
}

void refuse_gpu_without_cuda() {
  if (!first_visible()) return;
  const std::optional<std::string> driver = cuda::nvml_driver_version(cuda::load_nvml());
  const std::string problem = driver ? cuda::device_problem() : "";
  if (problem.empty()) return;
  throw UsageError{
      fmt::format("the driver ({}) sees a GPU, and CUDA cannot use it: {}. Repair the driver, or measure the CPU with "
                  "--tb_device=cpu.",
                  *driver, problem)};
}

bool another_process_can_use_gpu() {
  process::Command other{{kOwnExecutable, "--tb_worker_task=device"}};
  return other.wait() == kExitOk;
}

UsageError no_cuda_device() {
  return UsageError{"--tb_device=cuda: there is no CUDA device (driver missing, or hidden by CUDA_VISIBLE_DEVICES?)"};
}

/// Refuses the studies of a list that need traces, if any does. The remedy is a GPU, or the studies without traces.
static void refuse_traced_studies(const std::string& list) {
  std::vector<std::string> traced, others;
  for (const std::string& name : split(list, ',')) {
    const studies::Writeup writeup = studies::find_writeup(name, "--tb_study");
    const bool needs_trace =
        std::ranges::any_of(writeup.studies(), [](const studies::Study& study) { return study.protocol.needs_trace; });
    (needs_trace ? traced : others).push_back(name);
  }
  if (traced.empty()) return;
  const auto without = std::ranges::find_if(studies::all_studies(),
                                            [](const studies::Study& study) { return !study.protocol.needs_trace; });
  throw UsageError{fmt::format(
      "--tb_study={}: {} {} traces of a GPU, and the cases run on the CPU. Run it on a machine with a GPU, or "
      "measure a study without traces, such as --tb_study={}.",
      list, join(traced, " and "), agreeing(traced.size(), "needs", "need"),
      others.empty() ? without->name : join(others, ","))};
}

bool choose_gpu(DeviceChoice choice) {
  if (choice == DeviceChoice::kCpu) return false;
  const bool has_gpu = cuda::device_count() > 0;
  if (choice == DeviceChoice::kCuda && !has_gpu) {
    throw no_cuda_device();
  }
  if (!has_gpu) refuse_gpu_without_cuda();
  return has_gpu;
}

void refuse_gpu_options(const Options& options) {
  const auto refuse = [](const std::string& flag, const char* why) {
    throw UsageError{fmt::format("{}: the cases run on the CPU, {}: leave the flag out", flag, why)};
  };
  if (options.l2) refuse(fmt::format("--tb_l2={}", to_string(*options.l2)), "whose caches are left as they are");
  if (options.memory_limit_gib) {
    refuse(fmt::format("--tb_memory_limit={}", *options.memory_limit_gib), "whose memory is not limited");
  }
  if (!options.trace.value_or(false)) return;
  const bool is_profile = !options.profile.empty();
  if (!options.study.empty() && !is_profile) refuse_traced_studies(options.study);
  refuse(is_profile ? "--tb_profile=" + options.profile : "--tb_trace=on", "where there is no GPU to trace");
}

void check_exclusive(const Options& options, const Environment& environment) {
  if (!options.require_exclusive || !environment.gpu) return;
  const std::optional<std::int64_t> others = environment.gpu->other_processes;
  if (!others) throw UsageError{"--tb_require_exclusive: the driver does not tell which processes use the GPU"};
  if (*others > 0) {
    throw UsageError{fmt::format("--tb_require_exclusive: {} other processes are using the GPU", *others)};
  }
}

}  // namespace tbench::bench
