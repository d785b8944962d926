#include "html/charts/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tbench/render/markup.hpp"

namespace tbench::html {
namespace {

// Lengths in the units of a group's picture.
constexpr double kPlace = 24;     // minimum width of a bar with the gap to the next bar
constexpr double kMaxBar = 30;    // maximum width of a bar
constexpr double kOfPlace = 0.7;  // share of the available width that a bar fills
constexpr double kLeast = 170;    // minimum width of all bars of a group
constexpr double kLeft = 46;
constexpr double kRight = 6;
constexpr double kLetter = 7.2;  // width of the widest digit of a label; labels above bars are upright
constexpr double kBars = 190;    // length of the longest bar
constexpr double kBottom = 24;
constexpr double kOutline = 1.5;
constexpr int kMaxSteps = 5;

struct Box {
  double left{};
  double top{};
  double width{};
  double height{};
};

/// Returns lines at 45 degrees over a whole box. Odd kinds of hatch have rising lines, even kinds have falling lines.
std::string hatch_lines(const Box& box, std::size_t hatch) {
  constexpr double kApart = 6;
  const bool rises = hatch % 2 == 1;
  std::string path;
  for (double along = kApart; along < box.width + box.height; along += kApart) {
    // The line goes from the left side or the bottom to the top or the right side, seen from the box's left top corner.
    const double x1 = std::max(0.0, along - box.height);
    const double x2 = std::min(box.width, along);
    const auto at = [&](double x) {
      const double y = along - x;
      return fmt::format("{:.1f} {:.1f}", box.left + x, box.top + (rises ? y : box.height - y));
    };
    path += fmt::format("M{}L{}", at(x1), at(x2));
  }
  return path;
}

std::string shape_of(const Box& box, const BarSeries& series, const std::string& title) {
  const std::string said = title.empty() ? "" : fmt::format("<title>{}</title>", render::escape_markup(title));
  if (series.hatch == 0) {
    return fmt::format("<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">{}</rect>\n",
                       box.left, box.top, box.width, box.height, said);
  }
  // The outline lies inside of the box, so that both kinds of bars are as long as their values.
  const Box inner{.left = box.left + kOutline / 2,
                  .top = box.top + kOutline / 2,
                  .width = box.width - kOutline,
                  .height = std::max(0.1, box.height - kOutline)};
  return fmt::format(
      "<rect class=\"bar open\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\">{}</rect>"
      "<path class=\"hatch\" d=\"{}\"/>\n",
      inner.left, inner.top, inner.width, inner.height, said, hatch_lines(inner, series.hatch));
}

std::string upright_text(double x, double y, std::string_view text) {
  return fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\">{}</text>\n", x, y,
                     render::escape_markup(text));
}

double longest(const BarGroup& group) {
  double high = 0;
  for (const Bar& bar : group.bars) {
    if (!bar.value) continue;
    if (!(*bar.value >= 0) || !std::isfinite(*bar.value)) {
      throw std::invalid_argument{fmt::format("bar_chart: {} of {}", *bar.value, group.name)};
    }
    high = std::max(high, *bar.value);
  }
  if (!(high > 0)) throw std::invalid_argument{fmt::format("bar_chart: nothing above 0 of {}", group.name)};
  return high;
}

/// Returns the room that the upright labels of all groups need above the longest bar.
double room_of_labels(const BarChart& chart) {
  std::size_t letters = 0;
  for (const BarGroup& group : chart.groups) {
    for (const Bar& bar : group.bars) letters = std::max(letters, bar.value ? bar.label.size() : 0);
  }
  return 10 + kLetter * static_cast<double>(letters);
}

std::string group_picture(const BarChart& chart, const BarGroup& group, double top) {
  if (group.bars.size() != chart.series.size()) {
    throw std::invalid_argument{fmt::format("bar_chart: {} bars of {} series", group.bars.size(), chart.series.size())};
  }
  const double high = longest(group);
  const double room = std::max(kLeast, kPlace * static_cast<double>(chart.series.size()));
  const double place = room / static_cast<double>(chart.series.size());
  const double width = std::min(kMaxBar, kOfPlace * place);
  const double base = top + kBars;
  const auto y_of = [&](double value) { return base - kBars * value / high; };
  std::string picture =
      fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}: {} bars, which the table lists\">\n",
                  kLeft + room + kRight, base + kBottom,
                  render::escape_markup(group.name.empty() ? chart.title : group.name), group.bars.size());
  for (const double step : steps_from_zero(high, kMaxSteps)) {
    picture += grid_line(kLeft, y_of(step), kLeft + room, y_of(step));
    picture += text_at(kLeft - 5, y_of(step) + 4, "end", fmt::format("{:g}", step));
  }
  constexpr double kHalfLetter = 4;
  for (std::size_t i = 0; i < group.bars.size(); ++i) {
    const Bar& bar = group.bars[i];
    const BarSeries& series = chart.series[i];
    const double middle = kLeft + place * (static_cast<double>(i) + 0.5);
    picture += fmt::format("<g style=\"--series:{}\">", series.colour);
    if (bar.value) {
      const double end = y_of(*bar.value);
      picture += shape_of({.left = middle - width / 2, .top = end, .width = width, .height = base - end}, series,
                          fmt::format("{}: {}", series.name, bar.label));
    }
    picture += upright_text(middle + kHalfLetter, (bar.value ? y_of(*bar.value) : base) - 5, bar.label);
    picture += "</g>\n";
  }
  return picture + text_at(kLeft + room / 2, base + kBottom - 6, "middle", group.name) + "</svg>\n";
}

}  // namespace

std::string bar_chart(const BarChart& chart) {
  if (chart.groups.empty()) throw std::invalid_argument{"bar_chart: no groups"};
  const std::string title = chart.title + (chart.groups.size() > 1 ? ", each group on an axis of its own" : "");
  std::string figure = fmt::format("<figure class=\"wide\">\n<figcaption>{}</figcaption>\n<div class=\"groups\">\n",
                                   render::escape_markup(title));
  const double top = room_of_labels(chart);
  for (const BarGroup& group : chart.groups) figure += group_picture(chart, group, top);
  figure += "</div>\n<ul class=\"legend\">\n";
  for (const BarSeries& series : chart.series) {
    figure += fmt::format("<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\" style=\"--series:{}\">{}</svg>{}</li>\n",
                          series.colour, shape_of({.left = 0, .top = 0, .width = 12, .height = 12}, series, {}),
                          render::escape_markup(series.name));
  }
  return figure + "</ul>\n</figure>\n";
}

}  // namespace tbench::html
