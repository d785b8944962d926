#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "html/charts/axes.hpp"
#include "html/charts/charts.hpp"
#include "tbench/render/markup.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::html {
namespace {

// Lengths in units of the picture. A unit is a pixel if the picture is kWidth pixels wide.
constexpr double kWidth = 560;
constexpr double kHeight = 300;
constexpr double kLeft = 64;
constexpr double kRight = 16;
constexpr double kTop = 12;
constexpr double kBottom = 44;
constexpr double kLetter = 9;  // width of the widest digit in a label of height 14, as on small screens
constexpr double kLine = 15;   // height of a label with the gap to the next label
constexpr double kMinLabelDistance =
    19;  // the least distance of labels of y, whose letters are higher on small screens
constexpr double kCrosses = kTop + 6;

bool is_scripted(const LineChart& chart) { return chart.page == ChartPage::kScripted; }

/// Returns the ticks of the chart, or 1, 2 and 5 of every decade.
std::vector<ChartTick> ticks_of(const LineChart& chart, const AxisScale& x) {
  if (!chart.ticks.empty()) return chart.ticks;
  std::vector<ChartTick> ticks;
  const std::vector<double> steps = log_steps(x.low, x.high);
  const std::vector<std::string> labels = tick_labels(steps);
  for (std::size_t i = 0; i < steps.size(); ++i) ticks.push_back({.at = steps[i], .label = labels[i]});
  return ticks;
}

std::string x_axis(const LineChart& chart, const AxisScale& x) {
  std::string axis;
  double end = -kWidth;
  for (const ChartTick& tick : ticks_of(chart, x)) {
    const double at = x(tick.at);
    axis += grid_line(at, kTop, at, kHeight - kBottom);
    const double half = kLetter * static_cast<double>(tick.label.size()) / 2;
    if (at - half < end + kLetter || at + half > kWidth) continue;
    axis += text_at(at, kHeight - kBottom + kLine, "middle", tick.label);
    end = at + half;
  }
  return axis + text_at((kLeft + kWidth - kRight) / 2, kHeight - 6, "middle", chart.x);
}

std::string y_axis(const std::string& title, const AxisScale& y) {
  constexpr int kMaxSteps = 6;
  const std::vector<double> steps = y.is_log ? log_steps(y.low, y.high) : steps_between(y.low, y.high, kMaxSteps);
  const std::vector<std::string> labels = tick_labels(steps);
  std::string axis;
  double end = kHeight;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double at = y(steps[i]);
    axis += grid_line(kLeft, at, kWidth - kRight, at);
    if (at > end - kMinLabelDistance) continue;
    axis += text_at(kLeft - 6, at + 4, "end", labels[i]);
    end = at;
  }
  return axis + fmt::format("<text transform=\"translate(13 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                            (kTop + kHeight - kBottom) / 2, render::escape_markup(title));
}

/// Returns the ticks of one scale of y, with what a script needs to place values on it.
std::string y_ticks(const LineChart& chart, const AxisScale& y, bool is_shown) {
  return fmt::format(
      "<g class=\"ticks\" data-scale=\"{}\" data-low=\"{}\" data-high=\"{}\" data-from=\"{}\" "
      "data-to=\"{}\"{}>\n{}</g>\n",
      y.is_log ? "log" : "linear", y.low, y.high, y.from, y.to, is_shown ? "" : " display=\"none\"",
      y_axis(chart.y + origin_note(y), y));
}

std::string point_at(const ChartSeries& series, const ChartPoint& point, bool is_plain, double x, double y) {
  if (is_plain) {
    return fmt::format("<path class=\"point\" d=\"{}\"><title>{}: {}</title></path>\n", shape_at(series.shape, x, y),
                       render::escape_markup(series.name), render::format_number(point.y));
  }
  const std::string value = point.has_no_value ? "" : number_text(point.y);
  return fmt::format("<path class=\"{}\" d=\"{}\"{}/>\n", point.has_no_value ? "cross" : "point",
                     point.has_no_value ? cross_at(x, kCrosses) : shape_at(series.shape, x, y),
                     point_attributes(number_text(point.x), value, point.facts));
}

/// Returns the points of a line without marks, from which a script draws it again: position on x, value, and x.
std::string line_values(const ChartSeries& series, const AxisScale& x) {
  std::string values;
  for (const ChartPoint& point : series.points) {
    values += fmt::format("{}{:.1f} {} {}", values.empty() ? "" : ",", x(point.x), number_text(point.y),
                          number_text(point.x));
  }
  return fmt::format(" data-values=\"{}\"", values);
}

std::string series_lines(const LineChart& chart, const ChartSeries& series, const AxisScale& x, const AxisScale& y) {
  std::string line;
  std::string points;
  for (const ChartPoint& point : series.points) {
    const double at = point.has_no_value ? kCrosses : y(point.y);
    if (!point.has_no_value) line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", x(point.x), at);
    if (series.look != SeriesLook::kLine) points += point_at(series, point, !is_scripted(chart), x(point.x), at);
  }
  const bool is_alone = series.look == SeriesLook::kLine && is_scripted(chart);
  const std::string path = series.look == SeriesLook::kPoints
                               ? ""
                               : fmt::format("<path class=\"line{}\" d=\"{}\"{}/>\n", series.is_dashed ? " dashed" : "",
                                             line, is_alone ? line_values(series, x) : "");
  return fmt::format("<g{} style=\"--series:{}\">\n{}{}</g>\n", is_scripted(chart) ? " class=\"series\"" : "",
                     series.colour, path, points);
}

std::string sign_of(const ChartSeries& series) {
  const std::string line = fmt::format("<path class=\"line{}\" d=\"M0 6H12\"/>", series.is_dashed ? " dashed" : "");
  if (series.look == SeriesLook::kLine) return line;
  return (series.is_dashed ? line : "") + fmt::format("<path class=\"point\" d=\"{}\"/>", shape_at(series.shape, 6, 6));
}

struct Range {
  double low{INFINITY};
  double high{};
  void add(double value) {
    if (!(value > 0) || !std::isfinite(value)) throw std::invalid_argument{"line_chart: a value that is not above 0"};
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

struct Ranges {
  Range x;
  Range y;
  std::size_t count{};
};

Ranges ranges_of(const LineChart& chart) {
  Ranges ranges;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      ranges.x.add(point.x);
      if (!point.has_no_value) ranges.y.add(point.y);
      ++ranges.count;
    }
  }
  if (ranges.count == 0 || ranges.y.high == 0) throw std::invalid_argument{"line_chart: no points"};
  return ranges;
}

std::string head_of(const LineChart& chart, std::size_t count) {
  const std::string said =
      fmt::format("{}: {} by {}, {} values, which the table lists", chart.title, chart.y, chart.x, count);
  if (is_scripted(chart)) return chart_head(chart.title, said, kWidth, kHeight);
  return fmt::format(
      "<figure>\n<figcaption>{}</figcaption>\n<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
      render::escape_markup(chart.title), kWidth, kHeight, render::escape_markup(said));
}

}  // namespace

std::string line_chart(const LineChart& chart) {
  const Ranges ranges = ranges_of(chart);
  const AxisScale x = log_scale(ranges.x.low, ranges.x.high, kLeft, kWidth - kRight);
  const AxisScale log = log_scale(ranges.y.low, ranges.y.high, kHeight - kBottom, kTop);
  const AxisScale linear = linear_scale(ranges.y.low, ranges.y.high, kHeight - kBottom, kTop);
  const AxisScale& y = chart.begins_linear ? linear : log;
  std::string figure = head_of(chart, ranges.count) + x_axis(chart, x);
  figure += is_scripted(chart) ? y_ticks(chart, y, true) : y_axis(chart.y, y);
  if (is_scripted(chart) && chart.is_switchable) figure += y_ticks(chart, chart.begins_linear ? log : linear, false);
  for (const ChartSeries& series : chart.series) figure += series_lines(chart, series, x, y);
  figure += is_scripted(chart) ? "</svg></div>\n" : "</svg>\n";
  if (!chart.has_legend) return figure + "</figure>\n";
  figure += "<ul class=\"legend\">\n";
  for (const ChartSeries& series : chart.series) figure += legend_entry(series.colour, sign_of(series), series.name);
  return figure + "</ul>\n</figure>\n";
}

}  // namespace tbench::html
