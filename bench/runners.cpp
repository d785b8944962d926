#include "bench/runners.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <cstdint>
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
#include "bench/present_gpu.hpp"
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
#include "tbench/process/host_limits.hpp"
#include "tbench/process/message_channel.hpp"
#include "tbench/process/supervisor.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::bench {
namespace {

// The smoke suite checks the machinery: its times are good for nothing else.
constexpr std::int64_t kSmokeWarmUp = 3;
constexpr std::int64_t kSmokeSamples = 5;

bool choose_gpu(DeviceChoice choice) {
  if (choice == DeviceChoice::kCpu) return false;
  const bool has_gpu = cuda::device_count() > 0;
  if (choice == DeviceChoice::kCuda && !has_gpu) {
    throw no_cuda_device();
  }
  if (!has_gpu) refuse_gpu_without_cuda();
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

/// The prefix of a case's name in a request that asks whether the case can run: the answer is its refusal, or no
/// record.
const std::string kQuestion = "can run? ";
/// Bytes that a child's message may have: a mebibyte for each record, and what the user has asked for of samples.
std::uint64_t max_message_bytes(const Options& options) {
  constexpr std::int64_t kSampleBytes = 32;
  const std::int64_t samples = options.fixed_samples.value_or(0) * kSampleBytes;
  return static_cast<std::uint64_t>(options.repetitions) *
         (process::kMaxPayloadBytes + static_cast<std::uint64_t>(samples));
}

/// Bytes of the host's memory that a child may hold: so much that the host is left with something. 0: any.
std::int64_t max_memory_bytes() {
  constexpr double kShare = 0.9;
  return static_cast<std::int64_t>(static_cast<double>(process::memory_limit().value_or(0)) * kShare);
}

/// A case's first record has the time that the start of its process took.
std::vector<Record> with_start(std::vector<Record> records, Seconds start) {
  if (!records.empty()) records.front().harness = records.front().harness + start;
  return records;
}

/// @throws  std::runtime_error  if a later worker is not as the first one was
void refuse_other_worker(const Environment& first, const Environment& now) {
  const std::optional<std::string> what = worker_difference(first, now);
  if (!what) return;
  throw std::runtime_error{
      fmt::format("a worker process is not as the first one of this run: {}. None of its times is kept. Leave the "
                  "program, its libraries and the machine as they are during a run, and go on with --tb_resume.",
                  *what)};
}

class SupervisedRunner final : public CaseRunner {
 public:
  explicit SupervisedRunner(process::SupervisorOptions options)
      : is_fresh_per_case_{options.fresh_child_per_request}, supervisor_{with_check(std::move(options))} {}

  const Environment& environment() override {
    if (!environment_) static_cast<void>(supervisor_.hello(stop_signalled));
    return *environment_;
  }

  std::vector<Record> run(const CaseId& id, const Activity& activity, const StopRequested& stop) override {
    const Outcome outcome = supervisor_.request(id.name(), activity, stop);
    switch (outcome.kind) {
      case Outcome::Kind::kInterrupted:
        return {};
      case Outcome::Kind::kCrashed:
        return with_start({failed_record(id, Status::kCrashed, outcome.reason)}, outcome.start);
      case Outcome::Kind::kTimeout:
        return with_start({failed_record(id, Status::kTimeout, outcome.reason)}, outcome.start);
      case Outcome::Kind::kResult:
        break;
    }
    std::vector<Record> records;
    for (const auto& json : results::parse_json(outcome.payload)) {
      records.push_back(results::record_from_json(json, id.name()));
    }
    return with_start(std::move(records), outcome.start);
  }

  std::optional<Record> refusal(const CaseId& id, const StopRequested& stop) override {
    if (is_fresh_per_case_) return std::nullopt;  // the process that is asked would be ended afterwards
    const std::optional<std::string> answer = supervisor_.ask(kQuestion + id.name(), stop);
    const results::Json records = answer ? results::parse_json(*answer) : results::Json::array();
    if (records.empty()) return std::nullopt;
    return results::record_from_json(records.front(), id.name());
  }

  void renew_process() override { supervisor_.renew_child(); }
  void prepare_process() override { supervisor_.prepare_child(); }

 private:
  process::SupervisorOptions with_check(process::SupervisorOptions options) {
    options.check_hello = [this](const std::string& hello) { check_hello(hello); };
    return options;
  }
  void check_hello(const std::string& hello) {
    Environment now = results::environment_from_json(results::parse_json(hello), "hello");
    if (environment_) refuse_other_worker(*environment_, now);
    if (!environment_) environment_ = std::move(now);
  }

  bool is_fresh_per_case_;
  process::Supervisor supervisor_;
  std::optional<Environment> environment_;
};

/// Answers a request to a child process: a case, or whether one can run.
std::vector<Record> records_for(std::string_view request, CaseRunner& runner, const Activity& activity) {
  if (!request.starts_with(kQuestion)) return runner.run(CaseId::parse(request), activity, stop_signalled);
  const std::optional<Record> refusal = runner.refusal(CaseId::parse(request.substr(kQuestion.size())), stop_signalled);
  return refusal ? std::vector<Record>{*refusal} : std::vector<Record>{};
}

std::string to_text(const std::vector<Record>& records) {
  results::Json answer = results::Json::array();
  for (const Record& record : records) answer.push_back(results::record_to_json(record));
  return results::compact(answer);
}

/// The records of a request as a message. If the message is too long, which a plug-in's words can make it, its case has
/// crashed.
std::string answer_of(const std::vector<Record>& records, std::uint64_t max_bytes) {
  std::string answer = to_text(records);
  if (answer.size() <= max_bytes) return answer;
  return to_text({failed_record(
      records.front().id, Status::kCrashed,
      fmt::format("its result has {} bytes, and at most {} are read. A plug-in that says less, fewer --tb_samples or "
                  "--benchmark_repetitions make it shorter.",
                  answer.size(), max_bytes))});
}

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
    if (!options.min_warm_up_time) sampler.fixed_warm_up = kSmokeWarmUp;
    if (!options.min_time) sampler.fixed_samples = kSmokeSamples;
  }
  if (options.min_time) sampler.sample_time = *options.min_time;
  if (options.min_warm_up_time) sampler.warm_up_time = *options.min_warm_up_time;
  sampler.verify_again = options.verify_again.value_or(true);
  if (options.fixed_warm_up) sampler.fixed_warm_up = options.fixed_warm_up;
  if (options.fixed_samples) sampler.fixed_samples = options.fixed_samples;
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
  const std::optional<std::string> reason = make_case(id, nullptr)->unsupported_reason();
  return reason ? std::optional{failed_record(id, Status::kUnsupported, *reason)} : std::nullopt;
}

/// The smoke suite verifies one case of a family again, the first: it checks the machinery. Plug-ins are watched all
/// the same.
measure::SamplerOptions LocalRunner::sampler_of(const CaseId& id) {
  const Family& family = family_of(families_, id);
  const Suite suite = options_.suite.value_or(Suite::kStandard);
  measure::SamplerOptions sampler = sampler_options(options_, suite, regime_of(family.spec, id));
  if (family.prescribe) family.prescribe(id, sampler);
  const bool is_first = measured_families_.insert(id.family()).second;
  if (suite == Suite::kSmoke && !options_.verify_again && options_.plugins.empty()) sampler.verify_again = is_first;
  return sampler;
}

std::vector<Record> LocalRunner::measure(const CaseId& id, const Activity& activity, const StopRequested& stop,
                                         RankMeasurement* ranks) {
  const Family& family = family_of(families_, id);
  std::unique_ptr<Case> subject = make_case(id, ranks);
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
  const measure::SamplerOptions sampler = sampler_of(id);
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

std::string own_program() {
  constexpr std::string_view kReplaced = " (deleted)";  // what the kernel says of a file that has no name any more
  std::string path = std::filesystem::read_symlink(kOwnExecutable).string();
  if (path.ends_with(kReplaced)) path.resize(path.size() - kReplaced.size());
  return path;
}

std::unique_ptr<CaseRunner> make_supervised_runner(const Options& options, std::vector<std::string> arguments) {
  std::vector<std::string> command{own_program()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return std::make_unique<SupervisedRunner>(
      process::SupervisorOptions{.command = std::move(command),
                                 .executable = kOwnExecutable,
                                 .timeout = options.timeout,
                                 .fresh_child_per_request = options.isolation == Isolation::kCase,
                                 .max_message_bytes = max_message_bytes(options),
                                 .max_memory_bytes = max_memory_bytes()});
}

void catch_stop_signals() {
  std::signal(SIGINT, on_stop_signal);
  std::signal(SIGTERM, on_stop_signal);
}

bool stop_signalled() { return stop_flag != 0; }

void request_stop() { stop_flag = 1; }

int run_worker(std::vector<Family> families, const Options& options) {
  using process::MessageKind;
  catch_stop_signals();
  ::prctl(PR_SET_NAME, "transformer_bench");  // not "exe", after what it was started from
  // A rank whose peer was killed is to fail with an error, as a consequence, and not to die of its own: gloo writes to
  // sockets that raise the signal. Python, which c10d is made for, ignores it too.
  std::signal(SIGPIPE, SIG_IGN);
  process::WorkerChannel channel{options.worker->first, options.worker->second};
  if (!channel.wait_for_begin()) return 0;
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
    const std::vector<Record> records = records_for(request->payload, runner, [&channel](std::string_view activity) {
      channel.send(MessageKind::kProgress, activity);
    });
    channel.send(MessageKind::kResult, answer_of(records, max_message_bytes(options)));
    if (!runner.is_fit()) {
      channel.send(MessageKind::kPoisoned, "");
      return 1;
    }
    if (stop_signalled()) return 0;
  }
  return 0;
}

}  // namespace tbench::bench
