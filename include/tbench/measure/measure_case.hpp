// The one way from a case to a record: build, verify, warm up, sample, memory pass, trace, verify again. Turns what can
// go wrong into a status.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/environment.hpp"
#include "tbench/core/record.hpp"
#include "tbench/measure/clock_monitor.hpp"
#include "tbench/measure/sampler.hpp"
#include "tbench/measure/step_tracer.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// Gets the log of a memory pass. Must not throw.
using MemoryLogSink = std::function<void(const AllocationLog& log, std::span<const LoggedStep> steps)>;

/// Why the step that was traced is not the one that the case's name promises, or nothing: the case is `incorrect`.
using TraceCheck = std::function<std::optional<std::string>(const StepTrace& trace)>;

/// The instruments that a case is measured with.
struct Instruments {
  Timer& timer;
  ClockMonitor& monitor;
  MemoryProbe* memory{};                                           // null: the device has no allocator to ask (CPU)
  StepTracer* tracer{};                                            // null: steps are not traced
  std::optional<GpuFacts> gpu;                                     // for the datasheet peak
  std::function<std::optional<std::int64_t>()> device_used_bytes;  // may be empty
  MemoryLogSink memory_log{};                                      // may be empty
  TraceCheck trace_check{};                                        // may be empty
};

/// Measures `subject`, `repetitions` times after one build and one verification.
/// A tracer that fails costs the trace, not the time: the label `trace` says why there is none.
/// Never throws for what a case can do: out of memory is `oom`, a wrong output `incorrect`, any other exception
/// `crashed` (the caller decides whether the process is still fit to go on). Interrupted passes through.
[[nodiscard]] std::vector<Record> measure_case(const CaseId& id, Case& subject, std::optional<Precision> precision,
                                               const Instruments& instruments, const SamplerOptions& options,
                                               std::int64_t repetitions, const ProgressCallback& progress,
                                               const StopRequested& stop_requested);

}  // namespace tbench::measure
