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
enum class ClockSource { kChunk, kPolled };  // once a chunk, after its enqueue; or all the time, the samples' kept

template <>
struct EnumNames<ClockSource> {
  static constexpr std::array<std::string_view, 2> kNames{"chunk", "polled"};
};

/// One part of a step, timed by events at its boundaries.
struct PhaseTime {
  std::string name;  // forward, backward, optimizer
  Seconds median;
  bool operator==(const PhaseTime&) const = default;
};

/// How the warm-up went.
struct WarmUp {
  std::int64_t steps{};
  std::optional<Seconds> first;  // the first step's time; absent where no step was made (--tb_warmup=0)
  bool steady{};                 // false: the limit was reached first
  bool operator==(const WarmUp&) const = default;
};

/// The host holds the device up if the queue is emptied within this share of a step after the last enqueue. A device
/// that is behind has about 1,000 launches waiting, seen to last 8 to 14 % of a step of many launches (2.7B and xl,
/// eager, on an H200). Not seen so: a host-bound step that ends in a long kernel (a fused optimizer's took about 10 %
/// of a 10 ms step).
inline constexpr double kHostBoundDrain = 0.05;

/// A rate is above its ceiling from this share on; what is under it the two measurements' errors explain.
inline constexpr double kMostOfACeiling = 1.02;

/// Times of one case. Everything is per step; a step of a kernel's case is one launch.
struct Timing {
  Regime regime{};
  std::optional<L2State> l2;                 // absent: left as it is (sustained steps, and on a CPU)
  std::int64_t launches_per_sample{1};       // above 1 where a single launch is too short to be timed well
  bool resolution_limited{};                 // a launch under 10 us: events do not resolve it well
  std::vector<double> samples_s;             // in the order taken
  std::vector<std::size_t> flagged_samples;  // indexes whose SM clock was under 0.97 of the median clock
  Seconds median, p10, p90, min, mean;
  std::optional<Seconds> standard_deviation;  // absent for one sample
  std::optional<double> relative_iqr;         // absent for one sample
  std::optional<double> relative_half_width;  // of the median's 95 % interval; absent under 8 samples
  StopReason stop_reason{};
  WarmUp warm_up;
  std::vector<PhaseTime> phases;  // empty for a case of one phase
  std::optional<Seconds> wall;    // host time, synchronised; absent for bursts, as it holds flushes and spins
  Seconds enqueue;                // host time until everything was enqueued; of a burst: of its launches alone
  std::optional<Seconds> drain;   // from the last enqueue to the device's end; absent for bursts
  Seconds cpu;                    // processor time of the whole process; of a burst: while it was enqueued
  /// The share of the sampling in which bursts ran; the rest is rests, flushes and spins. Bursts only.
  std::optional<double> duty;
  /// The host limits the time, as it was decided when it was measured. Bursts: the launch could not be hidden. Steps: a
  /// chunk's drain is under kHostBoundDrain of a step, or what their trace says; step_counts.hpp's is_host_bound() is
  /// the rule for both, of files of any version.
  bool host_bound{};
  bool operator==(const Timing&) const = default;
};

/// The device's state while sampling, by NVML and by its cycle counters. Absent fields: the device does not tell.
struct DeviceState {
  std::optional<ClockSource> clock_source;  // of clocks and power; absent in files of before version 6: once a chunk
  std::optional<Hertz> sm_clock_p5, sm_clock_p50, sm_clock_p95;
  std::optional<Hertz> sm_clock_mean;  // of a polled clock: finer than its steps, which are 1 % of it on an H200
  /// Mean over all chained steps, by the multiprocessors' cycle counters: exact, where NVML's clock covers some moments
  /// only.
  std::optional<Hertz> sm_clock_counted;
  std::optional<double> temperature_c;  // highest seen
  std::optional<Watts> power;           // mean
  std::optional<Joules> energy_per_step;
  std::vector<std::string> throttle_reasons;  // seen at any time while sampling
  /// The best that is known of the clock on average, for a time in cycles.
  [[nodiscard]] std::optional<Hertz> mean_sm_clock() const {
    if (sm_clock_counted) return sm_clock_counted;
    return sm_clock_mean ? sm_clock_mean : sm_clock_p50;
  }
  bool operator==(const DeviceState&) const = default;
};

/// An allocator's bytes in one phase of a step.
struct PhaseMemory {
  std::string phase;                                 // one of Case::phases()
  std::int64_t allocated_peak{};                     // highest within it
  std::int64_t held{};                               // at its end
  std::map<std::string, std::int64_t> held_split{};  // of these the bytes by class, as MemoryUse::split
  bool operator==(const PhaseMemory&) const = default;
};

/// The memory of a step that was live at its peak, by the range in which it was allocated.
struct RangeMemory {
  std::string range;  // labels, the outermost first, as TracedRange::path; empty: in no range
  std::int64_t bytes{};
  std::int64_t allocations{};
  bool operator==(const RangeMemory&) const = default;
};

struct Allocation {
  std::string range;  // names, the outermost first: `FORWARD/layer.3/attention`; empty: in no range
  std::int64_t bytes{};
  bool operator==(const Allocation&) const = default;
};

/// Peak memory of two steps in a pass of their own, untimed; what is said of phases, ranges and allocations is of the
/// second one.
struct MemoryUse {
  std::int64_t allocated_peak{};               // bytes in the allocator's blocks
  std::optional<std::int64_t> requested_peak;  // bytes that tensors asked for: what ran before does not change it
  std::int64_t reserved_peak{};                // bytes; depends on what ran before
  std::optional<std::int64_t> device_used;     // bytes in use on the whole device, all processes
  /// Bytes of the peak by what they hold; they add up to it. Empty where a case does not tell what it holds. Classes
  /// (bench/counters.md defines them): parameters, gradients, optimizer_state, communication_buffers, inputs, casts,
  /// activations, results, forward_temporaries, backward_temporaries, optimizer_temporaries, workspaces, other.
  std::map<std::string, std::int64_t> split;
  std::vector<PhaseMemory> phases{};
  std::vector<RangeMemory> peak_ranges{};  // the most bytes first
  std::vector<Allocation> largest{};       // of those live at the peak, at most ten
  /// Bytes by which the log of allocations misses the allocator's own peak; absent: it has them all.
  std::optional<std::int64_t> unlogged{};
  bool operator==(const MemoryUse&) const = default;
};

/// The check of the output that came before the timing.
struct Verification {
  bool passed{};
  std::string reference;    // what the output was compared with
  double worst_error{};     // largest |output - reference| / tolerance of that element; <= 1 passes
  std::string worst_where;  // tensor and index of it
  std::string message;      // for a failure: the first bad index, with both values
  bool operator==(const Verification&) const = default;
};

/// The host's time on a case, by what it did. What building, checking and tracing cost stands beside what they are for.
struct HostTimes {
  Seconds build;
  Seconds verification;         // before the timing, or of a case that is verified last
  Seconds sampling;             // warm-up and sampling
  Seconds memory_pass;          // zero where there is none
  Seconds trace;                // likewise
  Seconds second_verification;  // after the timing, on other data; likewise
  bool operator==(const HostTimes&) const = default;
};

struct Record {
  CaseId id;
  Status status{Status::kOk};
  std::string reason;  // empty if the status is ok
  std::int64_t repetition_index{};
  std::int64_t repetitions{1};
  std::optional<Timing> timing;  // present exactly if has_time(status)
  std::optional<Work> work;
  std::optional<FlopPerSecond> peak_at_clock;  // the datasheet's dense rate at the SM clock while sampling
  std::optional<FlopPerSecond> boost_peak;     // at the clock that the datasheet gives it for; absent before version 9
  std::optional<double>
      ceiling_per_second;            // FLOP or bytes: the measured rate of work.ceiling in the same run and regime
  std::optional<Seconds> floor;      // of a burst: a launch, and its work at that rate
  std::optional<Seconds> queue_gap;  // of a chained step: the time between two kernels that queue, in the same run
  std::optional<DeviceState> device;
  std::optional<MemoryUse> memory;
  std::optional<StepTrace> trace;  // absent: not traced
  std::optional<Verification> verification;
  std::optional<std::int64_t> requested_bytes;  // of the allocation that failed, for `oom`
  std::map<std::string, double> counters;       // the family's own, e.g. skipped_steps
  /// Observations of the family that are no number, e.g. the dtype that an operation ran in, or the algorithm chosen.
  std::map<std::string, std::string> labels;
  /// Host time spent on the case outside warm-up and sampling, with the start of a process for it, which is no part of
  /// `host_times`.
  Seconds harness;
  /// Absent in earlier files, of a case that has no time, and of ranks that share a clock which stands still meanwhile.
  std::optional<HostTimes> host_times;
  bool operator==(const Record&) const = default;
};

/// Numbers shown beside the time in the console, in Google Benchmark's part of the JSON and in reports, by name. The
/// formula of each is in bench/counters.md. Only finite values; what is unknown is absent.
[[nodiscard]] std::map<std::string, double> counters_of(const Record& record);

}  // namespace tbench
