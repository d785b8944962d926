#include "html/sections/timelines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "html/charts/charts.hpp"
#include "html/charts/palette.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/markup.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::html {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;
constexpr double kMicro = 1e6;

// Lengths in units of the picture. A unit is a pixel if the picture is kWidth pixels wide.
constexpr double kWidth = 1180;
constexpr double kLeft = 130;  // room for the labels of the rows
constexpr double kRow = 24;
constexpr double kBox = 22;
constexpr double kLetter = 7.2;
constexpr double kMinBox = 0.6;  // the shortest entries are still seen

/// The entries of one row of a timeline.
struct Row {
  std::string label;
  std::string colour;
  std::vector<std::size_t> entries;
  double shift_s{};  // what is subtracted from the times of its entries
};

const std::string& full_name(const StepTimeline& timeline, std::size_t entry) {
  return timeline.names.at(static_cast<std::size_t>(timeline.name[entry]));
}

double first_start(const StepTimeline& timeline, const Row& row) {
  double first = std::numeric_limits<double>::infinity();
  for (const std::size_t i : row.entries) first = std::min(first, timeline.start_s[i]);
  return first;
}

double last_end(const StepTimeline& timeline, const Row& row) {
  double last = 0;
  for (const std::size_t i : row.entries) last = std::max(last, timeline.end_s[i] - row.shift_s);
  return last;
}

/// Returns the rows that have entries, from the top to the bottom.
std::vector<Row> rows_of(const StepTimeline& timeline) {
  std::map<std::pair<std::int64_t, std::int64_t>, Row> rows;  // by kind and depth
  for (std::size_t i = 0; i < timeline.kind.size(); ++i) {
    const std::int64_t depth =
        timeline.kind[i] == static_cast<std::int64_t>(TimelineEntry::kRange) ? timeline.depth[i] : 0;
    rows[{timeline.kind[i], depth}].entries.push_back(i);
  }
  std::vector<Row> ordered;
  double host_end = 0;
  for (auto& [key, row] : rows) {
    switch (static_cast<TimelineEntry>(key.first)) {
      case TimelineEntry::kRange:
        row.label = key.second == 0 ? "ranges" : "";
        row.colour = slot_colour(kPartSlots.at(static_cast<std::size_t>(key.second) % kPartSlots.size()));
        break;
      case TimelineEntry::kCall:
        row.label = "API calls";
        row.colour = slot_colour(4);
        break;
      case TimelineEntry::kOperation: {
        const double first = first_start(timeline, row);
        row.shift_s = first > host_end ? first : 0;
        row.label = row.shift_s > 0 ? fmt::format("GPU, +{} us", render::format_number(kMicro * first)) : "GPU";
        row.colour = slot_colour(3);
        break;
      }
    }
    host_end = std::max(host_end, last_end(timeline, row));
    ordered.push_back(std::move(row));
  }
  return ordered;
}

/// Returns the part of a name for which a box has room.
std::string fitted(const std::string& name, double width) {
  const auto room = static_cast<std::size_t>(std::max(0.0, (width - 6) / kLetter));
  return name.size() <= room ? name : "";
}

std::string box_of(const StepTimeline& timeline, std::size_t i, const std::string& name, const Row& row, double top,
                   double unit) {
  const double left = kLeft + unit * (timeline.start_s[i] - row.shift_s);
  const double width = std::max(kMinBox, unit * (timeline.end_s[i] - timeline.start_s[i]));
  std::string box = fmt::format(
      "<rect class=\"box\" style=\"fill:color-mix(in srgb, {} 45%, var(--card))\" x=\"{:.2f}\" y=\"{}\" "
      "width=\"{:.2f}\" height=\"{}\"><title>{}: {} us, from {} us on</title></rect>\n",
      row.colour, left, top, width, kBox, render::escape_markup(full_name(timeline, i)),
      render::format_number(kMicro * (timeline.end_s[i] - timeline.start_s[i])),
      render::format_number(kMicro * timeline.start_s[i]));
  const std::string text = fitted(name, width);
  if (text.empty()) return box;
  return box + fmt::format("<text class=\"inside\" x=\"{:.1f}\" y=\"{}\">{}</text>\n", left + 3, top + 15,
                           render::escape_markup(text));
}

/// Returns the name of an entry as its box shows it: a range without the names of the ranges around it.
std::string name_in_box(const studies::LayerFigure& layer, std::size_t entry) {
  const StepTimeline& timeline = layer.timeline;
  const std::string& name = layer.shown.at(static_cast<std::size_t>(timeline.name[entry]));
  const bool is_inner =
      timeline.kind[entry] == static_cast<std::int64_t>(TimelineEntry::kRange) && timeline.depth[entry] > 0;
  const std::size_t dot = is_inner ? name.rfind('.') : std::string::npos;
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

}  // namespace

bool has_bytes(const MemoryTimeline& timeline) {
  return timeline.events.size() > 1 && std::ranges::any_of(timeline.bands, [](const MemoryBand& band) {
           return !band.bytes.empty() && std::ranges::max(band.bytes) > 0;
         });
}

std::string memory_chart(const MemoryTimeline& timeline, const std::string& name) {
  AreaChart chart{
      .title = {}, .x = "allocation or release in the step", .y = "MiB", .points = {}, .bands = {}, .marks = {}};
  for (const std::size_t event : timeline.events) chart.points.push_back(static_cast<double>(event));
  std::vector<double> sums(timeline.events.size());
  for (const MemoryBand& held : timeline.bands) {
    const std::size_t index = chart.bands.size();
    AreaBand& band = chart.bands.emplace_back(
        AreaBand{.name = held.range,
                 .colour = index == 0 ? slot_colour(0) : slot_colour(kPartSlots[(index - 1) % kPartSlots.size()]),
                 .values = {}});
    for (std::size_t i = 0; i < held.bytes.size(); ++i) {
      band.values.push_back(static_cast<double>(held.bytes[i]) / kMebi);
      sums.at(i) += band.values.back();
    }
  }
  for (const MemoryPhase& phase : timeline.phases) chart.marks.push_back({.name = phase.name, .point = phase.point});
  chart.title = fmt::format("{}{}emory by range over step {}: up to {} MiB", name, name.empty() ? "M" : ": m",
                            timeline.step, render::format_number(std::ranges::max(sums)));
  return area_chart(chart);
}

std::string layer_chart(const studies::LayerFigure& layer, const std::string& name) {
  const StepTimeline& timeline = layer.timeline;
  const std::vector<Row> rows = rows_of(timeline);
  double end = 0;
  for (const Row& row : rows) end = std::max(end, last_end(timeline, row));
  if (!(end > 0)) throw std::invalid_argument{"layer_chart: " + timeline.range + " has no entry"};
  const double unit = (kWidth - kLeft) / end;
  std::string figure = fmt::format(
      "<figure class=\"wide flame\">\n<figcaption>{0}: {1}, host and GPU, {2} us</figcaption>\n"
      "<svg viewBox=\"0 0 {3} {4}\" role=\"img\" aria-label=\"{0}: {5} entries of {1}\">\n",
      render::escape_markup(name), render::escape_markup(timeline.range), render::format_number(kMicro * end), kWidth,
      kRow * static_cast<double>(rows.size() + 1), timeline.kind.size());
  double top = 0;
  for (const Row& row : rows) {
    if (!row.label.empty()) figure += text_at(0, top + 15, "start", row.label);
    for (const std::size_t i : row.entries) {
      figure += box_of(timeline, i, name_in_box(layer, i), row, top, unit);
    }
    top += kRow;
  }
  constexpr int kMaxSteps = 8;
  for (const double step : steps_from_zero(kMicro * end, kMaxSteps)) {
    const double at = kLeft + unit * step / kMicro;
    figure += text_at(std::min(at, kWidth - 20), top + 15, "middle", fmt::format("{:g} us", step));
  }
  return figure + "</svg>\n</figure>\n";
}

}  // namespace tbench::html
