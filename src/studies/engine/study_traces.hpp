// Derives the figures of kernels and ranges from the traces of a case's records, and the notes on traces below a table.
#pragma once

#include <functional>
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
  Seconds total;                         // sum of the operations' times, per step
};

/// Returns a step's phases in their order. For several records, each figure is the median over the traced records, and
/// a record that did not launch a kernel counts as 0. The shortest and the longest call are taken over all records.
/// Kernels that most records did not launch are left out.
[[nodiscard]] std::vector<TracedPhase> traced_phases(std::span<const Record* const> records);

/// Returns several phases as one, in which an operation of several phases has one entry. The calls of such an entry
/// have no standard deviation.
[[nodiscard]] TracedPhase joined_phase(std::string name, std::span<const TracedPhase> phases);

/// Returns forward and backward as one phase. Returns nullopt unless both phases exist.
[[nodiscard]] std::optional<TracedPhase> forward_and_backward(std::span<const TracedPhase> phases);

/// The ranges of a step, and the parts and attention times derived from them.
struct TracedRanges {
  std::vector<TracedRange> ranges;
  std::vector<TracedPart> parts;
  std::vector<TracedAttention> attention;
  Seconds gpu_sum;  // sum of the times of all operations, including operations outside every range
};

/// Returns a step's ranges. For several records, each figure is the median over the records that have the range, and
/// the shortest and the longest call are taken over all of them. Ranges that most records do not have are left out.
[[nodiscard]] TracedRanges traced_ranges(std::span<const Record* const> records);

/// Returns the times of attention's core in the forward pass, or nullopt without them.
[[nodiscard]] std::optional<TracedAttention> forward_attention(std::span<const Record* const> records);

/// Numbers of a trace under a name of several parts.
struct TracedRow {
  std::vector<std::string> names;
  std::vector<double> values;
};

/// Returns the rows of a step. For several records, each value is the median over the traced records that have the row.
/// Rows that most of them do not have are left out. The rows are in the order in which they first occur.
/// @param rows_of  returns the rows of one trace, each with the same number of values; the values of rows with the same
///                 names are added up
[[nodiscard]] std::vector<TracedRow> traced_rows(
    std::span<const Record* const> records, const std::function<std::vector<TracedRow>(const StepTrace&)>& rows_of);

/// Returns notes on cases without a trace, traces that lack operations, and the time of kernels that no rule matches.
[[nodiscard]] std::vector<std::string> trace_notes(const StudyCells& cells);

}  // namespace tbench::studies
