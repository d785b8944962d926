#include "bench/runners.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "bench/case_profile.hpp"
#include "bench/kernel_path.hpp"
#include "bench/plugins.hpp"
#include "bench/ranks/rank_measurement.hpp"
#include "bench/run_facts.hpp"
#include "tbench/core/error.hpp"
#include "tbench/cuda/device.hpp"
#include "tbench/cuda/flush_and_spin.hpp"
#include "tbench/measure/clock_monitor.hpp"
#include "tbench/measure/cuda_event_timer.hpp"
#include "tbench/measure/measure_case.hpp"
#include "tbench/measure/timer.hpp"
#include "tbench/model/device.hpp"
#include "tbench/process/message_channel.hpp"
#include "tbench/process/supervisor.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_json.hpp"

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

/// @param profile  outlives it
/// @param ranks    null: this process by itself; else outlives it
std::unique_ptr<measure::StepTracer> make_tracer(const Options& options, CaseProfile& profile, RankMeasurement* ranks) {
  TraceSink sink;
  if (!options.profile.empty()) {
    sink = [&profile](const profile::Trace& trace, const profile::Profile& analysed, std::int64_t steps) {
      profile.write(trace, analysed, steps);
    };
  }
  std::unique_ptr<measure::StepTracer> own = make_cupti_step_tracer(std::move(sink));
  if (ranks == nullptr) return own;
  return make_agreed_tracer(std::move(own),
                            [ranks](std::span<const double> numbers) { return ranks->group().gather(numbers); });
}

/// Empty where nothing is kept.
/// @param profile  outlives it
measure::MemoryLogSink memory_log_sink(const Options& options, CaseProfile& profile) {
  if (options.profile.empty()) return {};
  return [&profile](const AllocationLog& log, std::span<const LoggedStep> steps) { profile.keep_memory(log, steps); };
}

/// On the stream that the timer times, or in this thread.
Delay delay_on(bool gpu) {
  if (gpu) return [](Seconds duration) { cuda::launch_spin(duration, nullptr); };
  return [](Seconds duration) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(duration.value);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
}

/// Lets LibTorch's allocator take so much, and the results say that the GPU has no more: they are of another one.
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

Record oversize_record(const CaseId& id, std::int64_t min_bytes, std::int64_t memory_bytes) {
  Record record;
  record.id = id;
  record.status = Status::kOom;
  record.reason =
      fmt::format("not tried (--tb_skip_oversize): holds at least {} bytes, the GPU has {}", min_bytes, memory_bytes);
  record.requested_bytes = min_bytes;
  return record;
}

using process::Outcome;

Record failed_record(const CaseId& id, Status status, const std::string& reason) {
  Record record;
  record.id = id;
  record.status = status;
  record.reason = reason;
  return record;
}

class SupervisedRunner final : public CaseRunner {
 public:
  explicit SupervisedRunner(process::SupervisorOptions options) : supervisor_{std::move(options)} {}

  const Environment& environment() override {
    if (!environment_)
      environment_ = results::environment_from_json(results::Json::parse(supervisor_.hello()), "hello");
    return *environment_;
  }

  std::vector<Record> run(const CaseId& id, const Activity& activity, const StopRequested& stop) override {
    const Outcome outcome = supervisor_.request(id.name(), activity, stop);
    switch (outcome.kind) {
      case Outcome::Kind::kInterrupted:
        return {};
      case Outcome::Kind::kCrashed:
        return {failed_record(id, Status::kCrashed, outcome.reason)};
      case Outcome::Kind::kTimeout:
        return {failed_record(id, Status::kTimeout, outcome.reason)};
      case Outcome::Kind::kResult:
        break;
    }
    std::vector<Record> records;
    for (const auto& json : results::Json::parse(outcome.payload)) {
      records.push_back(results::record_from_json(json, id.name()));
    }
    return records;
  }

  void renew_process() override { supervisor_.renew_child(); }

 private:
  process::Supervisor supervisor_;
  std::optional<Environment> environment_;
};

volatile std::sig_atomic_t stop_flag = 0;

extern "C" void on_stop_signal(int signal_number) {
  stop_flag = 1;
  std::signal(signal_number, SIG_DFL);
}

}  // namespace

UsageError no_cuda_device() {
  return UsageError{"--tb_device=cuda: there is no CUDA device (driver missing, or hidden by CUDA_VISIBLE_DEVICES?)"};
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
  std::string flag = "--tb_trace=on";
  if (!options.study.empty()) flag = "--tb_study=" + options.study;
  if (!options.profile.empty()) flag = "--tb_profile=" + options.profile;
  refuse(flag, "where there is no GPU to trace");
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
  sampler.verify_again = options.verify_again;
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
  add_plugin_versions(environment_, describe_plugins(options_));
  if (options_.anonymous) environment_ = without_identity(std::move(environment_));
  check_exclusive(options_, environment_);
  if (!on_gpu_) refuse_gpu_options(options_);
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

std::vector<Record> LocalRunner::run(const CaseId& id, const Activity& activity, const StopRequested& stop) {
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

std::vector<Record> LocalRunner::measure(const CaseId& id, const Activity& activity, const StopRequested& stop,
                                         RankMeasurement* ranks) {
  const Family& family = family_of(families_, id);
  std::unique_ptr<Case> subject = family.make_case(id, {.on_gpu = on_gpu_,
                                                        .seed = options_.seed,
                                                        .packages = options_.packages,
                                                        .context_time = context_time_,
                                                        .model_sizes = known_model_sizes(options_.sizes),
                                                        .group = ranks == nullptr ? nullptr : &ranks->group()});
  if (options_.skip_oversize && environment_.gpu && subject->min_bytes() > environment_.gpu->memory_bytes) {
    return {oversize_record(id, subject->min_bytes(), environment_.gpu->memory_bytes)};
  }
  if (options_.plant && options_.plant->name == id.name()) {
    subject =
        with_delay(std::move(subject), options_.plant->share, regime_of(family.spec, id), *timer_, delay_on(on_gpu_));
  }
  CaseProfile profile{options_.profile, id, environment_.gpu ? environment_.gpu->name : "", subject->phases()};
  const std::unique_ptr<measure::StepTracer> tracer =
      options_.trace.value_or(on_gpu_) ? make_tracer(options_, profile, ranks) : nullptr;
  const measure::Instruments instruments{
      .timer = ranks == nullptr ? *timer_ : ranks->timer(),
      .monitor = ranks == nullptr ? *monitor_ : ranks->monitor(),
      .memory = memory_.get(),
      .tracer = tracer.get(),
      .gpu = environment_.gpu,
      .device_used_bytes = device_used_bytes_if(on_gpu_),
      .memory_log = memory_log_sink(options_, profile),
      .trace_check = [&id](const StepTrace& trace) { return kernel_path_problem(id, trace); }};
  measure::SamplerOptions sampler =
      sampler_options(options_, options_.suite.value_or(Suite::kStandard), regime_of(family.spec, id));
  if (family.prescribe) family.prescribe(id, sampler);
  try {
    std::vector<Record> records =
        measure::measure_case(id, *subject, family.precision ? family.precision(id) : std::nullopt, instruments,
                              sampler, options_.repetitions, activity, stop);
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

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::unique_ptr<CaseRunner> make_supervised_runner(const Options& options, std::vector<std::string> arguments) {
  std::vector<std::string> command{own_program()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return std::make_unique<SupervisedRunner>(
      process::SupervisorOptions{.command = std::move(command),
                                 .timeout = options.timeout,
                                 .fresh_child_per_request = options.isolation == Isolation::kCase});
}

void catch_stop_signals() {
  std::signal(SIGINT, on_stop_signal);
  std::signal(SIGTERM, on_stop_signal);
}

bool stop_signalled() { return stop_flag != 0; }

int run_worker(std::vector<Family> families, const Options& options) {
  using process::MessageKind;
  catch_stop_signals();
  // A rank whose peer was killed is to fail with an error, as a consequence, and not to die of its own: gloo writes to
  // sockets that raise the signal. Python, which c10d is made for, ignores it too.
  std::signal(SIGPIPE, SIG_IGN);
  process::WorkerChannel channel{options.worker->first, options.worker->second};
  std::optional<LocalRunner> made;
  try {
    made.emplace(std::move(families), options);
  } catch (const UsageError& refused) {
    channel.send(MessageKind::kRefused, refused.what());
    return kExitUsage;
  }
  LocalRunner& runner = *made;
  channel.send(MessageKind::kHello, results::compact(results::environment_to_json(runner.environment())));
  while (const std::optional<process::Message> request = channel.receive()) {
    const std::vector<Record> records = runner.run(
        CaseId::parse(request->payload),
        [&channel](std::string_view activity) { channel.send(MessageKind::kProgress, activity); }, stop_signalled);
    results::Json answer = results::Json::array();
    for (const Record& record : records) answer.push_back(results::record_to_json(record));
    channel.send(MessageKind::kResult, results::compact(answer));
    if (!runner.is_fit()) {
      channel.send(MessageKind::kPoisoned, "");
      return 1;
    }
    if (stop_signalled()) return 0;
  }
  return 0;
}

}  // namespace tbench::bench
