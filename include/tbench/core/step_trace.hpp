// The GPU's work in a step of a case, from a few steps that were traced after the timed ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tbench/core/units.hpp"

namespace tbench {

/// The times at which the host enqueued a step and reached the end of each phase, by the tracer's clock.
struct EnqueuedStep {
  std::int64_t start_ns{};
  std::vector<std::int64_t> phase_ends_ns;
};

/// All launches of one kernel, or all copies or fills of one kind, in one phase.
struct TracedKernel {
  std::string phase;                          // one of Case::phases()
  std::string kernel_class;                   // a name of profile::KernelClass
  std::string name;                           // full name with template arguments and parameters, or `Memcpy HtoD`
  double calls{};                             // per step
  Seconds total;                              // per step
  Seconds min, max;                           // per call
  std::optional<Seconds> standard_deviation;  // of the calls; absent for a single call
  bool operator==(const TracedKernel&) const = default;
};

/// All ranges with the same label and the same outer ranges. A backward operation belongs to the range of its forward
/// operation.
struct TracedRange {
  std::string path;        // labels, outermost first: `FORWARD/layer.*/attention`, where `*` stands for a number
  double calls{};          // per step, as are all fields up to `launches`
  Seconds host;            // host time inside the range
  Seconds host_exclusive;  // host time inside the range and outside its inner ranges
  Seconds gpu_span;        // time from the start of a call's first operation to the end of its last, summed over calls
  Seconds gpu_sum;         // sum of the operations' times
  Seconds gpu_busy;        // union of a call's operations, summed over calls
  Seconds gpu_exclusive;   // sum of the times of operations outside inner ranges
  double operations{};     // kernels, copies, fills
  double launches{};       // kernel launches
  Seconds host_min, host_max;               // host time per call
  std::optional<Seconds> host_deviation;    // standard deviation of the calls' host time; absent for a single call
  std::optional<Seconds> gpu_min, gpu_max;  // busy time per call; absent without an operation
  std::optional<Seconds> gpu_deviation;     // absent for fewer than two calls with operations
  /// Gaps per step before the range's operations, as StepTrace::host_gaps and device_gaps. The gap before the first
  /// traced operation does not count. Absent for bursts and in files older than version 10.
  std::optional<Seconds> host_gaps{}, device_gaps{};
  bool operator==(const TracedRange&) const = default;
};

/// The launches of one kernel, or the copies or fills of one kind, in the ranges of one row and outside their inner
/// ranges. Both values are per step.
struct TracedRangeKernel {
  std::size_t range{};   // index of StepTrace::ranges
  std::size_t kernel{};  // index of StepTrace::kernels
  double calls{};
  Seconds total;
  bool operator==(const TracedRangeKernel&) const = default;
};

/// All calls of one function of the CUDA API in one phase. Both values are per step.
struct TracedCall {
  std::string name;
  double calls{};
  Seconds host;  // inclusive: a function of the runtime includes the driver's function that it calls
  bool operator==(const TracedCall&) const = default;
};

/// All copies in one direction, or all fills, in one phase. All values are per step.
struct TracedCopy {
  std::string name;  // `Memcpy HtoD`, `Memset`
  double count{};
  double bytes{};
  Seconds total;
  bool operator==(const TracedCopy&) const = default;
};

/// One phase of a step: what the GPU waited for, and the host's calls of the CUDA API. All values are per step.
struct PhaseTrace {
  std::string phase;  // one of Case::phases(), or FORWARD, ... inside a case's only phase; empty outside every phase
  Seconds span;       // time from the phase's first operation to the end of its last
  Seconds host_gaps;  // gaps in the span, as in StepTrace
  Seconds device_gaps;
  Seconds other_gaps;
  double api_calls{};              // calls that were not made inside another call
  Seconds api;                     // host time inside calls, summed over threads
  std::vector<TracedCall> calls;   // the longest first
  std::vector<TracedCopy> copies;  // the longest first
  bool operator==(const PhaseTrace&) const = default;
};

/// A part of a range that is not a range itself, such as projections or residual (profile::DerivedRange). All values
/// are per step.
struct TracedPart {
  std::string of;  // path of the enclosing range
  std::string name;
  Seconds host;
  Seconds gpu_sum;
  double operations{};
  double launches{};
  bool operator==(const TracedPart&) const = default;
};

/// The times per step of one phase's operations in attention.scores, attention.softmax and attention.context.
struct TracedAttention {
  std::string phase;  // one of Case::phases()
  Seconds softmax;    // all of attention.softmax, and kernels of class softmax in the other two ranges
  Seconds scores;     // matrix products of attention.scores: Q K^T
  Seconds context;    // matrix products of attention.context: weights V
  Seconds other;      // scale, mask, casts, copies
  bool operator==(const TracedAttention&) const = default;
};

/// The kinds of entries in a timeline.
enum class TimelineEntry { kRange, kCall, kOperation };

/// The course of one layer in one traced step: its ranges and its calls of the CUDA API on one thread of the host, and
/// the operations that the calls launched. The vectors of an entry's fields have one element per entry, in the order of
/// their starts.
struct StepTimeline {
  std::string range;                // `FORWARD/layer.6`
  std::vector<std::string> names;   // each once
  std::vector<std::int64_t> kind;   // a TimelineEntry
  std::vector<std::int64_t> name;   // index of `names`
  std::vector<std::int64_t> depth;  // number of the layer's ranges around a range; 0 for calls and operations
  std::vector<double> start_s;      // from the start of the layer's range on the host
  std::vector<double> end_s;
  std::int64_t left_out{};  // later entries for which there was no room
  bool operator==(const StepTimeline&) const = default;
};

/// The trace of a few steps. All times and counts are per step, except `longest_gap` and the counts of all steps. The
/// GPU's own times also hold for timed steps; a traced step is longer if the host limits it, because tracing costs the
/// host time.
struct StepTrace {
  std::int64_t steps{};  // number of traced steps
  /// Time from the end of the GPU's last operation of the previous step to the end of this step's last one; for a
  /// burst, time from the start of its first operation.
  Seconds span;
  Seconds device;       // union of the operations' intervals
  Seconds host_gaps;    // gaps with an empty queue: the call that launched the next operation began during the gap
  Seconds device_gaps;  // gaps before an operation that had already been launched
  Seconds other_gaps;   // gaps before an operation whose launch is unknown, or before none
  Seconds longest_gap;
  double launches{};  // calls that launched kernels; the replay of a CUDA graph counts as one
  /// The clock during the traced steps, from the cycle counters of the SMs. Absent for bursts and in files older than
  /// version 9.
  std::optional<Hertz> sm_clock_counted{};
  /// Kernels by phase, the longest first.
  std::vector<TracedKernel> kernels;
  std::vector<TracedRange> ranges{};               // each range precedes the ranges inside it
  std::vector<TracedRangeKernel> range_kernels{};  // by range, the longest first; empty before version 10
  std::vector<PhaseTrace> phases{};                // in the order of their first start; empty before version 10
  std::vector<TracedPart> parts{};                 // by range
  std::vector<TracedAttention> attention{};        // by phase; empty if the steps lack the attention ranges
  std::optional<StepTimeline> timeline{};          // only if the study shows it
  std::int64_t without_launch{};                   // operations, over all steps, whose launch the tracer did not see
  std::int64_t dropped{};                          // records that the tracer had no room for, over all steps
  bool operator==(const StepTrace&) const = default;
};

/// Returns the kernels per step. Each kernel inside a CUDA graph counts; copies and fills do not.
[[nodiscard]] double kernels_per_step(const StepTrace& trace);

/// Returns the kernels, copies and fills per step. Each of them starts a moment after its predecessor.
[[nodiscard]] double operations_per_step(const StepTrace& trace);

}  // namespace tbench
