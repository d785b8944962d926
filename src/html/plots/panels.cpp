#include "html/plots/panels.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "tbench/core/text.hpp"

namespace tbench::html {
namespace {

/// Sorts numbers by their value, and leaves other names where they are.
void sort_numbers(std::vector<std::string>& names) {
  if (!std::ranges::all_of(names, [](const std::string& name) { return parse_integer(name).has_value(); })) return;
  std::ranges::stable_sort(names, {}, [](const std::string& name) { return *parse_integer(name); });
}

/// Returns the value if it is above 0, which is all that a logarithm can show.
std::optional<double> positive(const std::optional<double>& value) {
  return value.value_or(0) > 0 ? value : std::nullopt;
}

ColumnSeries column_series(const CaseSeries& series, const std::vector<std::string>& names, const Categories& x,
                           const ValueOf& value_of, const std::string& unit) {
  constexpr double kPaler = 0.35;  // of each further file
  ColumnSeries columns{.name = series.name,
                       .colour = series.colour,
                       .is_open = series.is_graph,
                       .opacity = std::max(kPaler, 1 - kPaler * static_cast<double>(series.file)),
                       .columns = {}};
  for (const PlotCase* one : middles(series.cases, value_of)) {
    const auto place = static_cast<std::size_t>(std::ranges::find(names, x.name_of(*one)) - names.begin());
    columns.columns.push_back({.category = place, .value = *value_of(*one), .facts = facts_of(*one, unit)});
  }
  return columns;
}

ColumnChart column_panel(const PlotData& data, const Cases& group, const Division& division, const ValueOf& value_of,
                         const std::string& unit, const Categories& x, const std::optional<Level>& level) {
  ColumnChart chart{.title = titled(group, division.panel), .x = x.title, .y = unit, .categories = {}, .series = {}};
  for (const Cases& category : grouped(group, x.name_of)) chart.categories.push_back(x.name_of(*category.front()));
  sort_numbers(chart.categories);
  const std::vector<CaseSeries> all = series_of(data, group, division.series);
  for (const CaseSeries& series : all) {
    chart.series.push_back(column_series(series, chart.categories, x, value_of, unit));
  }
  if (level) {
    chart.level = level->value;
    chart.level_name = level->name;
  }
  chart.has_legend = level.has_value() || has_names(data, all, division.series);
  return chart;
}

ChartSeries line_series(const CaseSeries& series, const std::string& x, const ValueOf& value_of,
                        const std::string& unit) {
  ChartSeries line{.name = series.name, .colour = series.colour, .shape = series.shape, .points = {}};
  line.is_dashed = series.is_graph;
  for (const PlotCase* one : middles(series.cases, value_of)) {
    const std::optional<double> value = positive(value_of(*one));
    PointFacts facts = facts_of(*one, unit);
    if (!value) facts.note = one->record->reason;
    line.points.push_back({.x = static_cast<double>(*parse_integer(one->value(x))),
                           .y = value.value_or(1),
                           .facts = std::move(facts),
                           .has_no_value = !value});
  }
  std::ranges::stable_sort(line.points, {}, &ChartPoint::x);
  return line;
}

std::optional<LineChart> line_panel(const PlotData& data, const Cases& group, const Division& division,
                                    const std::string& x, const ValueOf& value_of, const std::string& unit) {
  std::map<double, std::string> ticks;
  for (const PlotCase* one : group) ticks[static_cast<double>(*parse_integer(one->value(x)))] = one->value(x);
  const bool has_value =
      std::ranges::any_of(group, [&](const PlotCase* one) { return positive(value_of(*one)).has_value(); });
  if (ticks.size() < 2 || !has_value) return std::nullopt;
  LineChart chart{.title = titled(group, division.panel), .x = x + " (tokens)", .y = unit, .ticks = {}, .series = {}};
  for (const auto& [at, label] : ticks) chart.ticks.push_back({.at = at, .label = label});
  const std::vector<CaseSeries> all = series_of(data, group, division.series);
  for (const CaseSeries& series : all) chart.series.push_back(line_series(series, x, value_of, unit));
  chart.page = ChartPage::kScripted;
  chart.is_switchable = true;
  chart.has_legend = has_names(data, all, division.series);
  return chart;
}

}  // namespace

std::string panel_figure(const Panel& panel) {
  if (const auto* const chart = std::get_if<LineChart>(&panel)) return line_chart(*chart);
  if (const auto* const chart = std::get_if<ColumnChart>(&panel)) return column_chart(*chart);
  return row_chart(std::get<RowChart>(panel));
}

Categories categories_by(const std::string& key) {
  return {.title = key, .keys = {key}, .name_of = [key](const PlotCase& of) { return of.value(key); }};
}

Panels columns(const PlotData& data, const Cases& cases, const ValueOf& value_of, const std::string& unit,
               const Categories& x, const std::optional<Level>& level) {
  Panels panels;
  const Cases known = only(cases, [&](const PlotCase& of) {
    return positive(value_of(of)) &&
           std::ranges::all_of(x.keys, [&](const std::string& key) { return of.record->id.find(key) != nullptr; });
  });
  for (const Cases& family : by_family(known)) {
    const Division division = divided(family, x.keys);
    for (const Cases& group : by_keys(family, division.panel)) {
      panels.emplace_back(column_panel(data, group, division, value_of, unit, x, level));
    }
  }
  return panels;
}

Panels lines(const PlotData& data, const Cases& cases, const std::string& x, const ValueOf& value_of,
             const std::string& unit, const std::function<Division(const Cases&)>& divide) {
  Panels panels;
  const Cases known = only(cases, [&](const PlotCase& of) {
    return parse_integer(of.value(x)).value_or(0) > 0 && (positive(value_of(of)) || of.record->status == Status::kOom);
  });
  for (const Cases& family : by_family(known)) {
    const Division division = divide(family);
    for (const Cases& group : by_keys(family, division.panel)) {
      if (std::optional<LineChart> chart = line_panel(data, group, division, x, value_of, unit)) {
        panels.emplace_back(std::move(*chart));
      }
    }
  }
  return panels;
}

}  // namespace tbench::html
