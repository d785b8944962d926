#include "html/charts/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tbench/render/markup.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::html {
namespace {

// Lengths in units of the picture. A unit is a pixel if the picture is kWidth pixels wide.
constexpr double kWidth = 1180;
constexpr double kHeight = 340;
constexpr double kLeft = 70;
constexpr double kRight = 10;
constexpr double kTop = 22;  // room for the names of the marks
constexpr double kBottom = 40;
constexpr double kLetter = 7.2;
constexpr int kMaxSteps = 6;

struct Scale {
  double low{};
  double high{};
  double from{};
  double to{};
  [[nodiscard]] double operator()(double value) const { return from + (to - from) * (value - low) / (high - low); }
};

void check(const AreaChart& chart) {
  constexpr std::size_t kFewest = 2;
  if (chart.points.size() < kFewest || !std::ranges::is_sorted(chart.points) ||
      chart.points.front() == chart.points.back()) {
    throw std::invalid_argument{"area_chart: its points are not two or more, ascending"};
  }
  for (const AreaBand& band : chart.bands) {
    if (band.values.size() != chart.points.size()) throw std::invalid_argument{"area_chart: a value a point"};
    if (std::ranges::any_of(band.values, [](double value) { return !(value >= 0) || !std::isfinite(value); })) {
      throw std::invalid_argument{"area_chart: " + band.name + " is not 0 or above"};
    }
  }
  for (const AreaMark& mark : chart.marks) {
    if (mark.point >= chart.points.size()) throw std::invalid_argument{"area_chart: " + mark.name + " is nowhere"};
  }
}

/// Returns the levels between the bands at every point, from 0 to the sum of all bands.
std::vector<std::vector<double>> stacked(const AreaChart& chart) {
  std::vector<std::vector<double>> levels{std::vector<double>(chart.points.size())};
  for (const AreaBand& band : chart.bands) {
    std::vector<double> level = levels.back();
    for (std::size_t i = 0; i < level.size(); ++i) level[i] += band.values[i];
    levels.push_back(std::move(level));
  }
  return levels;
}

std::string axes_of(const AreaChart& chart, const Scale& x, const Scale& y) {
  std::string axes;
  for (const double step : steps_from_zero(y.high, kMaxSteps)) {
    axes += grid_line(kLeft, y(step), kWidth - kRight, y(step));
    axes += text_at(kLeft - 6, y(step) + 4, "end", fmt::format("{:g}", step));
  }
  for (const double step : steps_from_zero(x.high, kMaxSteps)) {
    if (step >= x.low) axes += text_at(x(step), kHeight - kBottom + 16, "middle", fmt::format("{:g}", step));
  }
  axes += text_at((kLeft + kWidth - kRight) / 2, kHeight - 6, "middle", chart.x);
  return axes + fmt::format("<text transform=\"translate(13 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                            (kTop + kHeight - kBottom) / 2, render::escape_markup(chart.y));
}

std::string band_of(const AreaBand& band, const AreaChart& chart, const std::vector<double>& below,
                    const std::vector<double>& above, const Scale& x, const Scale& y) {
  std::string path;
  const auto corner = [&](std::size_t i, const std::vector<double>& level) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(chart.points[i]), y(level[i]));
  };
  for (std::size_t i = 0; i < chart.points.size(); ++i) corner(i, above);
  for (std::size_t i = chart.points.size(); i > 0; --i) corner(i - 1, below);
  return fmt::format("<path class=\"area\" style=\"fill:{}\" d=\"{}Z\"><title>{}: up to {} {}</title></path>\n",
                     band.colour, path, render::escape_markup(band.name),
                     render::format_number(std::ranges::max(band.values)), render::escape_markup(chart.y));
}

std::string marks_of(const AreaChart& chart, const Scale& x) {
  std::string marks;
  double end = 0;
  for (const AreaMark& mark : chart.marks) {
    const double at = x(chart.points[mark.point]);
    marks += fmt::format("<path class=\"link\" d=\"M{0:.1f} {1}V{2}\"/>\n", at, kTop - 6, kHeight - kBottom);
    const double room = kLetter * static_cast<double>(mark.name.size());
    const bool is_behind = at + room <= kWidth;
    if ((is_behind ? at : at - room) < end) continue;
    marks += text_at(is_behind ? at + 3 : at - 3, kTop - 8, is_behind ? "start" : "end", mark.name);
    end = (is_behind ? at + room : at) + kLetter;
  }
  return marks;
}

}  // namespace

std::string area_chart(const AreaChart& chart) {
  check(chart);
  const std::vector<std::vector<double>> levels = stacked(chart);
  const double high = std::ranges::max(levels.back());
  if (!(high > 0)) throw std::invalid_argument{"area_chart: nothing above 0"};
  const Scale x{.low = chart.points.front(), .high = chart.points.back(), .from = kLeft, .to = kWidth - kRight};
  const Scale y{.low = 0, .high = high, .from = kHeight - kBottom, .to = kTop};
  std::string figure = fmt::format(
      "<figure class=\"wide\">\n<figcaption>{0}</figcaption>\n"
      "<svg viewBox=\"0 0 {1} {2}\" role=\"img\" aria-label=\"{0}: {3} by {4}, {5} parts\">\n",
      render::escape_markup(chart.title), kWidth, kHeight, render::escape_markup(chart.y),
      render::escape_markup(chart.x), chart.bands.size());
  figure += axes_of(chart, x, y);
  for (std::size_t i = 0; i < chart.bands.size(); ++i)
    figure += band_of(chart.bands[i], chart, levels[i], levels[i + 1], x, y);
  figure += marks_of(chart, x) + "</svg>\n<ul class=\"legend\">\n";
  for (auto band = chart.bands.rbegin(); band != chart.bands.rend(); ++band) {  // the highest first
    figure += fmt::format(
        "<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect style=\"fill:{}\" width=\"12\" height=\"12\"/></svg>"
        "{}</li>\n",
        band->colour, render::escape_markup(band->name));
  }
  return figure + "</ul>\n</figure>\n";
}

}  // namespace tbench::html
