#include "html/charts/row_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "html/charts/axes.hpp"
#include "html/charts/charts.hpp"
#include "tbench/render/markup.hpp"

namespace tbench::html {
namespace {

// Lengths in units of the picture. A unit is a pixel if the picture is kWidth pixels wide.
constexpr double kWidth = 560;
constexpr double kLeft = 14;
constexpr double kRight = 20;
constexpr double kTop = 4;
constexpr double kRow = 32;   // a name, and the bar below it
constexpr double kName = 12;  // base of a name below the top of its row
constexpr double kMark = 17;  // top of a bar below the top of its row
constexpr double kBar = 12;
constexpr double kBottom = 40;
constexpr std::size_t kMaxLetters = 84;  // of a name

/// Returns the scale on which all marks fit.
AxisScale scale_of(const RowChart& chart) {
  double low = chart.reference.value_or(0);
  double high = chart.reference.value_or(0);
  for (const RowSeries& series : chart.series) {
    for (const RowMark& mark : series.marks) {
      if (!std::isfinite(mark.from) || !std::isfinite(mark.to) || mark.row >= chart.rows.size()) {
        throw std::invalid_argument{fmt::format("row_chart: {} to {} of {}", mark.from, mark.to, series.name)};
      }
      low = std::min({low, mark.from, mark.to});
      high = std::max({high, mark.from, mark.to});
    }
  }
  if (!(high > low)) throw std::invalid_argument{"row_chart: all values are equal"};
  constexpr double kMargin = 0.03;
  const double room = chart.reference ? kMargin * (high - low) : 0;
  return {.low = low - room, .high = high + room, .from = kLeft, .to = kWidth - kRight, .is_log = false};
}

std::string axis_of(const RowChart& chart, const AxisScale& x, double bottom) {
  constexpr int kMaxSteps = 6;
  const std::vector<double> steps = steps_between(x.low, x.high, kMaxSteps);
  const std::vector<std::string> labels = tick_labels(steps);
  std::string axis;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    axis += grid_line(x(steps[i]), kTop, x(steps[i]), bottom);
    axis += text_at(x(steps[i]), bottom + 15, "middle", labels[i]);
  }
  if (chart.reference) {
    axis += fmt::format("<path class=\"link\" d=\"M{0:.1f} {1}V{2}\"/>\n", x(*chart.reference), kTop, bottom);
  }
  return axis + text_at((kLeft + kWidth - kRight) / 2, bottom + 33, "middle", chart.x + origin_note(x));
}

std::string cut(const std::string& name) {
  if (name.size() <= kMaxLetters) return name;
  std::size_t end = kMaxLetters - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;  // inside of a letter of UTF-8
  return name.substr(0, end) + "…";
}

std::string names_of(const RowChart& chart) {
  std::string names;
  for (std::size_t i = 0; i < chart.rows.size(); ++i) {
    names += fmt::format("<text data-row=\"{}\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", i, kLeft,
                         kTop + kRow * static_cast<double>(i) + kName, render::escape_markup(cut(chart.rows[i])));
  }
  return names;
}

std::string shape_of(const RowMark& mark, RowLook look, const AxisScale& x) {
  const double top = kTop + kRow * static_cast<double>(mark.row) + kMark;
  const double left = x(std::min(mark.from, mark.to));
  const double width = x(std::max(mark.from, mark.to)) - left;
  switch (look) {
    case RowLook::kPoint:
      return fmt::format("<path class=\"point\" d=\"{}\"", shape_at(0, left, top + kBar / 2));
    case RowLook::kInterval:
      return fmt::format("<path class=\"interval\" d=\"M{:.1f} {:.1f}h{:.1f}\"", left, top + kBar / 2, width);
    case RowLook::kBar:
    case RowLook::kOutline:
      break;
  }
  return fmt::format("<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\"",
                     look == RowLook::kBar ? "bar" : "bar open", left, top, width, kBar);
}

std::string series_marks(const RowChart& chart, const RowSeries& series, const AxisScale& x) {
  std::string marks = fmt::format("<g class=\"series\" style=\"--series:{}\">\n", series.colour);
  for (const RowMark& mark : series.marks) {
    marks += fmt::format("{} data-row=\"{}\"{}/>\n", shape_of(mark, series.look, x), mark.row,
                         point_attributes(chart.rows[mark.row], number_text(mark.value), mark.facts));
  }
  return marks + "</g>\n";
}

std::string sign_of(const RowSeries& series) {
  switch (series.look) {
    case RowLook::kPoint:
      return fmt::format("<path class=\"point\" d=\"{}\"/>", shape_at(0, 6, 6));
    case RowLook::kInterval:
      return "<path class=\"interval\" d=\"M0 6H12\"/>";
    case RowLook::kBar:
    case RowLook::kOutline:
      break;
  }
  return fmt::format("<rect class=\"{}\" x=\"1\" y=\"1\" width=\"10\" height=\"10\"/>",
                     series.look == RowLook::kBar ? "bar" : "bar open");
}

}  // namespace

std::string row_chart(const RowChart& chart) {
  const AxisScale x = scale_of(chart);
  const double bottom = kTop + kRow * static_cast<double>(chart.rows.size());
  std::size_t count = 0;
  for (const RowSeries& series : chart.series) count += series.marks.size();
  std::string figure = chart_head(chart.title,
                                  fmt::format("{}: {} in {} rows, {} values, which the table lists", chart.title,
                                              chart.x, chart.rows.size(), count),
                                  kWidth, bottom + kBottom);
  figure += axis_of(chart, x, bottom) + names_of(chart);
  for (const RowSeries& series : chart.series) figure += series_marks(chart, series, x);
  figure += "</svg></div>\n<ul class=\"legend\">\n";
  for (const RowSeries& series : chart.series) figure += legend_entry(series.colour, sign_of(series), series.name);
  return figure + "</ul>\n</figure>\n";
}

}  // namespace tbench::html
