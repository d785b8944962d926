#include "bench/run/local_runner.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "bench/families/kernel_path.hpp"
#include "bench/families/sustained.hpp"
#include "bench/run/case_profile.hpp"
#include "bench/run/plugins.hpp"
#include "bench/run/present_gpu.hpp"
#include "bench/run/rank_measurement.hpp"
#include "bench/run/run_facts.hpp"
#include "bench/run/sampler_options.hpp"
#include "tbench/core/error.hpp"
#include "tbench/cuda/device.hpp"
#include "tbench/cuda/flush_and_spin.hpp"
#include "tbench/measure/clock_monitor.hpp"
#include "tbench/measure/cuda_event_timer.hpp"
#include "tbench/measure/measure_case.hpp"
#include "tbench/measure/timer.hpp"
#include "tbench/model/device.hpp"

namespace tbench::bench {
namespace {

std::function<std::optional<std::int64_t>()> device_used_bytes_if(bool on_gpu) {
  if (!on_gpu) return {};
  return [] { return std::optional{cuda::device_memory().used()}; };
}

/// The parts of a trace and of a memory log that a case's profile keeps.
struct Kept {
  bool files{};      // for --tb_profile
  bool timelines{};  // for the record, if a study shows them
};

/// Makes the tracer of a case.
/// @param profile  receives the trace; outlives the tracer
/// @param kept     what the profile keeps
/// @param ranks    the part of this rank, which outlives the tracer; null for a single process
std::unique_ptr<measure::StepTracer> make_tracer(Kept kept, CaseProfile& profile, RankMeasurement* ranks) {
  TraceSink sink;
  if (kept.files || kept.timelines) {
    sink = [kept, &profile](const profile::Trace& trace, const profile::Profile& analysed, std::int64_t steps) {
      if (kept.files) profile.write(trace, analysed, steps);
      if (kept.timelines) profile.keep_timeline(trace);
    };
  }
  std::unique_ptr<measure::StepTracer> own = make_cupti_step_tracer(std::move(sink));
  if (ranks == nullptr) return own;
  return make_agreed_tracer(std::move(own),
                            [ranks](std::span<const double> numbers) { return ranks->group().gather(numbers); });
}

/// Returns a sink for memory logs; empty if nothing is kept.
/// @param profile  profile that outlives the sink
measure::MemoryLogSink memory_log_sink(Kept kept, CaseProfile& profile) {
  if (!kept.files && !kept.timelines) return {};
  return [kept, &profile](const AllocationLog& log, std::span<const LoggedStep> steps) {
    if (kept.files) profile.keep_memory(log, steps);
    if (kept.timelines) profile.keep_timeline(log, steps);
  };
}

/// Returns a delay on the stream that the timer times, or on the CPU in this thread.
Delay delay_on(bool gpu) {
  if (gpu) return [](Seconds duration) { cuda::launch_spin(duration, nullptr); };
  return [](Seconds duration) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(duration.value);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
}

/// Limits the memory of LibTorch's allocator. The results state the limit as the GPU's memory, so that they count as
/// results of a smaller GPU.
void limit_memory(double gibibytes, GpuFacts& gpu) {
  constexpr double kGibi = 1 << 30;
  const auto bytes = static_cast<std::int64_t>(gibibytes * kGibi);
  if (bytes > gpu.memory_bytes) {
    throw UsageError{fmt::format("--tb_memory_limit={}: the {} has {:.1f} GiB; give less, or leave the flag out",
                                 gibibytes, gpu.name, static_cast<double>(gpu.memory_bytes) / kGibi)};
  }
  model::limit_cuda_memory(static_cast<double>(bytes) / static_cast<double>(gpu.memory_bytes));
  gpu.memory_bytes = bytes;
}

std::optional<std::int64_t> l2_bytes_of(const Environment& environment) {
  return environment.gpu ? std::optional{environment.gpu->l2_bytes} : std::nullopt;
}

Record oversize_record(const CaseId& id, std::int64_t min_bytes, std::int64_t memory_bytes) {
  Record record;
  record.id = id;
  record.status = Status::kOom;
  record.reason =
      fmt::format("not tried (--tb_skip_oversize): holds at least {} bytes, the GPU has {}", min_bytes, memory_bytes);
  record.requested_bytes = min_bytes;
  return record;
}

}  // namespace

LocalRunner::LocalRunner(std::vector<Family> families, const Options& options)
    : families_{std::move(families)},
      options_{options},
      on_gpu_{choose_gpu(options.device)},
      environment_{collect_environment(on_gpu_, options.clock_policy)} {
  add_plugin_versions(environment_, describe_plugins(options_));
  if (options_.anonymous) environment_ = without_identity(std::move(environment_));
  check_exclusive(options_, environment_);
  if (!on_gpu_) refuse_gpu_options(options_);
  if (!options_.study.empty()) protocols_ = study_cases(specs_of(families_), options_, on_gpu_).protocols;
  if (on_gpu_) {
    context_time_ = cuda::make_context();
    if (options_.memory_limit_gib) limit_memory(*options_.memory_limit_gib, *environment_.gpu);
    timer_ = std::make_unique<measure::CudaEventTimer>();
    monitor_ = std::make_unique<measure::NvmlClockMonitor>(cuda::current_nvml_device(cuda::load_nvml()));
    memory_ = model::make_cuda_memory_probe();
  } else {
    model::use_one_cpu_thread();
    timer_ = std::make_unique<measure::SteadyClockTimer>();
    monitor_ = std::make_unique<measure::NoClockMonitor>();
  }
}

std::vector<Record> LocalRunner::run(const CaseId& id, const ProgressCallback& activity, const StopRequested& stop) {
  if (!options_.launch) return measure(id, activity, stop, nullptr);
  std::optional<RankMeasurement> ranks;
  try {
    activity("meeting the other ranks");
    ranks.emplace(*options_.launch, on_gpu_, options_.timeout, *timer_, activity);
  } catch (const std::exception& error) {
    return lost_record(id, error.what());
  }
  std::vector<Record> records = measure(id, activity, stop, &*ranks);
  ranks->mark_consequences(records);
  return records;
}

std::unique_ptr<Case> LocalRunner::make_case(const CaseId& id, RankMeasurement* ranks) const {
  return family_of(families_, id)
      .make_case(id, {.on_gpu = on_gpu_,
                      .seed = options_.seed,
                      .packages = options_.packages,
                      .context_time = context_time_,
                      .model_sizes = known_model_sizes(options_.sizes),
                      .group = ranks == nullptr ? nullptr : &ranks->group()});
}

std::optional<Record> LocalRunner::refusal(const CaseId& id, const StopRequested& /*stop*/) {
  try {
    const std::unique_ptr<Case> subject = make_case(id, nullptr);
    std::optional<std::string> reason = subject->unsupported_reason();
    if (!reason) reason = sustained_unsupported_reason(id, *subject, l2_bytes_of(environment_));
    return reason ? std::optional{failed_record(id, Status::kUnsupported, *reason)} : std::nullopt;
  } catch (const std::runtime_error&) {
    return std::nullopt;  // run() meets the same error and records it
  }
}

/// Returns the sampling options of a case. The smoke suite only checks that cases run, and verifies only the first case
/// of each family again. Plug-ins are always checked.
measure::SamplerOptions LocalRunner::sampler_of(const CaseId& id) {
  const Family& family = family_of(families_, id);
  const Suite suite = options_.suite.value_or(Suite::kStandard);
  measure::SamplerOptions sampler =
      sampler_options(options_, suite, regime_of(family.spec, id), protocol_of(protocols_, id));
  if (family.prescribe) family.prescribe(id, sampler);
  const bool is_first = measured_families_.insert(id.family()).second;
  if (suite == Suite::kSmoke && !options_.verify_again && options_.plugins.empty()) sampler.verify_again = is_first;
  return sampler;
}

std::vector<Record> LocalRunner::measure(const CaseId& id, const ProgressCallback& activity, const StopRequested& stop,
                                         RankMeasurement* ranks) {
  const Family& family = family_of(families_, id);
  std::unique_ptr<Case> subject = make_case(id, ranks);
  if (const auto reason = sustained_unsupported_reason(id, *subject, l2_bytes_of(environment_))) {
    return {failed_record(id, Status::kUnsupported, *reason)};
  }
  if (options_.skip_oversize && environment_.gpu && subject->min_bytes() > environment_.gpu->memory_bytes) {
    return {oversize_record(id, subject->min_bytes(), environment_.gpu->memory_bytes)};
  }
  if (options_.plant && options_.plant->name == id.name()) {
    subject =
        with_delay(std::move(subject), options_.plant->share, regime_of(family.spec, id), *timer_, delay_on(on_gpu_));
  }
  CaseProfile profile{options_.profile, id, environment_.gpu ? environment_.gpu->name : "", subject->phases()};
  const studies::StudyProtocol protocol = protocol_of(protocols_, id);
  const Kept kept{.files = !options_.profile.empty(), .timelines = protocol.needs_timelines};
  const bool is_traced = options_.trace.value_or(on_gpu_) && !protocol.without_trace;
  const std::unique_ptr<measure::StepTracer> tracer = is_traced ? make_tracer(kept, profile, ranks) : nullptr;
  const measure::Instruments instruments{
      .timer = ranks == nullptr ? *timer_ : ranks->timer(),
      .monitor = ranks == nullptr ? *monitor_ : ranks->monitor(),
      .memory = memory_.get(),
      .tracer = tracer.get(),
      .gpu = environment_.gpu,
      .device_used_bytes = device_used_bytes_if(on_gpu_),
      .memory_log = memory_log_sink(kept, profile),
      .trace_check = [&id](const StepTrace& trace) { return kernel_path_problem(id, trace); }};
  const measure::SamplerOptions sampler = sampler_of(id);
  try {
    std::vector<Record> records =
        measure::measure_case(id, *subject, family.precision ? family.precision(id) : std::nullopt, instruments,
                              sampler, options_.repetitions, activity, stop);
    profile.add_timelines(records);
    for (Record& record : records) {
      if (record.work && family.ceiling) record.work->ceiling = family.ceiling(id).value_or("");
      if (record.trace && profile.problem()) record.labels["profile"] = "none: " + *profile.problem();
    }
    return records;
  } catch (const measure::Interrupted&) {
    return {};
  }
}

void LocalRunner::renew_process() { throw std::logic_error{"this process cannot be renewed from inside it"}; }

bool LocalRunner::is_fit() const { return !on_gpu_ || cuda::context_is_healthy(); }

}  // namespace tbench::bench
