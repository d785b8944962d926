#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "html/plots/plots.hpp"
#include "html/plots/traced_cases.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::html {
namespace {

constexpr double kMinShare = 0.02;  // of a panel's time: classes with less are `others`
constexpr std::string_view kOthers = "others";

/// The colour of a class of operations. Each class that takes much of a step has a colour of its own.
struct ClassColour {
  std::string_view name;
  std::string_view colour;
};
constexpr std::array<ClassColour, 11> kColours{
    {{"gemm", "var(--slot-2)"},
     {"attention_fused", "var(--slot-1)"},
     {"softmax_forward", "var(--slot-7)"},
     {"softmax_backward", "color-mix(in srgb, var(--slot-7), var(--text) 50%)"},
     {"norm", "var(--slot-6)"},
     {"elementwise", "var(--slot-4)"},
     {"reduction", "var(--slot-5)"},
     {"copy", "var(--slot-3)"},
     {"optimizer", "var(--slot-9)"},
     {"loss", "var(--slot-8)"},
     {"embedding_index", "var(--slot-0)"}}};
constexpr std::string_view kOthersColour = "color-mix(in srgb, var(--dim), var(--text) 50%)";

/// The operations of one class in one phase.
struct ClassSum {
  std::string kernel_class;
  double milliseconds{};
  double operations{};
};

/// A row of a panel: a phase of a step, or its gaps if it has no classes.
struct Row {
  std::string name;
  const PlotCase* of{};
  std::vector<ClassSum> classes{};
};

/// Returns a row per phase, and one for the gaps, if there are any.
std::vector<Row> rows_of(const PlotCase& of, const std::string& name) {
  std::vector<Row> rows;
  for (const TracedKernel& kernel : trace_of(of).kernels) {
    const std::string label = name + " " + kernel.phase;
    auto row = std::ranges::find(rows, label, &Row::name);
    if (row == rows.end()) row = rows.insert(rows.end(), {.name = label, .of = &of});
    auto sum = std::ranges::find(row->classes, kernel.kernel_class, &ClassSum::kernel_class);
    if (sum == row->classes.end()) sum = row->classes.insert(sum, {.kernel_class = kernel.kernel_class});
    sum->milliseconds += to_milliseconds(kernel.total);
    sum->operations += kernel.calls;
  }
  if (total_gaps(trace_of(of)) > 0) rows.push_back({.name = name + " gaps", .of = &of});
  return rows;
}

/// Returns the classes with a colour and a share of the time, the largest first.
std::vector<std::string> shown_classes(const std::vector<Row>& rows) {
  std::map<std::string, double> totals;
  double whole = 0;
  for (const Row& row : rows) {
    for (const ClassSum& sum : row.classes) {
      totals[sum.kernel_class] += sum.milliseconds;
      whole += sum.milliseconds;
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, total] : totals) {
    const bool has_colour = std::ranges::find(kColours, name, &ClassColour::name) != kColours.end();
    if (has_colour && total >= kMinShare * whole) names.push_back(name);
  }
  std::ranges::stable_sort(names, std::greater{}, [&](const std::string& name) { return totals.at(name); });
  return names;
}

/// Adds the operations of a row that pass to a series, after `end`.
void add_classes(RowSeries& series, const Row& row, std::size_t number, double& end, const auto& passes) {
  RowMark mark{.row = number, .from = end, .to = end, .value = 0, .facts = {}};
  std::string note;
  for (const ClassSum& sum : row.classes) {
    if (!passes(sum.kernel_class)) continue;
    mark.value += sum.milliseconds;
    note += fmt::format("{}{}: {} ms in {} {}", note.empty() ? "" : "; ", sum.kernel_class,
                        render::format_number(sum.milliseconds), render::format_number(sum.operations),
                        agreeing(sum.operations, "operation", "operations"));
  }
  if (note.empty()) return;
  mark.to = end += mark.value;
  mark.facts = facts_with(*row.of, "ms", note);
  series.marks.push_back(std::move(mark));
}

RowSeries gap_series(const Gap& gap, const std::vector<Row>& rows, std::vector<double>& ends) {
  RowSeries series{.name = fmt::format("gap: {}", gap.name),
                   .colour = std::string{gap.colour},
                   .look = RowLook::kOutline,
                   .marks = {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double length = rows[i].classes.empty() ? to_milliseconds(trace_of(*rows[i].of).*gap.time) : 0;
    if (!(length > 0)) continue;
    series.marks.push_back({.row = i,
                            .from = ends[i],
                            .to = ends[i] + length,
                            .value = length,
                            .facts = facts_with(*rows[i].of, "ms", "")});
    ends[i] += length;
  }
  return series;
}

std::vector<RowSeries> class_series(const std::vector<Row>& rows) {
  std::vector<RowSeries> all;
  std::vector<double> ends(rows.size());
  const std::vector<std::string> shown = shown_classes(rows);
  const auto is_shown = [&](const std::string& name) { return std::ranges::find(shown, name) != shown.end(); };
  const auto add = [&](std::string_view name, std::string_view colour, const auto& passes) {
    RowSeries series{.name = std::string{name}, .colour = std::string{colour}, .look = RowLook::kBar, .marks = {}};
    for (std::size_t i = 0; i < rows.size(); ++i) add_classes(series, rows[i], i, ends[i], passes);
    if (!series.marks.empty()) all.push_back(std::move(series));
  };
  for (const std::string& name : shown) {
    add(name, std::ranges::find(kColours, name, &ClassColour::name)->colour,
        [&](const std::string& other) { return other == name; });
  }
  add(kOthers, kOthersColour, [&](const std::string& name) { return !is_shown(name); });
  for (const Gap& gap : kGaps) {
    if (RowSeries series = gap_series(gap, rows, ends); !series.marks.empty()) all.push_back(std::move(series));
  }
  return all;
}

RowChart classes_panel(const PlotData& data, const Cases& group, const Keys& panel, const Keys& by) {
  std::vector<Row> rows;
  for (const PlotCase* one : group) {
    for (Row& row : rows_of(*one, row_name(data, *one, by))) rows.push_back(std::move(row));
  }
  RowChart chart{.title = titled(group, panel), .x = "ms of a step", .rows = {}, .series = {}};
  if (rows.size() > kMaxTraceRows) {
    chart.title += fmt::format("; {} more rows are left out", rows.size() - kMaxTraceRows);
    rows.resize(kMaxTraceRows);
  }
  for (const Row& row : rows) chart.rows.push_back(row.name);
  chart.series = class_series(rows);
  return chart;
}

/// Returns a panel per shape.
Panels classes(const PlotData& data, const Cases& cases) {
  const Keys how{"impl", "method", "pass", "precision", "exec"};  // how the work of a shape is done
  Panels panels;
  for (const Cases& family : by_family(traced(cases))) {
    const Keys rest = varying(family);
    const Keys panel = without(rest, how);
    for (const Cases& group : by_keys(family, panel)) {
      RowChart chart = classes_panel(data, group, panel, without(rest, panel));
      if (!chart.series.empty()) panels.emplace_back(std::move(chart));
    }
  }
  return panels;
}

}  // namespace

std::vector<Plot> trace_plots() {
  return {
      {.id = "classes",
       .title = "The GPU's time by class of operation",
       .note = "A traced step by phase, and the gaps in which the GPU did nothing: the host was late, or the next "
               "operation was queued and had not begun. If there are several processes, the plot shows the middle one.",
       .panels = classes},
      gap_plot()};
}

}  // namespace tbench::html
