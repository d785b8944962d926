// Functions that the studies of kernels share: the classification of operations, shares in percent, and the table
// row of a kernel.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "studies/engine/study_traces.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::studies {

[[nodiscard]] bool is_gemm(const TracedKernel& operation);
/// Returns whether the operation is a copy or a fill, which means that it is not a kernel.
[[nodiscard]] bool is_copy(const TracedKernel& operation);
[[nodiscard]] bool is_kernel(const TracedKernel& operation);

/// The number of calls and the total time of several operations, per step.
struct OperationSum {
  double calls{};
  Seconds total{};
  void add(const TracedKernel& operation);
};
/// Returns the sum of the operations for which `counts` is true.
[[nodiscard]] OperationSum sum_of(std::span<const TracedKernel> operations, bool (*counts)(const TracedKernel&));

/// Returns the sum of each kernel class, in descending order of total time.
[[nodiscard]] std::vector<std::pair<std::string, OperationSum>> sums_by_class(std::span<const TracedKernel> operations);

/// Returns `part` as a percentage of `whole`, or 0 if `whole` is not positive.
[[nodiscard]] double percent_of(Seconds part, Seconds whole);

/// Formats the value with one decimal place.
[[nodiscard]] std::string one_digit(double value);
/// Formats a count per step. The count is an integer unless some steps differ, for example in a call that not every
/// step makes.
[[nodiscard]] std::string count_text(double value);

/// Returns the quantities of a kernel: calls per step, total milliseconds per step and percent of the phase, then the
/// mean, standard deviation, minimum and maximum of a call in microseconds.
[[nodiscard]] std::vector<StudyQuantity> kernel_quantities();
/// Returns the kernel's row. Its names are the phase and the class, its values follow kernel_quantities(), and its
/// detail is the kernel's full name.
[[nodiscard]] StudyRow kernel_row(const TracedPhase& phase, const TracedKernel& kernel);

/// Returns the median time of the forward pass in the untraced steps, measured by events. In a case without phases, the
/// whole step counts as forward. Returns nullopt without a timing or a phase `forward`.
[[nodiscard]] std::optional<Seconds> forward_time(const Record& record);
/// Returns the outermost range of a phase, such as FORWARD for `forward`, or null if there is none.
[[nodiscard]] const TracedRange* phase_range(std::span<const TracedRange> ranges, std::string_view phase);

/// Returns the phase with this name, or null if there is none or it has no operations.
[[nodiscard]] const TracedPhase* phase_named(std::span<const TracedPhase> phases, std::string_view name);

/// Returns the GPU's time for the ranges with one of these names within the forward pass, summed over its layers.
[[nodiscard]] Seconds forward_time_of(const StepTrace& trace, std::initializer_list<std::string_view> names);

/// Returns a column whose values `value` computes from a record's trace and median step time. The cell is empty if the
/// record has no trace or no timing.
[[nodiscard]] StudyColumn trace_column(std::string header, std::function<double(const StepTrace&, Seconds step)> value,
                                       std::function<std::string(double)> format);

/// Returns the grid of the course's model with context lengths from 128 to 1024, whose kernels the studies trace.
[[nodiscard]] std::vector<FamilyGrid> traced_grid(std::vector<std::string> pass, std::vector<std::string> precision);

}  // namespace tbench::studies
