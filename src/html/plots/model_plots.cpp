#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "html/plots/plots.hpp"
#include "tbench/core/units.hpp"

namespace tbench::html {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;
constexpr std::size_t kMaxRows = 40;  // of one panel

/// Returns the cases without an operation: operations of many sizes have plots of their own.
Cases models(const Cases& cases) {
  return only(cases, [](const PlotCase& of) { return of.record->id.find("op") == nullptr; });
}

/// Returns a plot of columns by model size.
Plot by_size(std::string_view id, std::string_view title, std::string_view note, std::string_view name, double factor,
             std::string_view unit) {
  return {.id = id,
          .title = title,
          .note = note,
          .panels = [value = counter(std::string{name}, factor), unit = std::string{unit}](const PlotData& data,
                                                                                           const Cases& cases) {
            return columns(data, models(cases), value, unit, categories_by("size"));
          }};
}

Plot by_context(std::string_view id, std::string_view title, std::string_view note, const ValueOf& value,
                std::string_view unit) {
  return {.id = id,
          .title = title,
          .note = note,
          .panels = [value, unit = std::string{unit}](const PlotData& data, const Cases& cases) {
            return lines(data, models(cases), "ctx", value, unit,
                         [](const Cases& known) { return divided(known, {"ctx"}); });
          }};
}

/// Returns a plot with one panel per shape, which has all implementations.
Plot by_sequence(std::string_view id, std::string_view title, std::string_view note, const ValueOf& value,
                 std::string_view unit) {
  return {.id = id,
          .title = title,
          .note = note,
          .panels = [value, unit = std::string{unit}](const PlotData& data, const Cases& cases) {
            return lines(data, cases, "seq_len", value, unit, [](const Cases& known) {
              const Keys rest = without(varying(known), {"seq_len"});
              return Division{.panel = without(rest, {"impl"}), .series = without(rest, without(rest, {"impl"}))};
            });
          }};
}

/// Adds a phase to its series, at the end of the row's bar.
/// @return  the new end
double add_phase(RowChart& chart, const PlotCase& of, const PhaseTime& phase, double end) {
  auto series = std::ranges::find(chart.series, phase.name, &RowSeries::name);
  if (series == chart.series.end()) {
    series = chart.series.insert(chart.series.end(), {.name = phase.name, .colour = {}, .look = {}, .marks = {}});
  }
  const double length = to_milliseconds(phase.median);
  series->marks.push_back(
      {.row = chart.rows.size() - 1,
       .from = end,
       .to = end + length,
       .value = length,
       .facts = {.record = of.index, .unit = "ms", .status = std::string{to_string(of.record->status)}}});
  return end + length;
}

RowChart phases_panel(const PlotData& data, const Cases& group, const Keys& panel, const Keys& by) {
  RowChart chart{.title = titled(group, panel), .x = "median, ms", .rows = {}, .series = {}};
  if (group.size() > kMaxRows) chart.title += fmt::format("; {} more are left out", group.size() - kMaxRows);
  for (std::size_t i = 0; i < std::min(group.size(), kMaxRows); ++i) {
    const PlotCase& one = *group[i];
    chart.rows.push_back(row_name(data, one, by));
    double end = 0;
    for (const PhaseTime& phase : one.record->timing->phases) end = add_phase(chart, one, phase, end);
  }
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    chart.series[i].colour =
        fmt::format("color-mix(in srgb, var(--accent), var(--text) {:.0f}%)", 100 * shade_of(i, chart.series.size()));
  }
  return chart;
}

Panels phases(const PlotData& data, const Cases& cases) {
  Panels panels;
  const Cases timed = only(cases, [](const PlotCase& of) {
    return of.record->timing && std::ranges::any_of(of.record->timing->phases,
                                                    [](const PhaseTime& phase) { return phase.median.value > 0; });
  });
  for (const Cases& family : by_family(middles(timed, counter("median_ms")))) {
    const Keys rest = varying(family);
    const Keys by = without(rest, {"size", "ctx"});
    const Keys panel = without(rest, by);
    for (const Cases& group : by_keys(family, panel)) panels.emplace_back(phases_panel(data, group, panel, by));
  }
  return panels;
}

}  // namespace

std::vector<Plot> model_plots() {
  constexpr double kTera = 1e-12;
  return {
      by_size("throughput", "Throughput", "Tokens per second, higher is better.", "tokens_per_second", 1, "tokens/s"),
      by_context("time", "Step time against context", "Median of the samples. A cross at the top: out of memory.",
                 counter("median_ms"), "ms"),
      by_context("memory", "Peak memory against context", "Allocated peak. A cross: out of memory.",
                 counter("peak_allocated_bytes", 1 / (1024 * kMebi)), "GiB"),
      by_sequence("attention-time", "Attention: time against sequence length",
                  "Median of the samples of every implementation. A cross at the top: out of memory.",
                  counter("median_ms"), "ms"),
      by_sequence("attention-memory", "Attention: peak memory against sequence length",
                  "Allocated peak. A cross: out of memory.", counter("peak_allocated_bytes", 1 / kMebi), "MiB"),
      by_size("flops", "Achieved FLOP/s", "FLOP/s of the matrix products that the model needs.", "flop_per_second",
              kTera, "TFLOP/s"),
      by_size("mfu", "Model FLOP utilisation",
              "Share of the datasheet's dense rate at its boost clock. What a backward pass computes again does not "
              "count.",
              "mfu", 100, "MFU %"),
      {.id = "phases",
       .title = "Phases of a step",
       .note = "Medians of each phase. They need not add up to the step's median. If there are several processes, the "
               "plot shows the middle one.",
       .panels = phases}};
}

}  // namespace tbench::html
