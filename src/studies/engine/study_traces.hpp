// Derives from the traces of a case's records the figures of its kernels, and the remarks on traces next to a table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "studies/engine/study_cells.hpp"
#include "tbench/core/record.hpp"

namespace tbench::studies {

/// The operations of one phase of a step, the longest first.
struct TracedPhase {
  std::string name;
  std::vector<TracedKernel> operations;  // kernels, copies and fills
  Seconds total;                         // of all of them, a step
};

/// A step's phases in their order. For several records each figure is the median over the traced ones, where one that
/// did not launch a kernel counts as 0; the shortest and the longest call come from all of them. Kernels that most
/// records did not launch are left out.
[[nodiscard]] std::vector<TracedPhase> traced_phases(std::span<const Record* const> records);

/// Forward and backward as one phase: an operation that both have has one entry. Returns nullopt unless both are there.
[[nodiscard]] std::optional<TracedPhase> forward_and_backward(std::span<const TracedPhase> phases);

/// The ranges of a step, and what follows from them.
struct TracedRanges {
  std::vector<TracedRange> ranges;
  std::vector<TracedPart> parts;
  std::vector<TracedAttention> attention;
  Seconds gpu_sum;  // of all operations, those of no range too
};

/// For several records each figure is the median over the records that have the range; the shortest and the longest
/// call come from all of them. Ranges that most records do not have are left out.
[[nodiscard]] TracedRanges traced_ranges(std::span<const Record* const> records);

/// Cases without a trace, traces that lack operations, and time of kernels that no rule knows.
[[nodiscard]] std::vector<std::string> trace_notes(const StudyCells& cells);

}  // namespace tbench::studies
