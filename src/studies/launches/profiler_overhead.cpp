// Measures the overhead that tracing adds to a step. Also compares the time of the forward pass by its range with the
// time by the timer's events.
#include <optional>
#include <string>
#include <utility>

#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::profiler_overhead {
namespace {

using OfRange = Seconds TracedRange::*;

/// Returns a column with a time of the range FORWARD in the traced steps, in milliseconds.
StudyColumn forward_column(std::string header, OfRange time) {
  return {.header = std::move(header),
          .value = [time](const Record& record) -> std::optional<double> {
            const TracedRange* const range = record.trace ? phase_range(record.trace->ranges, "forward") : nullptr;
            return range == nullptr ? std::nullopt : std::optional{to_milliseconds(range->*time)};
          },
          .format = &render::format_number};
}

std::optional<double> forward_ms(const Record& record) {
  const std::optional<Seconds> time = forward_time(record);
  return time ? std::optional{to_milliseconds(*time)} : std::nullopt;
}

double traced_percent(const StepTrace& trace, Seconds step) { return percent_of(trace.span, step); }

Study profiler_overhead_study() {
  return {.name = "profiler_overhead",
          .title = "A traced step beside one that is not, and ranges beside events",
          .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
          .protocol = {.needs_trace = true},
          .tables = {
              {.caption = "Untraced: the median step. The forward pass by the timer's events, untraced, and by the "
                          "range FORWARD, traced: the host's time inside, and from the first of its operations on "
                          "the GPU to the last one's end",
               .spread = {},
               .columns = {number_column("untraced ms", "median_ms"),
                           trace_column(
                               "traced ms", [](const StepTrace& trace, Seconds) { return to_milliseconds(trace.span); },
                               &render::format_number),
                           trace_column("traced % of untraced", &traced_percent, &one_digit),
                           {.header = "forward: events ms", .value = &forward_ms, .format = &render::format_number},
                           forward_column("range, host ms", &TracedRange::host),
                           forward_column("range, GPU ms", &TracedRange::gpu_span)}}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "profiler_overhead", .order = 110, .make = &profiler_overhead_study});

}  // namespace
}  // namespace tbench::studies::profiler_overhead
