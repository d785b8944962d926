#include "html/charts/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tbench/render/markup.hpp"

namespace tbench::html {
namespace {

// Lengths in units of the picture. A unit is a pixel if the picture is kWidth pixels wide.
constexpr double kWidth = 1180;
constexpr double kRow = 22;
constexpr double kBox = 21;
constexpr double kLetter = 6.7;         // width of a letter in a name of height 11
constexpr double kPadding = 8;          // padding of a name, both sides together
constexpr double kLeast = 0.4;          // minimum width of a box that is drawn
constexpr std::size_t kMinLetters = 3;  // minimum length of a name that is shown
constexpr double kRounding = 1e-6;

/// The position of a box: horizontally in the unit of the values, vertically in rows.
struct Place {
  double left{};
  std::size_t depth{};
  double filled{};  // width filled by the boxes inside it
};

[[noreturn]] void refuse(const FlameBox& box, const std::string& problem) {
  throw std::invalid_argument{fmt::format("flame_chart: {} {}", box.name, problem)};
}

/// Returns the positions of the boxes.
/// @param filled  set to the sum of the top row
std::vector<Place> places_of(const std::vector<FlameBox>& boxes, double& filled) {
  std::vector<Place> places;
  for (const FlameBox& box : boxes) {
    if (!(box.value >= 0) || !std::isfinite(box.value)) refuse(box, "is not 0 or above");
    if (!box.parent) {
      places.push_back({.left = filled, .depth = 0});
      filled += box.value;
      continue;
    }
    if (*box.parent >= places.size()) refuse(box, "is before its parent");
    Place& parent = places[*box.parent];
    const Place place{.left = parent.left + parent.filled, .depth = parent.depth + 1};
    parent.filled += box.value;
    if (parent.filled > boxes[*box.parent].value * (1 + kRounding))
      refuse(box, "and those beside it exceed their parent");
    places.push_back(place);
  }
  if (!(filled > 0)) throw std::invalid_argument{"flame_chart: nothing above 0"};
  return places;
}

/// Shortens a name to fit a box of the given width.
std::string cut(const std::string& name, double width) {
  const double letters = (width - kPadding) / kLetter;
  if (letters < static_cast<double>(kMinLetters)) return "";
  const auto room = static_cast<std::size_t>(letters);
  return name.size() <= room ? name : name.substr(0, room - 1) + "…";
}

/// Returns the name of a box without its parent's name: `qkv` for `attention.qkv` in `attention`.
std::string short_name(const std::vector<FlameBox>& boxes, const FlameBox& box) {
  if (!box.parent) return box.name;
  const std::string prefix = boxes[*box.parent].name + ".";
  return box.name.starts_with(prefix) ? box.name.substr(prefix.size()) : box.name;
}

/// Draws a box.
/// @param written  the part of its name for which there is room
std::string box_of(const FlameBox& box, const std::string& written, const Place& place, double unit) {
  const double width = box.value * unit;
  if (width < kLeast) return "";
  const double left = place.left * unit;
  const double top = kRow * static_cast<double>(place.depth);
  std::string drawn = fmt::format(
      "<rect class=\"box\" style=\"fill:{}\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"><title>{}: "
      "{}</title></rect>\n",
      box.colour, left, top, width, kBox, render::escape_markup(box.name), render::escape_markup(box.said));
  const std::string name = cut(written, width);
  if (name.empty()) return drawn;
  return drawn + fmt::format("<text class=\"inside\" x=\"{:.1f}\" y=\"{}\">{}</text>\n", left + kPadding / 2, top + 15,
                             render::escape_markup(name));
}

}  // namespace

std::string flame_chart(const FlameChart& chart) {
  double whole = 0;
  const std::vector<Place> places = places_of(chart.boxes, whole);
  std::size_t depth = 0;
  for (const Place& place : places) depth = std::max(depth, place.depth);
  std::string figure = fmt::format(
      "<figure class=\"wide flame\">\n<figcaption>{0}</figcaption>\n"
      "<svg viewBox=\"0 0 {1} {2}\" role=\"img\" aria-label=\"{0}: {3} parts, which the tables list\">\n",
      render::escape_markup(chart.title), kWidth, kRow * static_cast<double>(depth + 1), chart.boxes.size());
  for (std::size_t i = 0; i < chart.boxes.size(); ++i)
    figure += box_of(chart.boxes[i], short_name(chart.boxes, chart.boxes[i]), places[i], kWidth / whole);
  return figure + "</svg>\n</figure>\n";
}

}  // namespace tbench::html
