// The memory pass, which measures the memory that a step needs of the allocator.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/core/record.hpp"
#include "tbench/measure/measure_case.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// Peaks of two steps of a case that was built, or of one that records, untimed, with what was live at the peak.
/// Synchronises.
/// @param sink  gets the log; may be empty
[[nodiscard]] MemoryUse measure_memory(Case& subject, Timer& timer, MemoryProbe& probe, const MemoryLogSink& sink);

/// Adds the memory of the phases of a log's last step, and of the moment at which the bytes peaked: the last one if
/// there are several. Fills everything but the allocator's own peaks.
/// @param marks  what the case held when a step was enqueued and at the end of each phase, and in the end
/// @return       the bytes of the log's peak
std::int64_t add_log(MemoryUse& use, const AllocationLog& log, std::span<const LoggedStep> steps,
                     std::span<const std::string_view> phases, std::span<const LiveTensors> marks);

}  // namespace tbench::measure
