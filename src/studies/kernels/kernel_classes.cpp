// Breaks the GPU's time down by class of operation, for each phase and for the step.
#include <utility>

#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::kernel_classes {
namespace {

std::vector<StudyRow> by_class(std::span<const Record* const> records) {
  std::vector<TracedPhase> phases = traced_phases(records);
  TracedPhase step = joined_phase("(step)", phases);
  const Seconds whole = step.total;
  if (phases.size() > 1) phases.push_back(std::move(step));
  std::vector<StudyRow> rows;
  for (const TracedPhase& phase : phases) {
    for (const auto& [name, sum] : sums_by_class(phase.operations)) {
      rows.push_back({.names = {phase.name, name},
                      .values = {sum.calls, to_milliseconds(sum.total), percent_of(sum.total, phase.total),
                                 percent_of(sum.total, whole)},
                      .detail = {}});
    }
  }
  return rows;
}

Study kernel_classes_study() {
  return {.name = "kernel_classes",
          .title = "The GPU's time by class of operation",
          .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
          .protocol = {.needs_trace = true},
          .row_tables = {{.caption = "Operations and their time, of a step; a cast is a copy to another type",
                          .names = {"phase", "class"},
                          .quantities = {{"operations", &count_text},
                                         {"total ms", &render::format_number},
                                         {"% of phase", &one_digit},
                                         {"% of step", &one_digit}},
                          .detail = {},
                          .rows_of = &by_class}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "kernel_classes", .order = 160, .make = &kernel_classes_study});

}  // namespace
}  // namespace tbench::studies::kernel_classes
