#include "html/charts/column_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "html/charts/axes.hpp"
#include "html/charts/charts.hpp"
#include "tbench/render/markup.hpp"

namespace tbench::html {
namespace {

// Lengths in units of the picture. A unit is a pixel if the picture is kWidth pixels wide.
constexpr double kWidth = 560;
constexpr double kLeft = 98;
constexpr double kRight = 12;
constexpr double kTop = 10;
constexpr double kBars = 236;  // length of an axis
constexpr double kBase = kTop + kBars;
constexpr double kMaxBar = 36;
constexpr double kOfPlace = 0.8;  // share of its category that a group of bars fills
constexpr double kLetter = 9;
constexpr double kSlope = 0.643;  // sine of 40 degrees, by which names slant that have no room

/// The widths of a category and of a bar, from which the positions of bars follow.
struct Places {
  double category{};
  double bar{};
  [[nodiscard]] double middle(std::size_t category_index) const {
    return kLeft + category * (static_cast<double>(category_index) + 0.5);
  }
  [[nodiscard]] double left(std::size_t category_index, std::size_t series, std::size_t count) const {
    return middle(category_index) + bar * (static_cast<double>(series) - static_cast<double>(count) / 2);
  }
};

Places places_of(const ColumnChart& chart) {
  const double category = (kWidth - kLeft - kRight) / static_cast<double>(chart.categories.size());
  return {.category = category,
          .bar = std::min(kMaxBar, kOfPlace * category / static_cast<double>(chart.series.size()))};
}

double highest(const ColumnChart& chart) {
  double high = 0;
  for (const ColumnSeries& series : chart.series) {
    for (const Column& column : series.columns) {
      if (!(column.value >= 0) || !std::isfinite(column.value) || column.category >= chart.categories.size()) {
        throw std::invalid_argument{fmt::format("column_chart: {} of {}", column.value, series.name)};
      }
      high = std::max(high, column.value);
    }
  }
  if (!(high > 0)) throw std::invalid_argument{"column_chart: nothing above 0"};
  return std::max(high, chart.level.value_or(0));
}

std::size_t most_letters(const ColumnChart& chart) {
  std::size_t letters = 0;
  for (const std::string& name : chart.categories) letters = std::max(letters, name.size());
  return letters;
}

bool has_room(const ColumnChart& chart, const Places& places) {
  return kLetter * static_cast<double>(most_letters(chart) + 1) <= places.category;
}

/// Returns the room for the categories' names below the bars.
double room_of_names(const ColumnChart& chart, const Places& places) {
  constexpr double kLine = 20;
  return has_room(chart, places) ? kLine : kLine + kSlope * kLetter * static_cast<double>(most_letters(chart));
}

std::string names_of(const ColumnChart& chart, const Places& places) {
  std::string names;
  for (std::size_t i = 0; i < chart.categories.size(); ++i) {
    if (has_room(chart, places)) {
      names += text_at(places.middle(i), kBase + 15, "middle", chart.categories[i]);
    } else {
      names += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-40)\" text-anchor=\"end\">{}</text>\n",
                           places.middle(i) + 4, kBase + 13, render::escape_markup(chart.categories[i]));
    }
  }
  return names;
}

std::string axis_of(const ColumnChart& chart, const AxisScale& y) {
  constexpr int kMaxSteps = 6;
  const std::vector<double> steps = steps_from_zero(y.high, kMaxSteps);
  const std::vector<std::string> labels = tick_labels(steps);
  std::string axis;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    axis += grid_line(kLeft, y(steps[i]), kWidth - kRight, y(steps[i]));
    axis += text_at(kLeft - 6, y(steps[i]) + 4, "end", labels[i]);
  }
  return axis + fmt::format("<text transform=\"translate(13 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                            kTop + kBars / 2, render::escape_markup(chart.y));
}

std::string bars_of(const ColumnChart& chart, std::size_t number, const Places& places, const AxisScale& y) {
  const ColumnSeries& series = chart.series[number];
  constexpr double kGap = 0.12;  // share of a bar between it and the next bar
  std::string bars =
      fmt::format("<g class=\"series\" style=\"--series:{}\" opacity=\"{}\">\n", series.colour, series.opacity);
  for (const Column& column : series.columns) {
    const double top = y(column.value);
    bars += fmt::format("<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"{}/>\n",
                        series.is_open ? "bar open" : "bar",
                        places.left(column.category, number, chart.series.size()) + kGap * places.bar / 2, top,
                        places.bar * (1 - kGap), kBase - top,
                        point_attributes(chart.categories[column.category], number_text(column.value), column.facts));
  }
  return bars + "</g>\n";
}

std::string sign_of(const ColumnSeries& series) {
  return fmt::format("<rect class=\"{}\" x=\"1\" y=\"1\" width=\"10\" height=\"10\" opacity=\"{}\"/>",
                     series.is_open ? "bar open" : "bar", series.opacity);
}

std::string level_of(const ColumnChart& chart, const AxisScale& y) {
  return fmt::format(
      "<g class=\"series\" style=\"--series:var(--text)\">\n<path class=\"line dashed\" d=\"M{} {:.1f}H{}\"/>"
      "\n</g>\n",
      kLeft, y(*chart.level), kWidth - kRight);
}

}  // namespace

std::string column_chart(const ColumnChart& chart) {
  const AxisScale y{.low = 0, .high = highest(chart), .from = kBase, .to = kTop, .is_log = false};
  const Places places = places_of(chart);
  const double bottom = kBase + room_of_names(chart, places);
  std::size_t count = 0;
  for (const ColumnSeries& series : chart.series) count += series.columns.size();
  std::string figure = chart_head(
      chart.title, fmt::format("{}: {} by {}, {} bars, which the table lists", chart.title, chart.y, chart.x, count),
      kWidth, bottom + 20);
  figure += axis_of(chart, y) + names_of(chart, places);
  for (std::size_t i = 0; i < chart.series.size(); ++i) figure += bars_of(chart, i, places, y);
  if (chart.level) figure += level_of(chart, y);
  figure += text_at((kLeft + kWidth - kRight) / 2, bottom + 14, "middle", chart.x) + "</svg></div>\n";
  if (!chart.has_legend) return figure + "</figure>\n";
  figure += "<ul class=\"legend\">\n";
  for (const ColumnSeries& series : chart.series) figure += legend_entry(series.colour, sign_of(series), series.name);
  if (chart.level) {
    figure += legend_entry("var(--text)", "<path class=\"line dashed\" d=\"M0 6H12\"/>", chart.level_name);
  }
  return figure + "</ul>\n</figure>\n";
}

}  // namespace tbench::html
