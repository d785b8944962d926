// Tables that set measurements of the same work side by side: implementations, processes, PyTorch, Nsight Compute,
// a build and itself.
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

/// @throws  UsageError  naming `flag` and the value, for a text that is not `key:value/key:value`
[[nodiscard]] Selector parse_selector(const std::string& text, const std::string& flag);

/// The values without their keys, one blank apart: how the rows of these tables are named.
[[nodiscard]] std::string values_of(std::span<const CaseId::Parameter> parameters);

/// Which times are divided by which.
struct RatioOptions {
  std::vector<Selector> of;       // at least one; of several the fastest is taken where a cell has one ratio
  Selector over;                  // the same case but for these parameters and those of `of`
  std::string pivot;              // parameter with a column per value; if empty, there is a row per case
  std::vector<std::string> rows;  // with a pivot: the parameters that a row is named by
  std::string filter;             // for case names without the parameters of `over`; if empty, selects all
};

/// Times of `of` over times of `over`: above 1, `over` is faster. Where the host limits a side and traces tell both,
/// the GPU's own times are divided. With a pivot, a row for each combination of the values of `rows` and a column for
/// each number that the pivot's parameter has: the ratio of the fastest `of`, its letter where there are several; and a
/// column of marks: `~` where `over` is resolution limited, `d` where the GPU's own times are divided, `h` where a host
/// limits either and they are unknown, `*` where either is not `ok`. Without a pivot, a row per case: the time and the
/// rate of `over`, each ratio, the fastest `of`, and marks. Both sides are of one file where it has both, otherwise of
/// files of the same GPU; a later file wins.
/// @param results  not empty
/// @throws         UsageError  where nothing is left, a parameter is unknown, or the filter is no regular expression
[[nodiscard]] render::Table ratio_table(std::span<const results::NamedResults> results, const RatioOptions& options);

/// Cases that have a time in at least three processes: medians, their range, SM clocks (the mean of a polled clock
/// where the record has it, otherwise its median), the range of the medians' cycles, and whether peaks are the same
/// bytes.
/// @param results  in the order shown, each of one process or several; the last one decides the cases and their
/// order
/// @throws         UsageError  if there is no such case
[[nodiscard]] render::Table repeat_table(std::span<const results::NamedResults> results);

/// The use of a run's own time, one row per family and all of them in the last: entries that have a time, the host's
/// seconds for them, and each part of these seconds, with what it adds to the time without it, in percent. A process's
/// start, ceilings apart from their cases, and cases without a time are not counted.
/// @throws  UsageError  if no record has host times
[[nodiscard]] render::Table host_times_table(std::span<const results::NamedResults> results);

/// Cases that PyTorch was timed on too: both times and their ratio; if several files have a case, the first one counts.
/// For ceilings: the rates of all processes, their range, and the ratio of the median to PyTorch's rate.
/// @throws  UsageError  if no case is in both
[[nodiscard]] render::Table pytorch_table(std::span<const results::PytorchTime> pytorch,
                                          std::span<const results::NamedResults> results);

/// The ten kernels that take most of the traced step and that Nsight Compute timed too, the longest first: calls per
/// step, microseconds per call by either, and by how many percent the trace's are longer.
/// @throws  UsageError  if the case is in no file, has no trace, or shares no kernel
[[nodiscard]] render::Table ncu_table(const results::NcuTimes& ncu, std::span<const results::NamedResults> results);

/// A row per case: the differences between two sets of one build, and with an injected slowdown.
[[nodiscard]] render::Table self_comparison_table(std::span<const results::SelfComparison> cases);

/// A row per file.
[[nodiscard]] render::Table manifest_table(std::span<const results::ManifestEntry> files);

}  // namespace tbench::studies
