#include "html/sections/section_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "html/charts/palette.hpp"
#include "tbench/core/model_size.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::html {
namespace {

using Texts = std::vector<std::string>;

struct Axis {
  std::string_view key;
  const char* title;
};
constexpr std::array<Axis, 5> kAxes{{{"seq_len", "seq_len (tokens)"},
                                     {"ctx", "ctx (tokens)"},
                                     {"bytes", "bytes"},
                                     {"for gpus", "GPUs"},
                                     {"size", "size, by its parameters"}}};
/// The keys by which a chart with too many lines is divided, in this order.
constexpr std::array<std::string_view, 9> kDividing{"pass",   "precision", "gpus", "phase", "batch",
                                                    "causal", "d_model",   "ctx",  "size"};
constexpr std::size_t kMaxLines = 6;
constexpr std::size_t kMaxCharts = 12;
constexpr std::size_t kMaxQuantities = 3;

/// Returns the position of a value on an axis, or nullopt if it is not a number or an unknown size.
std::optional<double> place_of(std::string_view axis, const std::string& value) {
  if (axis != "size") {
    const std::optional<std::int64_t> number = axis == "bytes" ? render::parse_bytes(value) : parse_integer(value);
    return number && *number > 0 ? std::optional{static_cast<double>(*number)} : std::nullopt;
  }
  const auto sizes = builtin_model_sizes();
  const auto found = std::ranges::find(sizes, value, &ModelSize::name);
  return found == sizes.end() ? std::nullopt : std::optional{static_cast<double>(parameter_count(*found))};
}

/// A number of a section, with its keys and its quantity.
struct Value {
  StudyKeys keys;
  std::string quantity;
  double number{};
};

/// Returns the numbers of a section. The left-aligned columns have the row keys, the others the numbers.
std::vector<Value> values_of(const studies::StudySection& section) {
  std::vector<Value> values;
  for (const auto& row : section.rows) {
    StudyKeys keys;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const render::Column& column = section.columns[i];
      if (is_key(column)) {
        keys.emplace_back(column.header, row[i].text);
      } else if (row[i].value && *row[i].value > 0) {
        StudyQuantity quantity = quantity_of(column.header);
        if (is_derived(quantity.name)) continue;
        quantity.keys.insert(quantity.keys.begin(), keys.begin(), keys.end());
        values.push_back({.keys = std::move(quantity.keys), .quantity = quantity.name, .number = *row[i].value});
      }
    }
  }
  return values;
}

std::set<std::string> distinct(const std::vector<Value>& values, std::string_view key) {
  std::set<std::string> found;
  for (const Value& value : values) found.insert(value_of(value.keys, key));
  found.erase("");
  return found;
}

/// Returns whether the values can be placed along a key.
bool is_axis(std::string_view key, const std::vector<Value>& values) {
  const std::set<std::string> found = distinct(values, key);
  return found.size() > 1 &&
         std::ranges::all_of(found, [&](const std::string& value) { return place_of(key, value).has_value(); });
}

/// Returns whether the columns of a section differ in the key.
bool is_over_columns(std::string_view key, const studies::StudySection& section) {
  return std::ranges::any_of(section.columns, [&](const render::Column& column) {
    return column.align != render::Align::kLeft && !value_of(quantity_of(column.header).keys, key).empty();
  });
}

std::optional<Axis> axis_of(const std::vector<Value>& values, const studies::StudySection& section) {
  std::optional<Axis> along_rows;
  for (const Axis& axis : kAxes) {
    if (!is_axis(axis.key, values)) continue;
    if (is_over_columns(axis.key, section)) return axis;
    if (!along_rows) along_rows = axis;
  }
  return along_rows;
}

/// Returns the quantities in their order; if there are too many, only the first with a unit.
Texts quantities_of(const std::vector<Value>& values) {
  Texts names;
  for (const Value& value : values) {
    if (std::ranges::find(names, value.quantity) == names.end()) names.push_back(value.quantity);
  }
  if (names.size() <= kMaxQuantities) return names;
  const auto with_unit =
      std::ranges::find_if(names, [](const std::string& name) { return name.find(' ') != std::string::npos; });
  return {with_unit == names.end() ? names.front() : *with_unit};
}

/// Groups values by a name, in the order in which the names first appear.
template <class NameOf>
std::vector<std::pair<std::string, std::vector<Value>>> grouped(const std::vector<Value>& values, NameOf name_of) {
  std::vector<std::pair<std::string, std::vector<Value>>> groups;
  for (const Value& value : values) {
    const std::string name = name_of(value);
    auto group = std::ranges::find(groups, name, [](const auto& g) { return g.first; });
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
    group->second.push_back(value);
  }
  return groups;
}

/// The keys whose values differ, without the axis: the keys that distinguish lines, and the keys that divide charts.
struct Division {
  Texts lines;
  Texts charts;
};

Division division_of(const std::vector<Value>& values, std::string_view axis) {
  Division division;
  for (const auto& [key, value] : values.front().keys) {
    if (key != axis && distinct(values, key).size() > 1) division.lines.push_back(key);
  }
  const auto is_crowded = [&] {
    const auto charts = grouped(values, [&](const Value& v) { return joined(v.keys, division.charts); });
    return std::ranges::any_of(charts, [&](const auto& chart) {
      return grouped(chart.second, [&](const Value& v) { return joined(v.keys, division.lines); }).size() > kMaxLines;
    });
  };
  for (const std::string_view key : kDividing) {
    const auto line = std::ranges::find(division.lines, key);
    if (line == division.lines.end() || !is_crowded()) continue;
    division.charts.push_back(*line);
    division.lines.erase(line);
  }
  return division;
}

/// Returns the share of the text colour in a variant's colour, as in plots/division.cpp.
double shade_of(std::size_t index, std::size_t count) {
  const auto number = static_cast<double>(count);
  return static_cast<double>(index) / std::max(1.0, number - 1) * std::min(0.75, 0.35 + 0.1 * number);
}

/// Assigns colours and shapes to chart series. The first key of kColouredKeys with several values sets the base
/// colour; each combination of the other keys has its own shape and its own shade of that colour.
class Colours {
 public:
  explicit Colours(const std::vector<Value>& values) {
    for (const std::string_view key : kColouredKeys) {
      key_ = key;
      slots_ = colour_slots(distinct(values, key));
      if (slots_.size() > 1) return;
    }
  }

  void paint(std::vector<ChartSeries>& series, const std::vector<StudyKeys>& keys) const {
    std::vector<std::string> variants;
    for (const StudyKeys& of : keys) {
      const std::string variant = variant_of(of);
      if (std::ranges::find(variants, variant) == variants.end()) variants.push_back(variant);
    }
    for (std::size_t i = 0; i < series.size(); ++i) {
      const auto number = static_cast<std::size_t>(std::ranges::find(variants, variant_of(keys[i])) - variants.begin());
      series[i].shape = number;
      series[i].colour = fmt::format("color-mix(in srgb, {}, var(--text) {:.0f}%)", base_of(keys[i]),
                                     100 * shade_of(number, variants.size()));
    }
  }

 private:
  [[nodiscard]] std::string base_of(const StudyKeys& keys) const {
    const auto slot = slots_.find(value_of(keys, key_));
    return slot == slots_.end() || slots_.size() < 2 ? "var(--accent)" : slot_colour(slot->second);
  }
  [[nodiscard]] std::string variant_of(const StudyKeys& keys) const {
    Texts others;
    for (const auto& [key, value] : keys) {
      if (key != key_) others.push_back(value);
    }
    return join(others, " ");
  }

  std::string_view key_;
  std::map<std::string, std::size_t> slots_;
};

/// Returns the keys of a value that distinguish lines.
StudyKeys keys_of(const Value& value, const Texts& lines) {
  StudyKeys keys;
  for (const auto& pair : value.keys) {
    if (std::ranges::find(lines, pair.first) != lines.end()) keys.push_back(pair);
  }
  return keys;
}

/// Returns a chart of the values, or nullopt if a point has several values or no line has two points.
std::optional<LineChart> chart_of(const std::vector<Value>& values, std::string_view axis, const Division& division,
                                  const Colours& colours) {
  LineChart chart;
  std::vector<StudyKeys> keys;
  std::map<double, std::string> ticks;
  for (const auto& [name, line] : grouped(values, [&](const Value& v) { return joined(v.keys, division.lines); })) {
    std::map<double, double> points;
    for (const Value& value : line) {
      const std::string at = value_of(value.keys, axis);
      const double x = place_of(axis, at).value();
      if (!points.emplace(x, value.number).second) return std::nullopt;
      ticks[x] = at;
    }
    if (points.size() < 2) continue;
    ChartSeries& series = chart.series.emplace_back(ChartSeries{.name = name, .colour = {}, .points = {}});
    for (const auto& [x, y] : points) series.points.push_back({.x = x, .y = y});
    keys.push_back(keys_of(line.front(), division.lines));
  }
  if (chart.series.empty()) return std::nullopt;
  colours.paint(chart.series, keys);
  for (const auto& [x, label] : ticks) chart.ticks.push_back({.at = x, .label = label});
  return chart;
}

}  // namespace

StudyPlots study_plots(const studies::StudySection& section) {
  const std::vector<Value> all = values_of(section);
  StudyPlots plots;
  const std::optional<Axis> axis = axis_of(all, section);
  if (!axis) return plots;
  const Colours colours{all};
  for (const std::string& quantity : quantities_of(all)) {
    std::vector<Value> values;
    std::ranges::copy_if(all, std::back_inserter(values), [&](const Value& v) { return v.quantity == quantity; });
    const Division division = division_of(values, axis->key);
    for (const auto& [name, group] : grouped(values, [&](const Value& v) { return joined(v.keys, division.charts); })) {
      std::optional<LineChart> chart = chart_of(group, axis->key, division, colours);
      if (!chart) continue;
      chart->y = quantity.empty() ? quantity_of_caption(section.caption) : quantity;
      chart->x = axis->title;
      chart->title = name.empty() ? chart->y : fmt::format("{}, {}", name, chart->y);
      if (division.lines.empty()) chart->series.front().name = chart->y;
      plots.charts.push_back(std::move(*chart));
    }
  }
  if (plots.charts.size() > kMaxCharts) {
    plots.left_out = plots.charts.size() - kMaxCharts;
    plots.charts.resize(kMaxCharts);
  }
  return plots;
}

}  // namespace tbench::html
