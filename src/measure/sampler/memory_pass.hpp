// The memory pass, which measures how much memory a step needs from the allocator.
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

/// Returns the memory peaks of two untimed steps of a built case, and the contents of the memory at the peak. If the
/// case replays a CUDA graph, measures a single step that records the graph again, because a replay allocates nothing.
/// Synchronises.
/// @param sink  receives the log; may be empty
[[nodiscard]] MemoryUse measure_memory(Case& subject, Timer& timer, MemoryProbe& probe, const MemoryLogSink& sink);

/// Adds the memory of the phases of a log's last step, and of the moment of the peak: the last moment if several are
/// equal. Fills everything except the allocator's own peaks.
/// @param marks  tensors that the case held when a step was enqueued, at the end of each phase, and at the end
/// @return       bytes at the log's peak
std::int64_t add_log(MemoryUse& use, const AllocationLog& log, std::span<const LoggedStep> steps,
                     std::span<const std::string_view> phases, std::span<const LiveTensors> marks);

}  // namespace tbench::measure
