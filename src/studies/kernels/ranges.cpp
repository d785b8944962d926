// Breaks a step's time down by range: the host's time inside each range, and the GPU's time of its operations.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies::ranges {
namespace {

constexpr double kMicro = 1e6;

std::optional<double> microseconds(std::optional<Seconds> time) {
  return time ? std::optional{time->value * kMicro} : std::nullopt;
}

/// Returns the GPU's time in the range that encloses `path`, or in the whole step if no range does.
Seconds gpu_time_around(const std::string& path, const TracedRanges& step) {
  const std::string outer = path.substr(0, std::min(path.rfind('/'), path.size()));
  const auto found = std::ranges::find(step.ranges, outer, &TracedRange::path);
  return outer == path || found == step.ranges.end() ? step.gpu_sum : found->gpu_sum;
}

StudyRow range_row(const TracedRange& range, const TracedRanges& step) {
  const Seconds around = gpu_time_around(range.path, step);
  return {
      .names = {range.path},
      .values = {range.calls, to_milliseconds(range.host), to_milliseconds(range.host_exclusive),
                 to_milliseconds(range.gpu_span), to_milliseconds(range.gpu_sum), to_milliseconds(range.gpu_exclusive),
                 percent_of(range.gpu_sum, around), range.launches, range.launches / range.calls,
                 range.host.value / range.calls * kMicro, range.gpu_sum.value / range.calls * kMicro,
                 range.host_min.value * kMicro, range.host_max.value * kMicro, microseconds(range.host_deviation),
                 microseconds(range.gpu_min), microseconds(range.gpu_max), microseconds(range.gpu_deviation)},
      .detail = {}};
}

std::vector<StudyQuantity> quantities() {
  return {{"calls", &count_text},
          {"host ms", &render::format_number},
          {"host excl. ms", &render::format_number},
          {"GPU span ms", &render::format_number},
          {"GPU ms", &render::format_number},
          {"GPU excl. ms", &render::format_number},
          {"GPU % of outer", &one_digit},
          {"launches", &count_text},
          {"launches a call", &render::format_number},
          {"host mean us", &render::format_number},
          {"GPU mean us", &render::format_number},
          {"host min us", &render::format_number},
          {"host max us", &render::format_number},
          {"host std us", &render::format_number},
          {"GPU min us", &render::format_number},
          {"GPU max us", &render::format_number},
          {"GPU std us", &render::format_number}};
}

/// Returns the row of a part that is not itself a range.
StudyRow part_row(const TracedPart& part, const TracedRanges& step) {
  const auto of = std::ranges::find(step.ranges, part.of, &TracedRange::path);
  const Seconds around = of == step.ranges.end() ? step.gpu_sum : of->gpu_sum;
  StudyRow row{.names = {part.of + "/(" + part.name + ")"},
               .values = {std::nullopt, to_milliseconds(part.host), std::nullopt, std::nullopt,
                          to_milliseconds(part.gpu_sum), std::nullopt, percent_of(part.gpu_sum, around), part.launches},
               .detail = {}};
  row.values.resize(quantities().size());
  return row;
}

std::vector<StudyRow> by_range(std::span<const Record* const> records) {
  const TracedRanges step = traced_ranges(records);
  std::vector<StudyRow> rows;
  for (const TracedRange& range : step.ranges) rows.push_back(range_row(range, step));
  for (const TracedPart& part : step.parts) rows.push_back(part_row(part, step));
  return rows;
}

Study ranges_study() {
  return {
      .name = "ranges",
      .title = "Host and GPU time of a step by range",
      .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
      .protocol = {.needs_trace = true},
      .row_tables = {{.caption = "Calls, times and launches of a step; mean, minimum, maximum and deviation of a call. "
                                 "Host: inside the range while tracing. GPU: the operations launched inside, those of "
                                 "backward in the ranges of what they undo; rows in parentheses are parts that are no "
                                 "ranges",
                      .names = {"range"},
                      .quantities = quantities(),
                      .detail = {},
                      .rows_of = &by_range}}};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "ranges", .order = 120, .make = &ranges_study});

}  // namespace
}  // namespace tbench::studies::ranges
