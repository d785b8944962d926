// Shows how long the GPU waits, and what for: by phase and by range.
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::gaps {
namespace {

constexpr double kMilli = 1e3;
constexpr double kMicro = 1e6;

std::optional<double> per(double time_s, double count) {
  return count > 0 ? std::optional{kMicro * time_s / count} : std::nullopt;
}

std::vector<StudyRow> by_phase(std::span<const Record* const> records) {
  const auto rows_of = [](const StepTrace& trace) {
    std::vector<TracedRow> rows;
    for (const PhaseTrace& phase : trace.phases) {
      if (phase.span.value <= 0) continue;
      rows.push_back(
          {.names = {phase.phase},
           .values = {phase.span.value, phase.host_gaps.value, phase.device_gaps.value, phase.other_gaps.value}});
    }
    return rows;
  };
  std::vector<StudyRow> rows;
  for (const TracedRow& phase : traced_rows(records, rows_of)) {
    const auto [span, host, device, other] =
        std::tuple{phase.values[0], phase.values[1], phase.values[2], phase.values[3]};
    rows.push_back({.names = phase.names,
                    .values = {kMilli * span, kMilli * host, kMilli * device, kMilli * other,
                               100 * (host + device + other) / span},
                    .detail = {}});
  }
  return rows;
}

std::vector<StudyRow> by_range(std::span<const Record* const> records) {
  const auto rows_of = [](const StepTrace& trace) {
    std::vector<TracedRow> rows;
    for (const TracedRange& range : trace.ranges) {
      if (!range.host_gaps || !range.device_gaps || range.operations <= 0) continue;
      rows.push_back(
          {.names = {range.path},
           .values = {range.operations, range.gpu_sum.value, range.host_gaps->value, range.device_gaps->value}});
    }
    return rows;
  };
  std::vector<StudyRow> rows;
  for (const TracedRow& range : traced_rows(records, rows_of)) {
    const auto [operations, gpu, host, device] =
        std::tuple{range.values[0], range.values[1], range.values[2], range.values[3]};
    rows.push_back({.names = range.names,
                    .values = {operations, kMilli * gpu, kMilli * host, kMilli * device, per(gpu, operations),
                               per(host, operations), per(device, operations)},
                    .detail = {}});
  }
  return rows;
}

Study gaps_study() {
  return {
      .name = "gaps",
      .title = "Gaps of the GPU by cause, phase and range",
      .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
      .protocol = {.needs_trace = true},
      .row_tables = {
          {.caption = "By phase of a traced step, from its first operation to the end of its last. In a host gap the "
                      "queue is empty. In a device gap the next operation has been launched. In another one the launch "
                      "is unknown, or no operation of the phase follows",
           .names = {"phase"},
           .quantities = {{"span ms", &render::format_number},
                          {"host gaps ms", &render::format_number},
                          {"device gaps ms", &render::format_number},
                          {"other gaps ms", &render::format_number},
                          {"gaps %", &one_digit}},
           .detail = {},
           .rows_of = &by_phase},
          {.caption = "By range, with its inner ranges: the gaps before its operations, of a step and per operation",
           .names = {"range"},
           .quantities = {{"operations", &count_text},
                          {"GPU ms", &render::format_number},
                          {"host gaps ms", &render::format_number},
                          {"device gaps ms", &render::format_number},
                          {"us an operation", &render::format_number},
                          {"host gap us", &render::format_number},
                          {"device gap us", &render::format_number}},
           .detail = {},
           .rows_of = &by_range}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "gaps", .order = 182, .make = &gaps_study});

}  // namespace
}  // namespace tbench::studies::gaps
