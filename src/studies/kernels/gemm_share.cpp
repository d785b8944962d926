// Compares the share of matrix products in a step of inference and of training.
#include <utility>

#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::gemm_share {
namespace {

double share_of_kernels(const StepTrace& trace, Seconds) {
  return percent_of(sum_of(trace.kernels, &is_gemm).total, sum_of(trace.kernels, &is_kernel).total);
}

double share_of_step(const StepTrace& trace, Seconds step) {
  return percent_of(sum_of(trace.kernels, &is_gemm).total, step);
}

std::vector<StudyRow> by_phase(std::span<const Record* const> records) {
  std::vector<StudyRow> rows;
  for (const TracedPhase& phase : traced_phases(records)) {
    const Seconds products = sum_of(phase.operations, &is_gemm).total;
    const Seconds kernels = sum_of(phase.operations, &is_kernel).total;
    rows.push_back({.names = {phase.name},
                    .values = {to_milliseconds(products), to_milliseconds(kernels), percent_of(products, kernels)},
                    .detail = {}});
  }
  return rows;
}

Study gemm_share_study() {
  return {.name = "gemm_share",
          .title = "The share of matrix products in inference and in training",
          .grids = traced_grid({"forward", "forward_backward", "train_step"}, {"fp32", "bf16"}),
          .protocol = {.needs_trace = true},
          .tables = {{.caption = "Time of matrix products over that of all kernels, and over the step; changes from "
                                 "the forward pass alone, in percentage points",
                      .spread = {"pass"},
                      .columns = {trace_column("of kernels %", &share_of_kernels, &one_digit),
                                  trace_column("of step %", &share_of_step, &one_digit)},
                      .speed_up = StudySpeedUp{.base = {{"pass", "forward"}}, .as = StudyComparison::kPoints}}},
          .row_tables = {{.caption = "The same by phase; ms of a step",
                          .names = {"phase"},
                          .quantities = {{"matrix products ms", &render::format_number},
                                         {"kernels ms", &render::format_number},
                                         {"of kernels %", &one_digit}},
                          .detail = {},
                          .rows_of = &by_phase}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "gemm_share", .order = 150, .make = &gemm_share_study});

}  // namespace
}  // namespace tbench::studies::gemm_share
