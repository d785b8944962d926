#include "html/charts/marks.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "tbench/render/markup.hpp"

namespace tbench::html {

std::string number_text(double value) {
  constexpr double kExact = 1e15;
  if (std::abs(value) < kExact && value == std::round(value)) return fmt::format("{:.0f}", value);
  return fmt::format("{:.6g}", value);
}

std::string point_attributes(std::string_view x, std::string_view y, const PointFacts& facts) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view value) {
    text += fmt::format(" data-{}=\"{}\"", name, render::escape_markup(value));
  };
  add("x", x);
  add("y", y);
  if (!facts.unit.empty()) add("unit", facts.unit);
  if (facts.interval) add("interval", fmt::format("{:.3g}", *facts.interval));
  if (facts.count > 0) add("n", std::to_string(facts.count));
  if (!facts.status.empty()) add("status", facts.status);
  if (facts.record) add("case", std::to_string(*facts.record));
  if (!facts.note.empty()) add("note", facts.note);
  return text;
}

std::string shape_at(std::size_t shape, double x, double y) {
  constexpr std::array kShapes{"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", "m-3.5 -3.5h7v7h-7z", "m0 -4.5l4.5 8h-9z",
                               "m0 -5l5 5l-5 5l-5 -5z", "m0 4.5l4.5 -8h-9z"};
  return fmt::format("M{:.1f} {:.1f}{}", x, y, kShapes.at(shape % kShapes.size()));
}

std::string cross_at(double x, double y) { return fmt::format("M{:.1f} {:.1f}m-5 -5l10 10m0 -10l-10 10", x, y); }

std::string chart_head(std::string_view title, std::string_view said, double width, double height) {
  return fmt::format(
      "<figure class=\"chart\">\n<figcaption>{}</figcaption>\n<div class=\"scroll\">"
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
      render::escape_markup(title), width, height, render::escape_markup(said));
}

std::string legend_entry(std::string_view colour, std::string_view sign, std::string_view name) {
  return fmt::format("<li><svg viewBox=\"0 0 12 12\" aria-hidden=\"true\" style=\"--series:{}\">{}</svg>{}</li>\n",
                     colour, sign, render::escape_markup(name));
}

}  // namespace tbench::html
