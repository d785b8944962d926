// Breaks down the part of a step outside matrix products: by class, and by the kernels that take the most time.
#include <algorithm>
#include <map>
#include <utility>

#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::non_gemm {
namespace {

using Records = std::span<const Record* const>;

bool is_other(const TracedKernel& operation) { return !is_gemm(operation); }

StudyRow row_of(const TracedPhase& phase, const std::string& name, const OperationSum& sum) {
  return {.names = {phase.name, name},
          .values = {sum.calls, to_milliseconds(sum.total), percent_of(sum.total, phase.total)},
          .detail = {}};
}

std::vector<StudyRow> by_class(Records records) {
  std::vector<StudyRow> rows;
  for (const TracedPhase& phase : traced_phases(records)) {
    for (const auto& [name, sum] : sums_by_class(phase.operations)) {
      if (name != "gemm") rows.push_back(row_of(phase, name, sum));
    }
    rows.push_back(row_of(phase, "(all)", sum_of(phase.operations, &is_other)));
  }
  return rows;
}

std::vector<StudyRow> longest(Records records) {
  std::vector<StudyRow> rows;
  for (const TracedPhase& phase : traced_phases(records)) {
    for (const TracedKernel& operation : phase.operations) {
      if (is_other(operation)) rows.push_back(kernel_row(phase, operation));
    }
  }
  return rows;
}

Study non_gemm_study() {
  return {.name = "non_gemm",
          .title = "What is no matrix product, by phase and class",
          .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
          .protocol = {.needs_trace = true},
          .row_tables = {
              {.caption = "Everything but matrix products, by class; of a step",
               .names = {"phase", "class"},
               .quantities = {{"calls", &count_text}, {"total ms", &render::format_number}, {"% of phase", &one_digit}},
               .detail = {},
               .rows_of = &by_class},
              {.caption = "The longest of each phase, at most {top}; calls and total of a step, the others of a call",
               .names = {"phase", "class"},
               .quantities = kernel_quantities(),
               .detail = "kernel",
               .rows_of = &longest,
               .has_kernels = true,
               .top = 8}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "non_gemm", .order = 140, .make = &non_gemm_study});

}  // namespace
}  // namespace tbench::studies::non_gemm
