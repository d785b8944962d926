// The GPU's work in a step of a case, from a few steps that were traced after the timed ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tbench/core/units.hpp"

namespace tbench {

/// When the host enqueued a step: the ends of its phases follow each other. In the tracer's clock.
struct EnqueuedStep {
  std::int64_t start_ns{};
  std::vector<std::int64_t> phase_ends_ns;
};

/// All launches of one kernel in one phase; copies and fills alike.
struct TracedKernel {
  std::string phase;                          // one of Case::phases()
  std::string kernel_class;                   // a name of profile::KernelClass
  std::string name;                           // whole, with template arguments and parameters; of copies `Memcpy HtoD`
  double calls{};                             // a step
  Seconds total;                              // a step
  Seconds min, max;                           // of one call
  std::optional<Seconds> standard_deviation;  // of one call; absent for a single one
  bool operator==(const TracedKernel&) const = default;
};

/// The ranges of one label in the same outer ranges. What backward does is in the ranges of what it undoes.
struct TracedRange {
  std::string path;        // labels, the outermost first: `FORWARD/layer.*/attention`, where `*` stands for a number
  double calls{};          // a step, as all up to `launches`
  Seconds host;            // in which the host was inside
  Seconds host_exclusive;  // and in no range inside
  Seconds gpu_span;        // of each from its first operation's begin to its last one's end
  Seconds gpu_sum;         // of the times of its operations
  Seconds gpu_busy;        // of each the union of its operations
  Seconds gpu_exclusive;   // sum of the operations that are in no range inside
  double operations{};     // kernels, copies, fills
  double launches{};       // of kernels
  Seconds host_min, host_max;               // of one call
  std::optional<Seconds> host_deviation;    // standard, of one call; absent for a single one
  std::optional<Seconds> gpu_min, gpu_max;  // busy, of one call; absent without an operation
  std::optional<Seconds> gpu_deviation;     // absent for fewer than two calls with operations
  bool operator==(const TracedRange&) const = default;
};

/// A part of a range that is no range itself: projections, residual, not attention (profile::DerivedRange). A step.
struct TracedPart {
  std::string of;  // path of the range
  std::string name;
  Seconds host;
  Seconds gpu_sum;
  double operations{};
  double launches{};
  bool operator==(const TracedPart&) const = default;
};

/// Attention's operations in one phase, those in attention.scores, attention.softmax and attention.context. A step.
struct TracedAttention {
  std::string phase;  // one of Case::phases()
  Seconds softmax;    // all of attention.softmax, and kernels of class softmax in the others
  Seconds scores;     // matrix products of attention.scores: Q K^T
  Seconds context;    // matrix products of attention.context: weights V
  Seconds other;      // scale, mask, casts, copies
  bool operator==(const TracedAttention&) const = default;
};

/// Everything is per step but `longest_gap`. The GPU's own times hold for timed steps too; a traced step is longer
/// where the host limits it, because tracing costs the host time.
struct StepTrace {
  std::int64_t steps{};  // traced
  /// Time from the end of the GPU's last operation of the previous step to the end of this step's last one; for a
  /// burst, from the begin of its first operation.
  Seconds span;
  Seconds device;       // union of the operations' intervals
  Seconds host_gaps;    // the queue was empty: the call that launched what follows began after the gap had
  Seconds device_gaps;  // what follows had been launched before
  Seconds other_gaps;   // nothing follows, or nobody knows its launch
  Seconds longest_gap;
  double launches{};  // calls that launched kernels; the replay of a CUDA graph is one
  /// The clock by the multiprocessors' cycle counters, while the traced steps ran. Absent for bursts and in files of
  /// before version 9.
  std::optional<Hertz> sm_clock_counted{};
  /// Kernels by phase, the longest first.
  std::vector<TracedKernel> kernels;
  std::vector<TracedRange> ranges{};         // a range before those inside of it
  std::vector<TracedPart> parts{};           // by range
  std::vector<TracedAttention> attention{};  // by phase; of steps that have those ranges
  std::int64_t without_launch{};             // operations of all steps whose call the tracer did not see
  std::int64_t dropped{};                    // records that the tracer had no room for
  bool operator==(const StepTrace&) const = default;
};

/// Launches of kernels per step, with each kernel inside a CUDA graph as one; copies and fills are none.
[[nodiscard]] double kernels_per_step(const StepTrace& trace);

/// Kernels, copies and fills per step, each of which waits for a moment behind the one before.
[[nodiscard]] double operations_per_step(const StepTrace& trace);

}  // namespace tbench
