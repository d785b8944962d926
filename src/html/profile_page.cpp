#include "tbench/html/profile_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "html/charts/charts.hpp"
#include "html/charts/palette.hpp"
#include "html/page.hpp"
#include "html/sections/timelines.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::html {
namespace {

/// The share of its colour, in %, with which a range, a class and a kernel are drawn. It is low because of the names.
constexpr std::array<int, 3> kShares{26, 50, 12};

/// Returns the flame graph. Each outermost part has its own colour, and the parts inside have shades of this colour.
FlameChart flame_of(const std::vector<TimePart>& parts) {
  double whole = 0;
  for (const TimePart& part : parts) whole += part.parent ? 0 : part.milliseconds;
  FlameChart chart{
      .title = fmt::format("GPU time of a step by range, class and kernel: {} ms", render::format_number(whole)),
      .boxes = {}};
  std::vector<std::size_t> slots;
  std::size_t outermost = 0;
  for (const TimePart& part : parts) {
    slots.push_back(part.parent ? slots.at(*part.parent) : kPartSlots[outermost++ % kPartSlots.size()]);
    const std::string said = fmt::format("{} ms, {:.1f} %, {} operations", render::format_number(part.milliseconds),
                                         100 * part.milliseconds / whole, render::format_number(part.operations));
    chart.boxes.push_back({.name = part.name,
                           .said = said,
                           .parent = part.parent,
                           .value = part.milliseconds,
                           .colour = fmt::format("color-mix(in srgb, {} {}%, var(--card))", slot_colour(slots.back()),
                                                 kShares.at(part.level))});
  }
  return chart;
}

bool has_time(const std::vector<TimePart>& parts) {
  return std::ranges::any_of(parts, [](const TimePart& part) { return part.milliseconds > 0; });
}

std::string figure_section(const std::string& figure) { return "<section>" + figure + "</section>\n"; }

}  // namespace

std::string profile_html(const ProfilePage& page) {
  std::string body;
  for (const std::string& note : page.notes) body += note_html(note);
  if (has_time(page.times)) body += figure_section(flame_chart(flame_of(page.times)));
  if (page.memory && has_bytes(*page.memory)) body += figure_section(memory_chart(*page.memory, ""));
  for (const CaptionedTable& table : page.tables) body += table.table.html(table.caption);
  return plain_page(page.title, body);
}

}  // namespace tbench::html
