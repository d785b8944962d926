#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "html/plots/plots.hpp"
#include "html/plots/traced_cases.hpp"
#include "tbench/core/step_counts.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::html {
namespace {

RowChart gaps_panel(const PlotData& data, const Cases& group, const Keys& panel, const Keys& by) {
  RowChart chart{.title = titled(group, panel), .x = "% of the traced step", .rows = {}, .series = {}};
  const std::size_t count = std::min(group.size(), kMaxTraceRows);
  if (group.size() > count) chart.title += fmt::format("; {} more are left out", group.size() - count);
  for (std::size_t i = 0; i < count; ++i) chart.rows.push_back(row_name(data, *group[i], by));
  std::vector<double> ends(count);
  for (const Gap& gap : kGaps) {
    RowSeries series{
        .name = std::string{gap.name}, .colour = std::string{gap.colour}, .look = RowLook::kBar, .marks = {}};
    for (std::size_t i = 0; i < count; ++i) {
      const StepTrace& trace = trace_of(*group[i]);
      const double share = 100 * (trace.*gap.time).value / trace.span.value;
      if (!(share > 0)) continue;
      const std::string note = fmt::format(
          "{} ms; {} kernels, {} launches; longest gap {} us", render::format_number(to_milliseconds(trace.*gap.time)),
          render::format_number(kernels_per_step(trace)), render::format_number(trace.launches),
          render::format_number(to_microseconds(trace.longest_gap)));
      series.marks.push_back({.row = i,
                              .from = ends[i],
                              .to = ends[i] + share,
                              .value = share,
                              .facts = facts_with(*group[i], "%", note)});
      ends[i] += share;
    }
    if (!series.marks.empty()) chart.series.push_back(std::move(series));
  }
  return chart;
}

/// Returns a row per case.
Panels gaps(const PlotData& data, const Cases& cases) {
  Panels panels;
  const Cases known = only(
      traced(cases), [](const PlotCase& of) { return total_gaps(trace_of(of)) > 0 && trace_of(of).span.value > 0; });
  for (const Cases& family : by_family(known)) {
    const Keys rest = varying(family);
    const Keys by = without(rest, {"size", "op"});
    const Keys panel = without(rest, by);
    for (const Cases& group : by_keys(family, panel)) panels.emplace_back(gaps_panel(data, group, panel, by));
  }
  return panels;
}

}  // namespace

Plot gap_plot() {
  return {.id = "gaps",
          .title = "Gaps between operations",
          .note =
              "How long the GPU did nothing in a traced step, and why. A traced step is longer than a timed one "
              "where the host limits it.",
          .panels = gaps};
}

}  // namespace tbench::html
