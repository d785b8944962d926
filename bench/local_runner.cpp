#include "local_runner.hpp"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "collect_environment.hpp"
#include "tbench/core/error.hpp"
#include "tbench/cuda/device.hpp"
#include "tbench/measure/cuda_event_timer.hpp"
#include "tbench/measure/measure_case.hpp"
#include "tbench/measure/nvml_clock_monitor.hpp"
#include "tbench/measure/steady_clock_timer.hpp"
#include "tbench/model/device.hpp"
#include "tbench/model/memory_probe.hpp"

namespace tbench::bench {
namespace {

bool choose_gpu(DeviceChoice choice) {
  if (choice == DeviceChoice::kCpu) return false;
  const bool has_gpu = cuda::device_count() > 0;
  if (choice == DeviceChoice::kCuda && !has_gpu) {
    throw no_cuda_device();
  }
  return has_gpu;
}

void check_exclusive(const Options& options, const Environment& environment) {
  if (!options.require_exclusive || !environment.gpu) return;
  const std::optional<std::int64_t> others = environment.gpu->other_processes;
  if (!others) throw UsageError{"--tb_require_exclusive: the driver does not tell which processes use the GPU"};
  if (*others > 0) {
    throw UsageError{fmt::format("--tb_require_exclusive: {} other processes are using the GPU", *others)};
  }
}

std::function<std::optional<std::int64_t>()> device_used_bytes_if(bool on_gpu) {
  if (!on_gpu) return {};
  return [] { return std::optional{cuda::device_memory().used()}; };
}

/// The family's word makes the names before there is a case, the case's the measurement.
void check_regime(const Family& family, const CaseId& id, const measure::Case& subject) {
  const Regime regime = regime_of(family.spec, id);
  if (regime == subject.regime()) return;
  throw std::logic_error{
      fmt::format("{}: {} by its family's word, and {} by its own: FamilySpec::regime, or the key of that name, and "
                  "Case::regime() have to agree",
                  id.name(), to_string(regime), to_string(subject.regime()))};
}

Record oversize_record(const CaseId& id, std::int64_t least_bytes, std::int64_t memory_bytes) {
  Record record;
  record.id = id;
  record.status = Status::kOom;
  record.reason =
      fmt::format("not tried (--tb_skip_oversize): holds at least {} bytes, the GPU has {}", least_bytes, memory_bytes);
  record.requested_bytes = least_bytes;
  return record;
}

}  // namespace

UsageError no_cuda_device() {
  return UsageError{"--tb_device=cuda: there is no CUDA device (driver missing, or hidden by CUDA_VISIBLE_DEVICES?)"};
}

UsageError no_l2_control(L2State l2) {
  return UsageError{fmt::format(
      "--tb_l2={}: the cases run on the CPU, whose caches are left as they are: leave the flag out", to_string(l2))};
}

measure::SamplerOptions sampler_options(const Options& options, Suite suite, Regime regime) {
  const bool is_burst = regime == Regime::kBurst;
  measure::SamplerOptions sampler = is_burst ? measure::burst_options() : measure::SamplerOptions{};
  if (suite == Suite::kSmoke) {
    constexpr double kShorter = 5.0;
    sampler.warm_up_time = sampler.warm_up_time / kShorter;
    sampler.warm_up_limit = is_burst ? Seconds{0.5} : Seconds{2.0};
    sampler.sample_time = sampler.sample_time / kShorter;
    sampler.sample_limit = is_burst ? Seconds{1.0} : Seconds{2.0};
    sampler.chunk_time = sampler.chunk_time / kShorter;
  }
  if (options.min_time) sampler.sample_time = *options.min_time;
  if (options.min_warm_up_time) sampler.warm_up_time = *options.min_warm_up_time;
  sampler.fixed_warm_up = options.fixed_warm_up;
  sampler.fixed_samples = options.fixed_samples;
  sampler.l2 = options.l2.value_or(L2State::kCold);
  return sampler;
}

LocalRunner::LocalRunner(std::vector<Family> families, const Options& options)
    : families_{std::move(families)},
      options_{options},
      on_gpu_{choose_gpu(options.device)},
      environment_{collect_environment(on_gpu_, options.clock_policy)} {
  check_exclusive(options_, environment_);
  if (options_.l2 && !on_gpu_) throw no_l2_control(*options_.l2);
  if (on_gpu_) {
    context_time_ = cuda::make_context();
    timer_ = std::make_unique<measure::CudaEventTimer>();
    monitor_ = std::make_unique<measure::NvmlClockMonitor>(cuda::current_nvml_device(cuda::load_nvml()));
    memory_ = model::make_cuda_memory_probe();
  } else {
    model::use_one_cpu_thread();
    timer_ = std::make_unique<measure::SteadyClockTimer>();
    monitor_ = std::make_unique<measure::NoClockMonitor>();
  }
}

std::vector<Record> LocalRunner::run(const CaseId& id, const Activity& activity, const StopRequested& stop) {
  const Family& family = family_of(families_, id);
  const auto subject = family.make_case(id, {.on_gpu = on_gpu_,
                                             .seed = options_.seed,
                                             .packages = options_.packages,
                                             .context_time = context_time_,
                                             .model_sizes = known_model_sizes(options_.sizes)});
  check_regime(family, id, *subject);
  if (options_.skip_oversize && environment_.gpu && subject->least_bytes() > environment_.gpu->memory_bytes) {
    return {oversize_record(id, subject->least_bytes(), environment_.gpu->memory_bytes)};
  }
  const measure::Instruments instruments{.timer = *timer_,
                                         .monitor = *monitor_,
                                         .memory = memory_.get(),
                                         .gpu = environment_.gpu,
                                         .device_used_bytes = device_used_bytes_if(on_gpu_)};
  measure::SamplerOptions sampler =
      sampler_options(options_, options_.suite.value_or(Suite::kStandard), subject->regime());
  if (family.prescribe) family.prescribe(id, sampler);
  try {
    std::vector<Record> records =
        measure::measure_case(id, *subject, family.precision ? family.precision(id) : std::nullopt, instruments,
                              sampler, options_.repetitions, activity, stop);
    for (Record& record : records) {
      if (record.work && family.ceiling) record.work->ceiling = family.ceiling(id).value_or("");
    }
    return records;
  } catch (const measure::Interrupted&) {
    return {};
  }
}

void LocalRunner::renew_process() { throw std::logic_error{"this process cannot be renewed from inside it"}; }

bool LocalRunner::is_fit() const { return !on_gpu_ || cuda::context_is_healthy(); }

}  // namespace tbench::bench
