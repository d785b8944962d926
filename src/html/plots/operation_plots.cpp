#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "html/plots/ceilings.hpp"
#include "html/plots/plots.hpp"
#include "tbench/core/text.hpp"

namespace tbench::html {
namespace {

bool is_square(const PlotCase& of) { return of.value("m") == of.value("n") && of.value("n") == of.value("k"); }

Categories shapes() {
  return {.title = "m × n × k", .keys = {"m", "n", "k"}, .name_of = [](const PlotCase& of) {
            return is_square(of) ? of.value("m") : fmt::format("{}×{}×{}", of.value("m"), of.value("n"), of.value("k"));
          }};
}

/// Returns the categories in which a chart shows the cases of a family side by side.
std::optional<Categories> categories_of(const Cases& family) {
  for (Categories x :
       {categories_by("op"), shapes(), categories_by("size"), categories_by("seq_len"), categories_by("what")}) {
    const bool has_all = std::ranges::all_of(x.keys, [&](const std::string& key) {
      return std::ranges::any_of(family, [&](const PlotCase* of) { return of->record->id.find(key) != nullptr; });
    });
    if (has_all) return x;
  }
  return std::nullopt;
}

Panels shares(const PlotData& data, const Cases& cases) {
  Panels panels;
  const ValueOf share = counter("ceiling_share", 100);
  const Cases known = only(cases, [&](const PlotCase& of) { return share(of).has_value(); });
  for (const Cases& family : by_family(known)) {
    const std::optional<Categories> x = categories_of(family);
    if (!x) continue;
    for (Panel& panel : columns(data, family, share, "% of the ceiling", *x, Level{.value = 100, .name = "ceiling"})) {
      panels.push_back(std::move(panel));
    }
  }
  return panels;
}

Panels ceilings(const PlotData& data, const Cases& cases) {
  const Cases known = only(cases, is_ceiling);
  Panels panels = columns(data, known, stream, "TB/s", categories_by("what"));
  for (Panel& panel : columns(data, known, rate, "TFLOP/s", categories_by("what"))) panels.push_back(std::move(panel));
  return panels;
}

/// Adds a dashed line for the ceiling of each file and precision.
void add_ceilings(LineChart& chart, const PlotData& data, const Cases& group) {
  const double low = chart.ticks.front().at;
  const double high = chart.ticks.back().at;
  const auto name = [](const PlotCase& of) { return fmt::format("{} {}", of.file, of.value("precision")); };
  for (const Cases& of : grouped(group, name)) {
    const double peak = ceiling_of(data, of.front()->file, "gemm_" + of.front()->value("precision"), rate);
    if (!(peak < kNoCeiling)) continue;
    const std::string file = data.files() > 1 ? " · " + data.label(of.front()->file) : "";
    chart.series.push_back({.name = fmt::format("ceiling {}{}", of.front()->value("precision"), file),
                            .colour = "var(--text)",
                            .points = {{.x = low, .y = peak}, {.x = high, .y = peak}},
                            .look = SeriesLook::kLine,
                            .is_dashed = true});
  }
}

LineChart squares_panel(const PlotData& data, const Cases& group, const Division& division) {
  LineChart chart{.title = titled(group, division.panel), .x = "m = n = k", .y = "TFLOP/s", .ticks = {}, .series = {}};
  std::map<std::int64_t, std::string> sizes;
  for (const PlotCase* one : group) sizes[*parse_integer(one->value("m"))] = one->value("m");
  for (const auto& [at, label] : sizes) chart.ticks.push_back({.at = static_cast<double>(at), .label = label});
  for (const CaseSeries& series : series_of(data, group, division.series)) {
    ChartSeries& line = chart.series.emplace_back(
        ChartSeries{.name = series.name, .colour = series.colour, .shape = series.shape, .points = {}});
    line.is_dashed = series.is_graph;
    for (const PlotCase* one : middles(series.cases, rate)) {
      line.points.push_back({.x = static_cast<double>(*parse_integer(one->value("m"))),
                             .y = *rate(*one),
                             .facts = facts_of(*one, "TFLOP/s")});
    }
    std::ranges::stable_sort(line.points, {}, &ChartPoint::x);
  }
  add_ceilings(chart, data, group);
  chart.page = ChartPage::kScripted;
  chart.begins_linear = chart.is_switchable = true;
  return chart;
}

/// Returns lines of square products by their size, and columns of all other shapes.
Panels products(const PlotData& data, const Cases& cases) {
  Panels panels;
  const Cases known = only(cases, [](const PlotCase& of) {
    return rate(of).value_or(0) > 0 && parse_integer(of.value("m")).value_or(0) > 0 && of.record->id.find("n") &&
           of.record->id.find("k");
  });
  for (const Cases& family : by_family(known)) {
    const Cases squares = only(family, is_square);
    const Division division = divided(squares, shapes().keys);
    Cases others = only(family, [](const PlotCase& of) { return !is_square(of); });
    for (const Cases& group : by_keys(squares, division.panel)) {
      if (grouped(group, shapes().name_of).size() > 1) {
        panels.emplace_back(squares_panel(data, group, division));
      } else {
        others.insert(others.end(), group.begin(), group.end());
      }
    }
    for (Panel& panel : columns(data, others, rate, "TFLOP/s", shapes())) panels.push_back(std::move(panel));
  }
  return panels;
}

}  // namespace

std::vector<Plot> operation_plots() {
  return {{.id = "ceilings",
           .title = "Ceilings",
           .note = "Rates of this GPU for moving bytes alone, and for matrix products alone.",
           .panels = ceilings},
          roofline_plot(),
          {.id = "share",
           .title = "Share of the ceiling",
           .note = "The rate divided by the ceiling of the same run and regime: bytes per second where the family "
                   "counts bytes, otherwise FLOP/s.",
           .panels = shares},
          {.id = "products",
           .title = "Matrix products",
           .note = "Achieved FLOP/s, higher is better. Dashed: the measured ceiling of the precision.",
           .panels = products},
          {.id = "bandwidth",
           .title = "Bandwidth of operations",
           .note = "Bytes that an operation must move, by its family's formula, divided by its time.",
           .panels = [](const PlotData& data, const Cases& cases) {
             return columns(data, cases, stream, "TB/s", categories_by("op"));
           }}};
}

}  // namespace tbench::html
