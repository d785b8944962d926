// Measures the overhead that tracing adds to a step. Also compares the time of the forward pass by its range with the
// time by the timer's events.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "studies/engine/sentences.hpp"
#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::profiler_overhead {
namespace {

using OfRange = Seconds TracedRange::*;

/// Returns a time of the range FORWARD in the traced steps, in milliseconds.
std::optional<double> range_ms(const Record& record, OfRange time) {
  const TracedRange* const range = record.trace ? phase_range(record.trace->ranges, "forward") : nullptr;
  return range == nullptr ? std::nullopt : std::optional{to_milliseconds(range->*time)};
}

StudyColumn forward_column(std::string header, OfRange time) {
  return {.header = std::move(header),
          .value = [time](const Record& record) { return range_ms(record, time); },
          .format = &render::format_number};
}

std::optional<double> forward_ms(const Record& record) {
  const std::optional<Seconds> time = forward_time(record);
  return time ? std::optional{to_milliseconds(*time)} : std::nullopt;
}

double traced_percent(const StepTrace& trace, Seconds step) { return percent_of(trace.span, step); }

/// Returns what tracing does to the forward pass of a case, or an empty text without both times.
std::string sentence(const StudyMeasurements& all, const CaseId& id) {
  const auto untraced = median_of(all.records_of(id), std::function{&forward_ms});
  const auto traced =
      median_of(all.records_of(id), [](const Record& record) { return range_ms(record, &TracedRange::host); });
  const auto on_gpu = median_of(all.records_of(id), "device_ms");
  if (!untraced || !traced || !on_gpu || *untraced <= 0) return "";
  constexpr double kAgree = 0.05;  // of the untraced time
  const double slower = *traced / *untraced - 1;
  const std::string cause = slower > 0
                                ? "tracing slows each launch by the host"
                                : "the host leaves its range when it has enqueued the last kernel, before the GPU has "
                                  "finished";
  const std::string change = std::abs(slower) <= kAgree
                                 ? fmt::format("{:+.1f} %", 100 * slower)
                                 : fmt::format("{:+.0f} %: {}; the GPU's own time is {} ms", 100 * slower, cause,
                                               render::format_number(*on_gpu));
  return fmt::format(
      "Forward of {} with {} tokens in {}: {} ms by events without tracing, {} ms by the host's time in "
      "its range while tracing ({}).",
      id.at("size"), id.at("ctx"), id.at("precision"), render::format_number(*untraced), render::format_number(*traced),
      change);
}

/// Returns a sentence for the smallest size in each precision.
std::vector<std::string> sentences(const StudyMeasurements& all) {
  std::vector<std::string> found;
  std::set<std::string> told;
  for (const CaseId& id : all.cases) {
    if (!has_all(id, {{"ctx", "512"}, {"pass", "forward"}}) || told.contains(id.at("precision"))) continue;
    std::string text = sentence(all, id);
    if (text.empty()) continue;
    told.insert(id.at("precision"));
    found.push_back(std::move(text));
  }
  return found;
}

Study profiler_overhead_study() {
  return {
      .name = "profiler_overhead",
      .title = "A traced step beside one that is not, and ranges beside events",
      .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
      .protocol = {.needs_trace = true},
      .tables = {{.caption = "Untraced: the median step. The forward pass by the timer's events, untraced, and by the "
                             "range FORWARD, traced: the host's time inside; the GPU's span, from the first of its "
                             "operations to the last one's end; and the part of it in which an operation ran",
                  .spread = {},
                  .columns = {number_column("untraced ms", "median_ms"),
                              trace_column(
                                  "traced ms",
                                  [](const StepTrace& trace, Seconds) { return to_milliseconds(trace.span); },
                                  &render::format_number),
                              trace_column("traced % of untraced", &traced_percent, &one_digit),
                              {.header = "forward: events ms", .value = &forward_ms, .format = &render::format_number},
                              forward_column("range, host ms", &TracedRange::host),
                              forward_column("range, GPU span ms", &TracedRange::gpu_span),
                              forward_column("range, GPU ms", &TracedRange::gpu_busy)}}},
      .conclude = &sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "profiler_overhead", .order = 110, .make = &profiler_overhead_study});

}  // namespace
}  // namespace tbench::studies::profiler_overhead
