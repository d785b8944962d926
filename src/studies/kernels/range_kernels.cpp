// Lists the kernels of each range: the operations that its own code launched, outside its inner ranges.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/profile/kernel_name.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::range_kernels {
namespace {

/// Returns the outermost range around a range: its phase.
std::string phase_of(const std::string& range) { return range.substr(0, range.find('/')); }

/// Returns a row per range and kernel: its calls and its time, per step.
std::vector<TracedRow> rows_of(const StepTrace& trace) {
  std::vector<TracedRow> rows;
  for (const TracedRangeKernel& in_range : trace.range_kernels) {
    const TracedKernel& kernel = trace.kernels.at(in_range.kernel);
    rows.push_back({.names = {trace.ranges.at(in_range.range).path, kernel.kernel_class,
                              profile::current_kernel_name(kernel.name)},
                    .values = {in_range.calls, in_range.total.value}});
  }
  return rows;
}

std::vector<StudyRow> by_range(std::span<const Record* const> records) {
  constexpr double kMicro = 1e6;
  const std::vector<TracedRow> kernels = traced_rows(records, &rows_of);
  std::map<std::string, Seconds> totals;  // by range
  std::map<std::string, Seconds> phases;
  for (const TracedRow& kernel : kernels) {
    const Seconds time{kernel.values[1]};
    totals[kernel.names[0]] = totals[kernel.names[0]] + time;
    phases[phase_of(kernel.names[0])] = phases[phase_of(kernel.names[0])] + time;
  }
  std::vector<StudyRow> rows;
  for (const TracedRow& kernel : kernels) {
    const double calls = kernel.values[0];
    const Seconds total{kernel.values[1]};
    rows.push_back(
        {.names = {kernel.names[0], kernel.names[1]},
         .values = {calls, to_milliseconds(total), total.value / calls * kMicro,
                    percent_of(total, totals[kernel.names[0]]), percent_of(total, phases[phase_of(kernel.names[0])])},
         .detail = kernel.names[2]});
  }
  return rows;
}

Study range_kernels_study() {
  return {
      .name = "range_kernels",
      .title = "The kernels of each range",
      .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
      .protocol = {.needs_trace = true},
      .row_tables = {{.caption = "The longest kernels, copies and fills of each range, at most {top}, without those "
                                 "of its inner ranges. Calls and total of a step, the mean of a call; percentages "
                                 "are of the range's own operations, and of all operations in the phase's ranges",
                      .names = {"range", "class"},
                      .quantities = {{"calls", &count_text},
                                     {"total ms", &render::format_number},
                                     {"mean us", &render::format_number},
                                     {"% of range", &one_digit},
                                     {"% of phase", &one_digit}},
                      .detail = "kernel",
                      .rows_of = &by_range,
                      .has_kernels = true,
                      .top = 8}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "range_kernels", .order = 124, .make = &range_kernels_study});

}  // namespace
}  // namespace tbench::studies::range_kernels
