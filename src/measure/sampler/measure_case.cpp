#include "tbench/measure/measure_case.hpp"

#include <fmt/format.h>

#include <cmath>
#include <exception>
#include <map>
#include <string>
#include <utility>

#include "measure/sampler/memory_pass.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/step_counts.hpp"

namespace tbench::measure {

namespace {

/// Discards a counted clock that is higher than the GPU's maximum.
void drop_impossible_clock(DeviceState& device, const std::optional<GpuFacts>& gpu) {
  constexpr double kMaxOfAClock = 1.02;
  if (!gpu || !gpu->max_sm_clock_hz || !device.sm_clock_counted) {
    return;
  }
  if (device.sm_clock_counted->value > kMaxOfAClock * *gpu->max_sm_clock_hz) {
    device.sm_clock_counted.reset();
  }
}

/// The state of one call of measure_case().
class Measurement {
 public:
  Measurement(const CaseId& id, Case& subject, std::optional<Precision> precision, const Instruments& instruments,
              const SamplerOptions& options, const ProgressCallback& progress, const StopRequested& stop_requested)
      : subject_{subject},
        precision_{precision},
        instruments_{instruments},
        options_{options},
        progress_{progress},
        stop_requested_{stop_requested} {
    record_.id = id;
  }

  std::vector<Record> run(std::int64_t repetitions);

 private:
  void measure(std::int64_t repetitions);
  bool prepare();
  bool verify();
  bool verify_again();
  bool verify_timed();
  bool accept(Verification verdict, const std::string& found);
  void repeat_once();
  void take_over(SampleResult result);
  void keep_counters(const std::map<std::string, double>& counters);
  [[nodiscard]] MemoryUse memory_pass();
  void reject(std::string reason);
  bool trace();
  [[nodiscard]] Seconds run_up() const;
  void set_peaks(const DeviceState& device);
  void fail(Status status, std::string reason);
  void finish_record();
  /// Calls `what` and adds the time it takes to a part of the host times.
  template <class What>
  auto counted(Seconds HostTimes::*part, const What& what);
  void release_cached();
  void announce(std::string_view activity) const;
  void announce_or_stop(std::string_view activity) const;

  Case& subject_;
  std::optional<Precision> precision_;
  const Instruments& instruments_;
  const SamplerOptions& options_;
  const ProgressCallback& progress_;
  const StopRequested& stop_requested_;

  std::map<std::string, double> build_counters_;
  Record record_;  // the record in progress, with the facts that hold for all repetitions
  std::vector<Record> done_;
  Seconds record_begin_;
  HostTimes host_times_;  // host times of the record in progress
};

template <class What>
auto Measurement::counted(Seconds HostTimes::*part, const What& what) {
  const Seconds begin = instruments_.timer.now();
  auto result = what();
  host_times_.*part = host_times_.*part + (instruments_.timer.now() - begin);
  return result;
}

std::vector<Record> Measurement::run(std::int64_t repetitions) {
  record_.repetitions = repetitions;
  record_begin_ = instruments_.timer.now();
  try {
    measure(repetitions);
  } catch (const Interrupted&) {
    throw;
  } catch (const OutOfMemory& error) {
    record_.requested_bytes = error.requested_bytes();
    keep_counters(build_counters_);
    fail(Status::kOom, error.what());
    try {
      release_cached();
    } catch (const std::exception& release_error) {
      done_.back().status = Status::kCrashed;
      done_.back().reason += std::string{"; then releasing memory failed: "} + release_error.what();
    }
  } catch (const Unsupported& error) {
    fail(Status::kUnsupported, error.what());
  } catch (const std::exception& error) {
    fail(Status::kCrashed, error.what());
  } catch (...) {
    fail(Status::kCrashed, "an exception of unknown type");
  }
  return std::move(done_);
}

void Measurement::measure(std::int64_t repetitions) {
  if (!prepare()) {
    return;
  }
  const Record common = record_;
  for (std::int64_t repetition = 0; repetition < repetitions; ++repetition) {
    record_ = common;
    record_.repetition_index = repetition;
    repeat_once();
    if (done_.back().status == Status::kIncorrect) {
      return;
    }
  }
}

/// Builds the case, and verifies it unless the case verifies last. Returns false if the case has ended.
bool Measurement::prepare() {
  if (auto reason = subject_.unsupported_reason()) {
    fail(Status::kUnsupported, std::move(*reason));
    return false;
  }
  record_.work = subject_.work();
  release_cached();
  announce_or_stop("building");
  build_counters_ = counted(&HostTimes::build, [&] {
    subject_.build();
    return subject_.build_counters();
  });
  if (subject_.verifies_last()) {
    return true;
  }
  announce_or_stop("verifying");
  return verify();
}

bool Measurement::verify() {
  return accept(counted(&HostTimes::verification, [&] { return subject_.verify(); }), "");
}

bool Measurement::verify_again() {
  std::optional<Verification> verdict =
      counted(&HostTimes::second_verification, [&] { return subject_.verify_again(); });
  return !verdict || accept(std::move(*verdict), "found after the timing, on other data: ");
}

/// Verifies the last timed launch, if an output checker watches it.
bool Measurement::verify_timed() {
  LaunchChecker* const checker = subject_.launch_checker();
  if (checker == nullptr || options_.regime != Regime::kBurst) {
    return true;
  }
  announce("verifying a timed launch");
  return accept(checker->verdict(), "found in a timed launch: ");
}

/// Keeps the worst verdict, and ends the record in progress if the output was wrong.
/// @param found  how the error was found, for the reason; may be empty
bool Measurement::accept(Verification verdict, const std::string& found) {
  const bool is_worst = !record_.verification || verdict.worst_error >= record_.verification->worst_error;
  const bool passed = verdict.passed;
  if (is_worst || !passed) {
    record_.verification = std::move(verdict);
  }
  if (!passed) {
    reject(found + record_.verification->message);
  }
  return passed;
}

/// Ends the record in progress, because the measured step is not the requested step.
void Measurement::reject(std::string reason) {
  record_.memory.reset();
  record_.trace.reset();
  record_.counters.clear();
  record_.labels.clear();
  fail(Status::kIncorrect, std::move(reason));
}

void Measurement::repeat_once() {
  if (options_.regime == Regime::kBurst) {
    release_cached();  // memory cached by the verification may be needed for the flush
  }
  SampleResult result =
      sample(subject_, instruments_.timer, instruments_.monitor, options_, progress_, stop_requested_);
  host_times_.sampling = result.elapsed;
  if (!has_time(result.status)) {
    fail(result.status, std::move(result.reason));
    return;
  }
  take_over(std::move(result));
  if (!verify_timed()) {
    return;
  }
  keep_counters(subject_.counters());
  record_.labels = subject_.labels();
  if (subject_.launch_checker() != nullptr) {
    record_.labels["trusted"] = "plugin";  // code in this process cannot be verified any further
  }
  if (instruments_.memory != nullptr) {
    announce("measuring memory");
    record_.memory = counted(&HostTimes::memory_pass, [&] { return memory_pass(); });
  }
  if (!counted(&HostTimes::trace, [&] { return trace(); })) {
    return;
  }
  if (subject_.verifies_last()) {
    announce("verifying");
    if (!verify()) {
      return;
    }
  } else if (options_.verify_again) {
    announce("verifying again");
    if (!verify_again()) {
      return;
    }
  }
  finish_record();
}

void Measurement::take_over(SampleResult result) {
  record_.status = result.status;
  record_.reason = std::move(result.reason);
  record_.timing = std::move(result.timing);
  drop_impossible_clock(result.device, instruments_.gpu);
  set_peaks(result.device);
  if (result.device != DeviceState{}) {
    record_.device = std::move(result.device);
  }
}

void Measurement::keep_counters(const std::map<std::string, double>& counters) {
  for (const auto& [name, value] : counters) {
    if (std::isfinite(value)) {
      record_.counters.emplace(name, value);
    }
  }
}

MemoryUse Measurement::memory_pass() {
  MemoryUse use = measure_memory(subject_, instruments_.timer, *instruments_.memory, instruments_.memory_log);
  if (instruments_.device_used_bytes) {
    use.device_used = instruments_.device_used_bytes();
  }
  return use;
}

/// Returns the time of steps to run before the traced steps; 0 unless the power limit lowers the clock.
Seconds Measurement::run_up() const {
  constexpr Seconds kRunUp{0.15};
  constexpr double kFullClock = 0.985;
  const std::optional<Hertz> clock = record_.device ? record_.device->mean_sm_clock() : std::nullopt;
  if (record_.timing->regime != Regime::kSustained || !clock) return {};
  if (!instruments_.gpu || !instruments_.gpu->max_sm_clock_hz) return {};
  return clock->value < kFullClock * *instruments_.gpu->max_sm_clock_hz ? kRunUp : Seconds{};
}

/// Traces a few steps, unless the process cannot repeat the steps of the case. Returns false if the case has ended.
bool Measurement::trace() {
  if (instruments_.tracer == nullptr || subject_.verifies_last()) {
    return true;
  }
  announce("tracing");
  release_cached();  // a flush needs the memory again
  Timing& timing = *record_.timing;
  try {
    record_.trace = trace_steps(subject_, instruments_.timer, *instruments_.tracer,
                                {.regime = timing.regime, .l2 = options_.l2, .run_up = run_up()}, timing.median);
    keep_counters(instruments_.tracer->counters());
  } catch (const std::exception& error) {
    record_.labels["trace"] = std::string{"none: "} + error.what();
    return true;
  }
  if (trace_disagrees(record_)) {
    record_.labels["trace"] =
        fmt::format("disagrees: the GPU worked {:.4g} ms in a traced step, and a timed one takes {:.4g}",
                    to_milliseconds(record_.trace->device), to_milliseconds(timing.median));
  }
  if (timing.regime == Regime::kSustained) {
    timing.host_bound = is_host_bound(record_);
  }
  const auto problem = instruments_.trace_check ? instruments_.trace_check(*record_.trace) : std::nullopt;
  if (problem) {
    reject(*problem);
  }
  return !problem;
}

/// Sets the datasheet's peak rates, at the datasheet's clock and at the clock during sampling.
void Measurement::set_peaks(const DeviceState& device) {
  if (!precision_ || !instruments_.gpu) {
    return;
  }
  const GpuFacts& gpu = *instruments_.gpu;
  record_.boost_peak = datasheet_peak(gpu.name, gpu.sm_count, *precision_);
  const std::optional<Hertz> clock = device.mean_sm_clock();
  const auto per_sm_clock = datasheet_flop_per_sm_clock(gpu.name, *precision_);
  if (clock && per_sm_clock) {
    record_.peak_at_clock = FlopPerSecond{*per_sm_clock * static_cast<double>(gpu.sm_count) * clock->value};
  }
}

/// Ends the record in progress without a time.
void Measurement::fail(Status status, std::string reason) {
  record_.status = status;
  record_.reason = std::move(reason);
  record_.timing.reset();
  record_.device.reset();
  record_.peak_at_clock.reset();
  record_.boost_peak.reset();
  finish_record();
}

void Measurement::finish_record() {
  const Seconds now = instruments_.timer.now();
  record_.harness = now - record_begin_ - host_times_.sampling;
  record_begin_ = now;
  if (record_.timing && instruments_.timer.is_continuous()) {
    record_.host_times = host_times_;
  }
  host_times_ = {};
  done_.push_back(record_);
}

void Measurement::release_cached() {
  if (instruments_.memory != nullptr) {
    instruments_.memory->release_cached();
  }
}

void Measurement::announce(std::string_view activity) const {
  if (progress_) {
    progress_(activity);
  }
}

void Measurement::announce_or_stop(std::string_view activity) const {
  announce(activity);
  if (stop_requested_ && stop_requested_()) {
    throw Interrupted{};
  }
}

}  // namespace

std::vector<Record> measure_case(const CaseId& id, Case& subject, std::optional<Precision> precision,
                                 const Instruments& instruments, const SamplerOptions& options,
                                 std::int64_t repetitions, const ProgressCallback& progress,
                                 const StopRequested& stop_requested) {
  return Measurement{id, subject, precision, instruments, options, progress, stop_requested}.run(repetitions);
}

}  // namespace tbench::measure
