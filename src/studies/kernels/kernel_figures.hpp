// Figures that the studies of kernels share: which kernels count as what, shares, attention's FLOP, and a kernel as a
// row of a table.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "studies/engine/study_traces.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::studies {

[[nodiscard]] bool is_gemm(const TracedKernel& operation);
/// A copy or a fill: an operation that is no kernel.
[[nodiscard]] bool is_copy(const TracedKernel& operation);
[[nodiscard]] bool is_kernel(const TracedKernel& operation);

/// The sum of operations, per step.
struct OperationSum {
  double calls{};
  Seconds total{};
  void add(const TracedKernel& operation);
};
/// Returns the sum of the operations for which `counts` is true.
[[nodiscard]] OperationSum sum_of(std::span<const TracedKernel> operations, bool (*counts)(const TracedKernel&));

/// The longest first.
[[nodiscard]] std::vector<std::pair<std::string, OperationSum>> sums_by_class(std::span<const TracedKernel> operations);

/// Returns the share in percent; 0 of nothing.
[[nodiscard]] double percent_of(Seconds part, Seconds whole);

[[nodiscard]] std::string one_digit(double value);
/// A count per step: whole where it is, as calls that not every step makes are not.
[[nodiscard]] std::string count_text(double value);

/// Calls per step, total ms per step, % of phase; mean, std, min and max us of a call.
[[nodiscard]] std::vector<StudyQuantity> kernel_quantities();
/// Named by its phase and class, with those quantities; its whole name is the detail.
[[nodiscard]] StudyRow kernel_row(const TracedPhase& phase, const TracedKernel& kernel);

/// Returns the forward time by the timer's events, untraced: for a case of one phase the step is the phase.
[[nodiscard]] std::optional<Seconds> forward_time(const Record& record);
/// The range of a phase of a step: FORWARD of `forward`; null where it has none.
[[nodiscard]] const TracedRange* phase_range(std::span<const TracedRange> ranges, std::string_view phase);

/// Makes a column that `value` computes from a record's trace and median step time. The cell is empty if the record
/// has no trace or no timing.
[[nodiscard]] StudyColumn trace_column(std::string header, std::function<double(const StepTrace&, Seconds step)> value,
                                       std::function<std::string(double)> format);

/// Cases of the course's model whose kernels are traced.
[[nodiscard]] std::vector<FamilyGrid> traced_grid(std::vector<std::string> pass, std::vector<std::string> precision);

/// The FLOP of one forward pass over all layers.
struct AttentionFlop {
  double softmax{};  // 5 B H S^2: maximum, difference, exponential, sum, quotient
  double matmul{};   // 4 B H S^2 D: Q K^T, and weights V
};

/// Returns the FLOP of a case of Model, or nullopt for a size that is not built in: its record lacks the number of
/// heads.
[[nodiscard]] std::optional<AttentionFlop> attention_flop(const CaseId& id);

}  // namespace tbench::studies
