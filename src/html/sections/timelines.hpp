// Charts of the timelines in a record: the memory over a step, and one layer on the host and on the GPU.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "tbench/core/allocation_log.hpp"
#include "tbench/core/step_trace.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::html {

/// The colour slots of the outermost parts of a step, in their order.
inline constexpr std::array<std::size_t, 8> kPartSlots{2, 1, 6, 7, 3, 4, 5, 9};

/// Returns whether the chart of the timeline has an area.
[[nodiscard]] bool has_bytes(const MemoryTimeline& timeline);

/// Returns the chart of a step's memory by range. Slot 0 is the memory from before the step.
/// @param name  begin of the title; may be empty
/// @param timeline  has at least two points, and bytes
[[nodiscard]] std::string memory_chart(const MemoryTimeline& timeline, const std::string& name);

/// Returns a `figure` with rows for the ranges by depth, for the calls of the CUDA API, and for the GPU's operations.
/// All rows have the same scale. If the GPU begins the layer after the host has left it, the GPU's row begins at its
/// first operation, and its label says how much later that is. Texts are escaped.
/// @param name   begin of the title
/// @param layer  has an entry of positive length
/// @throws       std::invalid_argument  for any other layer
[[nodiscard]] std::string layer_chart(const studies::LayerFigure& layer, const std::string& name);

}  // namespace tbench::html
