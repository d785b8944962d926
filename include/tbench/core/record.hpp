// Everything known about one measured case. Console, JSON, journal and counters are all derived from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/allocation_log.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/step_trace.hpp"
#include "tbench/core/units.hpp"
#include "tbench/core/work.hpp"

namespace tbench {

/// Why the sampler stopped.
enum class StopReason { kPrecise, kSpreadSettled, kTimeLimit, kSampleLimit, kFixedCount };

template <>
struct EnumNames<StopReason> {
  static constexpr std::array<std::string_view, 5> kNames{"precise", "spread_settled", "time_limit", "sample_limit",
                                                          "fixed_count"};
};

/// How the clocks of a record were read.
enum class ClockSource { kChunk, kPolled };  // once per chunk, after its enqueue; or continuously, during the samples

template <>
struct EnumNames<ClockSource> {
  static constexpr std::array<std::string_view, 2> kNames{"chunk", "polled"};
};

/// One part of a step, timed by events at its boundaries.
struct PhaseTime {
  std::string name;  // forward, backward, optimizer
  Seconds median;
  std::optional<Seconds> mean{};                // absent in files older than version 10
  std::optional<Seconds> standard_deviation{};  // absent for one sample and in files older than version 10
  bool operator==(const PhaseTime&) const = default;
};

/// The course of the warm-up.
struct WarmUp {
  std::int64_t steps{};
  std::optional<Seconds> first;  // the first step's time; absent if there was no warm-up step (--tb_warmup=0)
  bool steady{};                 // whether the steps became steady before the limit was reached
  bool operator==(const WarmUp&) const = default;
};

/// The largest drain (time from the last enqueue until the queue is empty) of a host-bound step, as a share of the
/// step. If the device lags the host, about 1,000 launches are queued; they took 8 to 14 % of steps with many launches
/// (2.7B and xl, eager, on an H200). The limit misses a host-bound step that ends in a long kernel (a fused optimizer's
/// kernel took about 10 % of a 10 ms step).
inline constexpr double kHostBoundDrain = 0.05;

/// A rate counts as above its ceiling if it exceeds the ceiling by more than 2 %. Smaller excesses are measurement
/// error.
inline constexpr double kMostOfACeiling = 1.02;

/// The times of one case. All times are per step; a step of a kernel's case is one launch.
struct Timing {
  Regime regime{};
  std::optional<L2State> l2;                 // absent if not controlled (sustained steps, and on a CPU)
  std::int64_t launches_per_sample{1};       // above 1 if a single launch is too short to be timed well
  bool resolution_limited{};                 // whether a launch takes under 10 us, which events do not resolve well
  std::vector<double> samples_s;             // in the order taken
  std::vector<std::size_t> flagged_samples;  // indexes whose SM clock was under 0.97 of the median clock
  Seconds median, p10, p90, min, mean;
  std::optional<Seconds> standard_deviation;  // absent for one sample
  std::optional<double> relative_iqr;         // absent for one sample
  std::optional<double> relative_half_width;  // of the median's 95 % interval; absent under 8 samples
  StopReason stop_reason{};
  WarmUp warm_up;
  std::vector<PhaseTime> phases;  // empty for a case of one phase
  std::optional<Seconds> wall;    // host time with synchronisation; absent for bursts, as it includes flushes and spins
  Seconds enqueue;                // host time to enqueue everything; for a burst, to enqueue its launches alone
  std::optional<Seconds> drain;   // time from the last enqueue until the device is done; absent for bursts
  Seconds cpu;                    // processor time of the whole process; for a burst, while it was enqueued
  /// The share of the sampling time in which bursts ran, without cool-downs, flushes and spins. Bursts only.
  std::optional<double> duty;
  /// Whether the host limits the time, as decided when the case was measured. Bursts: the launch could not be hidden.
  /// Steps: a chunk's drain is under kHostBoundDrain of a step, or the trace shows it. Readers of files of any version
  /// use is_host_bound() of step_counts.hpp.
  bool host_bound{};
  bool operator==(const Timing&) const = default;
};

/// The device's state while sampling, from NVML and the cycle counters. A field is absent if the device does not report
/// it.
struct DeviceState {
  std::optional<ClockSource> clock_source;  // source of clocks and power; absent before version 6, which means kChunk
  std::optional<Hertz> sm_clock_p5, sm_clock_p50, sm_clock_p95;
  std::optional<Hertz> sm_clock_mean;  // mean of a polled clock: finer than the clock's steps, 1 % of it on an H200
  /// The mean clock over all chained steps, from the cycle counters of the SMs. It is exact, whereas NVML samples the
  /// clock at some moments only.
  std::optional<Hertz> sm_clock_counted;
  std::optional<double> temperature_c;  // highest seen
  std::optional<Watts> power;           // mean
  std::optional<Joules> energy_per_step;
  std::vector<std::string> throttle_reasons;  // seen at any time while sampling
  /// Returns the most exact mean clock available, to convert a time to cycles.
  [[nodiscard]] std::optional<Hertz> mean_sm_clock() const {
    if (sm_clock_counted) return sm_clock_counted;
    return sm_clock_mean ? sm_clock_mean : sm_clock_p50;
  }
  bool operator==(const DeviceState&) const = default;
};

/// An allocator's bytes in one phase of a step.
struct PhaseMemory {
  std::string phase;                                 // one of Case::phases()
  std::int64_t allocated_peak{};                     // peak during the phase
  std::int64_t held{};                               // bytes held at the end of the phase
  std::map<std::string, std::int64_t> held_split{};  // the held bytes by class, as in MemoryUse::split
  bool operator==(const PhaseMemory&) const = default;
};

/// The memory that was live at the peak of a step and allocated in one range.
struct RangeMemory {
  std::string range;  // labels, outermost first, as in TracedRange::path; empty outside of any range
  std::int64_t bytes{};
  std::int64_t allocations{};
  bool operator==(const RangeMemory&) const = default;
};

struct Allocation {
  std::string range;  // names, outermost first: `FORWARD/layer.3/attention`; empty outside of any range
  std::int64_t bytes{};
  bool operator==(const Allocation&) const = default;
};

/// Peak memory of two untimed steps in a pass of their own. Phases, ranges and allocations describe the second step.
struct MemoryUse {
  std::int64_t allocated_peak{};               // bytes in the allocator's blocks
  std::optional<std::int64_t> requested_peak;  // bytes that tensors requested; independent of earlier cases
  std::int64_t reserved_peak{};                // bytes; depends on earlier cases
  std::optional<std::int64_t> device_used;     // bytes in use on the whole device, all processes
  /// The bytes of the peak by class; they add up to the peak. Empty if the case does not report its tensors. Classes
  /// (bench/counters.md defines them): parameters, gradients, optimizer_state, communication_buffers, inputs, casts,
  /// activations, results, forward_temporaries, backward_temporaries, optimizer_temporaries, workspaces, other.
  std::map<std::string, std::int64_t> split;
  std::vector<PhaseMemory> phases{};
  std::vector<RangeMemory> peak_ranges{};  // by bytes, the largest first
  std::vector<Allocation> largest{};       // the largest allocations live at the peak, at most ten
  /// Bytes by which the log of allocations misses the allocator's own peak; absent if the log is complete.
  std::optional<std::int64_t> unlogged{};
  std::optional<MemoryTimeline> timeline{};  // of the second step; only if the study shows it
  bool operator==(const MemoryUse&) const = default;
};

/// The result of the output check.
struct Verification {
  bool passed{};
  std::string reference;    // what the output was compared with
  double worst_error{};     // largest |output - reference| / tolerance over all elements; <= 1 passes
  std::string worst_where;  // tensor and index of the worst error
  std::string message;      // the first bad index with both values, if the check failed
  bool operator==(const Verification&) const = default;
};

/// The host's time on a case by activity.
struct HostTimes {
  Seconds build;
  Seconds verification;         // before the timing, or after it if the case is verified last
  Seconds sampling;             // warm-up and sampling
  Seconds memory_pass;          // zero if there is none
  Seconds trace;                // zero if there is none
  Seconds second_verification;  // after the timing, on other data; zero if there is none
  bool operator==(const HostTimes&) const = default;
};

struct Record {
  CaseId id;
  Status status{Status::kOk};
  std::string reason;  // empty if the status is ok
  std::int64_t repetition_index{};
  std::int64_t repetitions{1};
  std::int64_t machine{};        // its index in machines_of(the file's environment)
  std::optional<Timing> timing;  // present exactly if has_time(status)
  std::optional<Work> work;
  std::optional<FlopPerSecond> peak_at_clock;  // the datasheet's dense rate at the SM clock while sampling
  std::optional<FlopPerSecond> boost_peak;     // the datasheet's dense rate at its boost clock; absent before version 9
  std::optional<double>
      ceiling_per_second;            // FLOP or bytes: the measured rate of work.ceiling in the same run and regime
  std::optional<Seconds> floor;      // for a burst: the time of an empty launch plus the work at the ceiling's rate
  std::optional<Seconds> queue_gap;  // for a chained step: the time between two queued kernels, from the same run
  std::optional<DeviceState> device;
  std::optional<MemoryUse> memory;
  std::optional<StepTrace> trace;  // absent if not traced
  std::optional<Verification> verification;
  std::optional<std::int64_t> requested_bytes;  // size of the failed allocation, for `oom`
  std::map<std::string, double> counters;       // the family's own counters, e.g. skipped_steps
  /// Non-numeric observations of the family, e.g. the dtype of an operation or the selected algorithm.
  std::map<std::string, std::string> labels;
  /// Host time spent on the case outside warm-up and sampling. Includes the start of its process, unlike `host_times`.
  Seconds harness;
  /// Absent in older files, for a case without a time, and for ranks, whose shared clock does not advance between
  /// chunks.
  std::optional<HostTimes> host_times;
  bool operator==(const Record&) const = default;
};

/// Returns the numbers shown next to the time in the console, in Google Benchmark's part of the JSON and in reports, by
/// name. bench/counters.md has their formulas. All values are finite; unknown counters are absent.
[[nodiscard]] std::map<std::string, double> counters_of(const Record& record);

}  // namespace tbench
