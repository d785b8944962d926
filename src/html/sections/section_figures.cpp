#include "html/sections/section_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "html/charts/palette.hpp"
#include "html/sections/timelines.hpp"
#include "tbench/core/text.hpp"

namespace tbench::html {
namespace {

using studies::StudyCell;
using studies::StudySection;
using Texts = std::vector<std::string>;
using Row = std::vector<StudyCell>;

/// A column of bars.
struct Column {
  std::size_t index{};
  StudyKeys keys;
};

bool has_bar(const StudyCell& cell) { return cell.value && *cell.value > 0; }

/// Returns the columns of each quantity, in their order.
std::vector<std::pair<std::string, std::vector<Column>>> columns_of(const StudySection& section) {
  std::vector<std::pair<std::string, std::vector<Column>>> quantities;
  for (std::size_t i = 0; i < section.columns.size(); ++i) {
    if (section.columns[i].align == render::Align::kLeft) continue;
    StudyQuantity quantity = quantity_of(section.columns[i].header);
    if (is_derived(quantity.name)) continue;
    if (std::ranges::none_of(section.rows, [&](const Row& row) { return has_bar(row[i]); })) continue;
    auto found = std::ranges::find(quantities, quantity.name, [](const auto& q) { return q.first; });
    if (found == quantities.end()) found = quantities.insert(quantities.end(), {quantity.name, {}});
    found->second.push_back({.index = i, .keys = std::move(quantity.keys)});
  }
  return quantities;
}

std::set<std::string> distinct(const std::vector<Column>& columns, std::string_view key) {
  std::set<std::string> found;
  for (const Column& column : columns) found.insert(value_of(column.keys, key));
  found.erase("");
  return found;
}

/// Returns the first key with several values, or the key of the implementation if there is none.
std::string_view coloured_key(const std::vector<Column>& columns) {
  const auto found =
      std::ranges::find_if(kColouredKeys, [&](std::string_view key) { return distinct(columns, key).size() > 1; });
  return found == kColouredKeys.end() ? kColouredKeys.front() : *found;
}

std::vector<BarSeries> series_of(const std::vector<Column>& columns, const std::string& quantity) {
  const std::string_view coloured = coloured_key(columns);
  const std::map<std::string, std::size_t> slots = colour_slots(distinct(columns, coloured));
  Texts variants{""};  // hatches by index: cases without another key have index 0
  std::vector<BarSeries> series;
  for (const Column& column : columns) {
    Texts others;
    for (const auto& [key, value] : column.keys) {
      if (key != coloured) others.push_back(value);
    }
    const std::string variant = join(others, " ");
    if (std::ranges::find(variants, variant) == variants.end()) variants.push_back(variant);
    const auto slot = slots.find(value_of(column.keys, coloured));
    const std::string name = joined(column.keys);
    series.push_back({.name = name.empty() ? quantity : name,
                      .colour = slot == slots.end() ? "var(--accent)" : slot_colour(slot->second),
                      .hatch = static_cast<std::size_t>(std::ranges::find(variants, variant) - variants.begin())});
  }
  return series;
}

/// Returns the row's first key and its other keys as names.
std::pair<std::string, std::string> names_of(const StudySection& section, const Row& row) {
  StudyKeys keys;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (is_key(section.columns[i])) keys.emplace_back(section.columns[i].header, row[i].text);
  }
  if (keys.empty()) return {};
  const StudyKeys first{keys.front()};
  keys.erase(keys.begin());
  return {joined(first), joined(keys)};
}

using studies::StudySection;
using Row = std::vector<studies::StudyCell>;

/// Returns the name of the row's case. If the rows do not name their case, it is the caption's first sentence.
std::string case_of(const StudySection& section, const Row& row) {
  StudyKeys keys;
  for (std::size_t i = 0; i < section.name_column; ++i) {
    if (!row[i].text.empty()) keys.emplace_back(section.columns[i].header, row[i].text);
  }
  return keys.empty() ? section.caption.substr(0, section.caption.find(". ")) : joined(keys);
}

/// Returns the unit in a column's header: `ms` for `ms`, `%` for `% of step`.
std::string unit_of(const render::Column& column) { return column.header.substr(0, column.header.find(' ')); }

WaterfallBar bar_of(const StudySection& section, const Row& row, studies::StudyStep step) {
  const std::size_t first = section.name_column + 1;
  WaterfallBar bar{
      .name = row[first - 1].text, .step = step, .value = row[first].value.value(), .labels = {}, .detail = {}};
  for (std::size_t i = first; i < row.size(); ++i) {
    if (is_key(section.columns[i])) {
      bar.detail = row[i].text;
    } else if (row[i].value) {
      bar.labels.push_back(fmt::format("{} {}", row[i].text, unit_of(section.columns[i])));
    }
  }
  return bar;
}

constexpr std::size_t kMaxBars = 12;
constexpr std::size_t kMaxMaps = 12;
constexpr std::size_t kMaxWaterfalls = 120;  // one per case; about twice the cases of the study's grid

template <class Chart>
SectionFigures figures_of(const std::vector<Chart>& charts, std::string (*draw)(const Chart&), std::size_t most) {
  SectionFigures drawn;
  for (std::size_t i = 0; i < std::min(charts.size(), most); ++i) drawn.figures.push_back(draw(charts[i]));
  drawn.left_out = charts.size() - drawn.figures.size();
  return drawn;
}

SectionFigures timelines_of(const StudySection& section) {
  SectionFigures drawn;
  for (const studies::StudyFigure& figure : section.figures) {
    if (const auto* const layer = std::get_if<studies::LayerFigure>(&figure.data)) {
      drawn.figures.push_back(layer_chart(*layer, figure.title));
    } else if (const auto& memory = std::get<MemoryTimeline>(figure.data); has_bytes(memory)) {
      drawn.figures.push_back(memory_chart(memory, figure.title));
    }
  }
  return drawn;
}

}  // namespace

std::vector<BarChart> study_bars(const StudySection& section) {
  std::vector<BarChart> charts;
  for (const auto& [name, columns] : columns_of(section)) {
    const std::string quantity = name.empty() ? quantity_of_caption(section.caption) : name;
    const std::vector<BarSeries> series = series_of(columns, quantity);
    const std::size_t before = charts.size();
    for (const Row& row : section.rows) {
      const auto [group_name, chart_name] = names_of(section, row);
      BarGroup group{.name = group_name, .bars = {}};
      for (const Column& column : columns) {
        const StudyCell& cell = row[column.index];
        group.bars.push_back({.value = has_bar(cell) ? cell.value : std::nullopt, .label = cell.text});
      }
      if (std::ranges::none_of(group.bars, [](const Bar& bar) { return bar.value.has_value(); })) continue;
      const std::string title = chart_name.empty() ? quantity : fmt::format("{}, {}", chart_name, quantity);
      auto chart = std::ranges::find(charts.begin() + static_cast<std::ptrdiff_t>(before), charts.end(), title,
                                     &BarChart::title);
      if (chart == charts.end()) {
        chart = charts.insert(charts.end(), BarChart{.title = title, .series = series, .groups = {}});
      }
      chart->groups.push_back(std::move(group));
    }
  }
  return charts;
}

std::vector<WaterfallChart> study_waterfalls(const StudySection& section) {
  std::vector<WaterfallChart> charts;
  std::string last;
  for (std::size_t i = 0; i < section.steps.size(); ++i) {
    if (section.steps[i] == studies::StudyStep::kNone) continue;
    const Row& row = section.rows[i];
    const std::string name = case_of(section, row);
    if (charts.empty() || name != last) {
      charts.push_back({.title = name, .x = section.columns[section.name_column + 1].header, .bars = {}, .note = {}});
    }
    last = name;
    WaterfallBar bar = bar_of(section, row, section.steps[i]);
    charts.back().note = bar.detail;
    charts.back().bars.push_back(std::move(bar));
  }
  return charts;
}

SectionFigures section_figures(const studies::StudySection& section) {
  if (!section.figures.empty()) return timelines_of(section);
  if (!section.steps.empty()) return figures_of(study_waterfalls(section), &waterfall_chart, kMaxWaterfalls);
  if (section.has_bars) return figures_of(study_bars(section), &bar_chart, kMaxBars);
  const StudyPlots plots = study_plots(section);
  SectionFigures drawn = figures_of(plots.charts, &line_chart, plots.charts.size());
  SectionFigures maps = figures_of(study_heat_maps(section), &heat_map, kMaxMaps);
  std::ranges::move(maps.figures, std::back_inserter(drawn.figures));
  drawn.left_out += plots.left_out + maps.left_out;
  return drawn;
}

std::vector<SectionFigures> report_figures(const studies::StudyReport& report) {
  std::vector<SectionFigures> all;
  std::set<std::string> earlier;
  for (const StudySection& section : report.sections) {
    SectionFigures& own = all.emplace_back(section_figures(section));
    std::erase_if(own.figures, [&](const std::string& figure) { return !earlier.insert(figure).second; });
  }
  return all;
}

}  // namespace tbench::html
