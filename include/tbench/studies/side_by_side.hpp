// Tables that compare measurements of the same work: by several implementations, in several processes, by PyTorch, by
// Nsight Compute, and by one build measured twice.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/render/table.hpp"
#include "tbench/results/companion_files.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::studies {

/// Some parameters of a case: `impl:flash`, `precision:tf32/impl:flash`.
using Selector = std::vector<CaseId::Parameter>;

/// Parses `key:value/key:value`.
/// @throws  UsageError  naming `flag` and the value, for any other text
[[nodiscard]] Selector parse_selector(const std::string& text, const std::string& flag);

/// Returns the values without their keys, separated by blanks. The rows of these tables are named like this.
[[nodiscard]] std::string values_of(std::span<const CaseId::Parameter> parameters);

/// Options that select the numerators and the denominator of ratio_table().
struct RatioOptions {
  std::vector<Selector> of;       // at least one; a cell with a single ratio has the fastest of them
  Selector over;                  // the denominator's parameters; it has all others in common with the `of` cases
  std::string pivot;              // parameter with a column per value; if empty, there is a row per case
  std::vector<std::string> rows;  // with a pivot: the parameters that name a row
  std::string filter;             // for case names without the parameters of `over`; if empty, selects all
};

/// Divides the times of `of` by the times of `over`. Above 1, `over` is faster. If the host limits a side and traces
/// give the GPU's own times for both sides, the table divides these times instead.
///
/// With a pivot, the table has a row for each combination of the values of `rows`, and a column for each number that
/// the pivot's parameter has. A cell has the ratio of the fastest `of`, after its name if there are several. A last
/// column has marks: `~` if `over` is resolution limited, `d` if the GPU's own times are divided, `h` if a host limits
/// either side and the GPU's own times are unknown, `*` if either side is not `ok`.
///
/// Without a pivot, the table has a row per case: the time and the rate of `over`, each ratio, the fastest `of`, and
/// the marks. Both sides are taken from one file that has both, or else from files of the same GPU. A later file
/// takes precedence.
/// @param results  not empty
/// @throws         UsageError  if no row is left, a parameter is unknown, or the filter is not a regular expression
[[nodiscard]] render::Table ratio_table(std::span<const results::NamedResults> results, const RatioOptions& options);

/// Returns a row for each case with a time in at least three processes: the medians and their range, the SM clocks, the
/// range of the medians in clock cycles, and whether the peaks of memory are equal to the byte. A polled clock is shown
/// as its mean if the record has one, otherwise as its median.
/// @param results  in the order shown, each from one or more processes; the last one decides the cases and their order
/// @throws         UsageError  if there is no such case
[[nodiscard]] render::Table repeat_table(std::span<const results::NamedResults> results);

/// Returns a breakdown of a run's own time, with a row per family and a last row for all families. A row has the number
/// of entries with a time, the host's seconds for them, and each part of these seconds. In percent, it has what a part
/// adds to the time without it. The start of the process, ceilings apart from their cases, and cases without a time do
/// not count.
/// @throws  UsageError  if no record has host times
[[nodiscard]] render::Table host_times_table(std::span<const results::NamedResults> results);

/// Returns a row for each case that was timed in PyTorch too, with both times and their ratio. If several files have a
/// case, the first one counts. The rows of ceilings have the rates of all processes, their range, and the ratio of the
/// median to PyTorch's rate.
/// @throws  UsageError  if no case is in both
[[nodiscard]] render::Table pytorch_table(std::span<const results::PytorchTime> pytorch,
                                          std::span<const results::NamedResults> results);

/// Returns the ten kernels that take the most time in the traced step and that Nsight Compute timed too, in descending
/// order of time. A row has the calls per step, the microseconds per call by trace and by Nsight Compute, and the
/// percentage by which the trace's time is longer.
/// @throws  UsageError  if no file has the case, the case has no trace, or no kernel is in both
[[nodiscard]] render::Table ncu_table(const results::NcuTimes& ncu, std::span<const results::NamedResults> results);

/// Returns a row per case: the differences between two sets of results from the same build, without and with an
/// injected slowdown.
[[nodiscard]] render::Table self_comparison_table(std::span<const results::SelfComparison> cases);

/// Returns a table with a row per file.
[[nodiscard]] render::Table manifest_table(std::span<const results::ManifestEntry> files);

}  // namespace tbench::studies
