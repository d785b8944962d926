// Counts the kernels and launches of a step, and measures for how much of the step the GPU works or waits.
#include <utility>

#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::launches {
namespace {

constexpr double kMicro = 1e6;

std::vector<StudyRow> by_phase(std::span<const Record* const> records) {
  std::vector<StudyRow> rows;
  for (const TracedPhase& phase : traced_phases(records)) {
    const OperationSum kernels = sum_of(phase.operations, &is_kernel);
    const OperationSum copies = sum_of(phase.operations, &is_copy);
    const auto mean_us = kernels.calls > 0 ? std::optional{kernels.total.value / kernels.calls * kMicro} : std::nullopt;
    rows.push_back({.names = {phase.name},
                    .values = {kernels.calls, to_milliseconds(kernels.total), mean_us, copies.calls,
                               to_milliseconds(copies.total)},
                    .detail = {}});
  }
  return rows;
}

StudyColumn percent_column(std::string header, std::string counter) {
  StudyColumn column = number_column(std::move(header), std::move(counter), 100);
  column.format = &one_digit;
  return column;
}

std::vector<StudyColumn> columns() {
  const auto milliseconds = [](Seconds StepTrace::*time) {
    return [time](const StepTrace& trace, Seconds) { return to_milliseconds(trace.*time); };
  };
  return {number_column("step ms", "median_ms"),
          number_column("GPU ms", "device_ms"),
          percent_column("idle %", "idle_share"),
          percent_column("host %", "host_share"),
          number_column("us per launch", "launch_budget_us"),
          trace_column(
              "kernels", [](const StepTrace& trace, Seconds) { return kernels_per_step(trace); }, &count_text),
          trace_column(
              "launches", [](const StepTrace& trace, Seconds) { return trace.launches; }, &count_text),
          trace_column("host gaps ms", milliseconds(&StepTrace::host_gaps), &render::format_number),
          trace_column("device gaps ms", milliseconds(&StepTrace::device_gaps), &render::format_number),
          trace_column(
              "longest gap us", [](const StepTrace& trace, Seconds) { return trace.longest_gap.value * kMicro; },
              &render::format_number)};
}

Study launches_study() {
  return {.name = "launches",
          .title = "Kernels and launches of a step, and how long the GPU waits",
          .grids = traced_grid({"forward", "forward_backward", "train_step"}, {"fp32", "bf16"}),
          .protocol = {.needs_trace = true},
          .tables = {{.caption = "The step is the untraced median, GPU the GPU's own time in it, idle the part that "
                                 "the GPU did not work, host "
                                 "that without the queue's own gaps (over 3: host-bound), and us per launch the time "
                                 "that the host has for each (under 25: sensitive to the host). Gaps are of the traced "
                                 "steps: the host's, whose next launch came too late, and the device's own. The replay "
                                 "of a CUDA graph is one launch",
                      .spread = {},
                      .columns = columns()}},
          .row_tables = {{.caption = "By phase, of a step",
                          .names = {"phase"},
                          .quantities = {{"kernels", &count_text},
                                         {"kernels ms", &render::format_number},
                                         {"mean us", &render::format_number},
                                         {"copies and fills", &count_text},
                                         {"copies ms", &render::format_number}},
                          .detail = {},
                          .rows_of = &by_phase}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "launches", .order = 180, .make = &launches_study});

}  // namespace
}  // namespace tbench::studies::launches
