#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "html/charts/charts.hpp"
#include "tbench/render/markup.hpp"

namespace tbench::html {
namespace {

// Lengths in units of the picture. A unit is a pixel if the picture is kWidth pixels wide.
constexpr double kWidth = 560;
constexpr double kLeft = 84;
constexpr double kRight = 6;
constexpr double kTop = 6;
constexpr double kBottom = 44;
constexpr double kRow = 28;
constexpr double kBaseline = 18;  // of a text in its row
constexpr double kFaintest = 0.08;
constexpr double kStrongest = 0.6;  // texts are still readable

void check(const HeatMap& map) {
  if (map.columns.empty() || map.rows.empty() || map.cells.size() != map.rows.size()) {
    throw std::invalid_argument{"heat_map: " + map.title + " has no columns, or not a row of cells per row"};
  }
  for (const auto& row : map.cells) {
    if (row.size() != map.columns.size()) throw std::invalid_argument{"heat_map: not a cell per column"};
    if (std::ranges::any_of(row, [](const HeatCell& cell) { return cell.gain && !std::isfinite(*cell.gain); })) {
      throw std::invalid_argument{"heat_map: a gain is not finite"};
    }
  }
}

/// Returns the largest distance of a gain from 0.
double reach_of(const HeatMap& map) {
  double reach = 0;
  for (const auto& row : map.cells) {
    for (const HeatCell& cell : row) reach = std::max(reach, std::abs(cell.gain.value_or(0)));
  }
  return reach;
}

std::string style_of(double gain, double reach) {
  const double share = reach > 0 ? std::abs(gain) / reach : 0;
  return fmt::format("fill:var(--{});fill-opacity:{:.2f}", gain < 0 ? "bad" : "good",
                     kFaintest + (kStrongest - kFaintest) * share);
}

std::string cells_of(const HeatMap& map) {
  const double reach = reach_of(map);
  const double width = (kWidth - kLeft - kRight) / static_cast<double>(map.columns.size());
  std::string cells;
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const double y = kTop + kRow * static_cast<double>(r);
    cells += text_at(kLeft - 6, y + kBaseline, "end", map.rows[r]);
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      const HeatCell& cell = map.cells[r][c];
      if (!cell.gain) continue;
      const double x = kLeft + width * static_cast<double>(c);
      cells += fmt::format(
          "<rect class=\"box\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" style=\"{}\"><title>{} {}, {} "
          "{}: {}</title></rect>\n",
          x, y, width, kRow, style_of(*cell.gain, reach), render::escape_markup(map.y),
          render::escape_markup(map.rows[r]), render::escape_markup(map.x), render::escape_markup(map.columns[c]),
          render::escape_markup(cell.label));
      cells += fmt::format("<text class=\"inside\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                           x + width / 2, y + kBaseline, render::escape_markup(cell.label));
    }
  }
  return cells;
}

std::string axes_of(const HeatMap& map, double bottom) {
  const double width = (kWidth - kLeft - kRight) / static_cast<double>(map.columns.size());
  std::string axes;
  for (std::size_t c = 0; c < map.columns.size(); ++c) {
    axes += text_at(kLeft + width * (static_cast<double>(c) + 0.5), bottom + 16, "middle", map.columns[c]);
  }
  axes += text_at((kLeft + kWidth - kRight) / 2, bottom + 36, "middle", map.x);
  return axes + fmt::format("<text transform=\"translate(13 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                            (kTop + bottom) / 2, render::escape_markup(map.y));
}

std::string legend_entry(double gain, const std::string& name) {
  return fmt::format(
      "<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\"><rect style=\"{}\" width=\"12\" height=\"12\"/></svg>{}"
      "</li>\n",
      style_of(gain, 1), render::escape_markup(name));
}

}  // namespace

std::string heat_map(const HeatMap& map) {
  check(map);
  const double bottom = kTop + kRow * static_cast<double>(map.rows.size());
  std::string figure = fmt::format(
      "<figure>\n<figcaption>{0}</figcaption>\n"
      "<svg viewBox=\"0 0 {1} {2}\" role=\"img\" aria-label=\"{0}: {3} by {4}, {5} x {6} cells\">\n",
      render::escape_markup(map.title), kWidth, bottom + kBottom, render::escape_markup(map.y),
      render::escape_markup(map.x), map.rows.size(), map.columns.size());
  figure += cells_of(map) + axes_of(map, bottom) + "</svg>\n<ul class=\"legend\">\n";
  return figure + legend_entry(1, map.better) + legend_entry(-1, map.worse) + "</ul>\n</figure>\n";
}

}  // namespace tbench::html
