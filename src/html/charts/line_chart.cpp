#include "html/charts/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

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
constexpr double kLetter = 7.2;  // width of the widest digit in a label of height 12
constexpr double kLine = 15;     // height of a label with the gap to the next label

/// The positions of values on one axis.
struct Scale {
  double low{};
  double high{};
  double from{};
  double to{};
  [[nodiscard]] double operator()(double value) const {
    return from + (to - from) * std::log(value / low) / std::log(high / low);
  }
};

/// Returns a scale that extends beyond the values at both ends, by 5 % of their logarithmic range, but at least by a
/// factor of 1.08. No point is then on the frame.
Scale scale_of(double low, double high, double from, double to) {
  const double room = std::max(1.08, std::pow(high / low, 0.05));
  return {.low = low / room, .high = high * room, .from = from, .to = to};
}

/// Returns 1, 2 and 5 of every decade, or all digits if these are fewer than three values.
std::vector<double> round_values(double low, double high) {
  const auto values = [&](auto keeps) {
    std::vector<double> found;
    for (int decade = static_cast<int>(std::floor(std::log10(low))); std::pow(10.0, decade) <= high; ++decade) {
      for (int digit = 1; digit < 10; ++digit) {
        const double value = digit * std::pow(10.0, decade);
        if (keeps(digit) && value >= low && value <= high) found.push_back(value);
      }
    }
    return found;
  };
  const std::vector<double> few = values([](int digit) { return digit == 1 || digit == 2 || digit == 5; });
  constexpr std::size_t kMin = 3;
  return few.size() >= kMin ? few : values([](int) { return true; });
}

std::string x_axis(const LineChart& chart, const Scale& x) {
  std::string axis;
  double end = -kWidth;
  for (const ChartTick& tick : chart.ticks) {
    const double at = x(tick.at);
    axis += grid_line(at, kTop, at, kHeight - kBottom);
    const double half = kLetter * static_cast<double>(tick.label.size()) / 2;
    if (at - half < end + kLetter) continue;
    axis += text_at(at, kHeight - kBottom + kLine, "middle", tick.label);
    end = at + half;
  }
  return axis + text_at((kLeft + kWidth - kRight) / 2, kHeight - 6, "middle", chart.x);
}

std::string y_axis(const LineChart& chart, const Scale& y) {
  std::string axis;
  double end = kHeight;
  for (const double value : round_values(y.low, y.high)) {
    const double at = y(value);
    axis += grid_line(kLeft, at, kWidth - kRight, at);
    if (at > end - kLine) continue;
    axis += text_at(kLeft - 6, at + 4, "end", fmt::format("{:g}", value));
    end = at;
  }
  return axis + fmt::format("<text transform=\"translate(13 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                            (kTop + kHeight - kBottom) / 2, render::escape_markup(chart.y));
}

/// Returns the path of a point shape: circle, square, triangle, diamond or inverted triangle.
std::string shape_at(std::size_t shape, double x, double y) {
  constexpr std::array kShapes{"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", "m-3.5 -3.5h7v7h-7z", "m0 -4.5l4.5 8h-9z",
                               "m0 -5l5 5l-5 5l-5 -5z", "m0 4.5l4.5 -8h-9z"};
  return fmt::format("M{:.1f} {:.1f}{}", x, y, kShapes.at(shape % kShapes.size()));
}

std::string series_lines(const ChartSeries& series, const Scale& x, const Scale& y) {
  std::string line;
  std::string points;
  for (const ChartPoint& point : series.points) {
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", x(point.x), y(point.y));
    points += fmt::format("<path class=\"point\" d=\"{}\"><title>{}: {}</title></path>\n",
                          shape_at(series.shape, x(point.x), y(point.y)), render::escape_markup(series.name),
                          render::format_number(point.y));
  }
  return fmt::format("<g style=\"--series:{}\">\n<path class=\"line\" d=\"{}\"/>\n{}</g>\n", series.colour, line,
                     points);
}

std::string legend_entry(const ChartSeries& series) {
  return fmt::format(
      "<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\" style=\"--series:{}\"><path class=\"point\" d=\"{}\"/></svg>"
      "{}</li>\n",
      series.colour, shape_at(series.shape, 6, 6), render::escape_markup(series.name));
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

}  // namespace

std::string line_chart(const LineChart& chart) {
  Range x_range;
  Range y_range;
  std::size_t count = 0;
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      x_range.add(point.x);
      y_range.add(point.y);
      ++count;
    }
  }
  if (count == 0) throw std::invalid_argument{"line_chart: no points"};
  const Scale x = scale_of(x_range.low, x_range.high, kLeft, kWidth - kRight);
  const Scale y = scale_of(y_range.low, y_range.high, kHeight - kBottom, kTop);
  std::string figure = fmt::format(
      "<figure>\n<figcaption>{0}</figcaption>\n"
      "<svg viewBox=\"0 0 {1} {2}\" role=\"img\" aria-label=\"{0}: {3} by {4}, {5} values, which the table lists\">\n",
      render::escape_markup(chart.title), kWidth, kHeight, render::escape_markup(chart.y),
      render::escape_markup(chart.x), count);
  figure += x_axis(chart, x) + y_axis(chart, y);
  for (const ChartSeries& series : chart.series) figure += series_lines(series, x, y);
  figure += "</svg>\n<ul class=\"legend\">\n";
  for (const ChartSeries& series : chart.series) figure += legend_entry(series);
  return figure + "</ul>\n</figure>\n";
}

}  // namespace tbench::html
