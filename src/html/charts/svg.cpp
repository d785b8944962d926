#include "html/charts/charts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "tbench/render/markup.hpp"

namespace tbench::html {
namespace {

constexpr double kRounding = 1e-9;  // 3 * 0.2 is above 0.6

}  // namespace

std::string text_at(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     render::escape_markup(text));
}

std::string grid_line(double x1, double y1, double x2, double y2) {
  return fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", x1, y1, x2, y2);
}

std::vector<double> steps_from_zero(double high, int most) {
  if (!(high > 0) || !std::isfinite(high) || most < 2) {
    throw std::invalid_argument{fmt::format("steps_from_zero: {} in {} steps", high, most)};
  }
  const double least = high / most;
  double step = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (factor * step < least * (1 - kRounding)) continue;
    step *= factor;
    break;
  }
  std::vector<double> steps;
  for (int i = 0; i * step <= high * (1 + kRounding); ++i) steps.push_back(i * step);
  return steps;
}

}  // namespace tbench::html
