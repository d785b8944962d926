// The only way from a case to a record: build, verify, warm up, sample, memory pass, trace, verify again. Failures
// become the record's status.
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

/// Receives the log of a memory pass. Must not throw.
using MemoryLogSink = std::function<void(const AllocationLog& log, std::span<const LoggedStep> steps)>;

/// Checks that the traced step is the step that the case's name promises. Returns the reason if it is not, which makes
/// the case `incorrect`, and nullopt otherwise.
using TraceCheck = std::function<std::optional<std::string>(const StepTrace& trace)>;

/// The instruments with which a case is measured.
struct Instruments {
  Timer& timer;
  ClockMonitor& monitor;
  MemoryProbe* memory{};        // null on a device without an allocator to query (CPU)
  StepTracer* tracer{};         // null if steps are not traced
  std::optional<GpuFacts> gpu;  // GPU whose datasheet peaks the record gets
  std::function<std::optional<std::int64_t>()> device_used_bytes;  // may be empty
  MemoryLogSink memory_log{};                                      // may be empty
  TraceCheck trace_check{};                                        // may be empty
};

/// Measures `subject` `repetitions` times after one build and one verification.
/// If the tracer fails, the times are kept, and the label `trace` gives the reason.
/// Never throws because of the case itself: out of memory becomes `oom`, wrong output `incorrect`, any other exception
/// `crashed` (the caller decides whether the process can measure further cases). Interrupted passes through.
[[nodiscard]] std::vector<Record> measure_case(const CaseId& id, Case& subject, std::optional<Precision> precision,
                                               const Instruments& instruments, const SamplerOptions& options,
                                               std::int64_t repetitions, const ProgressCallback& progress,
                                               const StopRequested& stop_requested);

}  // namespace tbench::measure
