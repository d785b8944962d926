#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tbench/history/series.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/table.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/render/wrap.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::history {
namespace {

using Values = std::vector<std::optional<double>>;

constexpr std::array<std::string_view, 8> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr double kMinRange = 0.04;  // fraction of the middle: 2 % either way, the threshold of a model step
constexpr std::size_t kPlotRows = 9;
constexpr std::size_t kSparklineWidth = 40;

struct Range {
  double low{};
  double high{};
};

/// Returns the range of the known values, which is at least kMinRange wide around their middle.
Range range_of(std::span<const std::optional<double>> values) {
  Range range{.low = std::numeric_limits<double>::infinity(), .high = -std::numeric_limits<double>::infinity()};
  for (const std::optional<double>& value : values) {
    if (!value) continue;
    range.low = std::min(range.low, *value);
    range.high = std::max(range.high, *value);
  }
  const double middle = (range.low + range.high) / 2;
  const double half = std::max((range.high - range.low) / 2, std::abs(middle) * kMinRange / 2);
  return {.low = middle - half, .high = middle + half};
}

/// Returns the level of a value, from 0 (low) to levels - 1 (high).
std::size_t level_of(double value, const Range& range, std::size_t levels) {
  if (!(range.high > range.low)) return 0;
  const double share = (value - range.low) / (range.high - range.low);
  return std::min(levels - 1, static_cast<std::size_t>(share * static_cast<double>(levels)));
}

/// Returns the times of the points in milliseconds, without values for points that do not count.
Values times_of(const Series& series, std::optional<Seconds> SeriesPoint::*time = &SeriesPoint::time) {
  Values values;
  for (const SeriesPoint& point : series.points) {
    const bool counts = point.*time && point.is_valid;
    values.push_back(counts ? std::optional{to_milliseconds(*(point.*time))} : std::nullopt);
  }
  return values;
}

std::optional<double> last_of(const Values& values) {
  for (auto value = values.rbegin(); value != values.rend(); ++value) {
    if (*value) return *value;
  }
  return std::nullopt;
}

std::optional<double> first_of(const Values& values) {
  const auto found = std::ranges::find_if(values, [](const auto& v) { return v.has_value(); });
  return found == values.end() ? std::nullopt : *found;
}

bool starts_epoch(const Series& series, std::size_t i) {
  return i > 0 && series.points[i].epoch != series.points[i - 1].epoch;
}

const stats::ChangePoint* change_at(const Series& series, std::size_t i) {
  const auto found = std::ranges::find(series.changes, i, &stats::ChangePoint::index);
  return found == series.changes.end() ? nullptr : &*found;
}

/// Returns one line of the plot: `label`, and a cell for each point from `first` on.
template <class Cell>
std::string plot_line(const std::string& label, std::size_t label_width, const Series& series, std::size_t first,
                      Cell cell) {
  std::string line = render::pad(label, label_width, render::Align::kRight) + " ";
  for (std::size_t i = first; i < series.points.size(); ++i) line += cell(i);
  line.resize(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string plot(const Series& series, std::size_t width) {
  const Values values = times_of(series);
  if (!first_of(values)) return "";
  const Range all = range_of(values);
  const std::size_t label_width =
      std::max(render::format_number(all.low).size(), render::format_number(all.high).size());
  const std::size_t room = std::max<std::size_t>(1, width - std::min(width - 1, label_width + 1));
  const std::size_t first = values.size() > room ? values.size() - room : 0;
  const Range range = range_of(std::span{values}.subspan(first));
  std::string text;
  for (std::size_t row = kPlotRows; row-- > 0;) {
    const double edge = row + 1 == kPlotRows ? range.high : range.low;
    const bool has_label = row == 0 || row + 1 == kPlotRows;
    text += plot_line(has_label ? render::format_number(edge) : "", label_width, series, first, [&](std::size_t i) {
      if (values[i] && level_of(*values[i], range, kPlotRows) == row) return "●";
      return starts_epoch(series, i) ? "┊" : " ";
    });
  }
  return text + plot_line("", label_width, series, first, [&](std::size_t i) {
           if (!values[i]) return "×";
           if (change_at(series, i)) return "▲";
           return starts_epoch(series, i) ? "┊" : " ";
         });
}

std::string mark_of(const Series& series, std::size_t i) {
  std::vector<std::string> marks;
  const SeriesPoint& point = series.points[i];
  if (starts_epoch(series, i)) marks.push_back("epoch: " + point.epoch);
  if (const stats::ChangePoint* change = change_at(series, i)) {
    marks.push_back(fmt::format("▲ level {} %", render::format_change(std::exp(change->magnitude))));
  }
  if (point.has_regressed) marks.emplace_back("REGRESSED");
  if (!point.is_valid) marks.emplace_back("ENVIRONMENT");
  if (point.status != Status::kOk) marks.emplace_back(to_string(point.status));
  return fmt::format("{}", fmt::join(marks, "; "));
}

render::Table table_of(const Series& series) {
  using enum render::Align;
  render::Table table{{{"run", kLeft},
                       {"commit", kLeft},
                       {"ms", kRight},
                       {"device ms", kRight},
                       {"±%", kRight},
                       {"from first %", kRight},
                       {"peak GiB", kRight},
                       {"n", kRight},
                       {"", kLeft}}};
  const SeriesPoint* first = nullptr;  // first point of the epoch with a valid time
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const SeriesPoint& point = series.points[i];
    if (starts_epoch(series, i)) first = nullptr;
    if (first == nullptr && point.time && point.is_valid) first = &point;
    table.add_row({render::format_day(point.started), render::format_commit(point.commit),
                   render::format_milliseconds(point.time), render::format_milliseconds(point.device_time),
                   render::format_percent(point.dispersion, 2),
                   point.time && first != nullptr ? render::format_change(*point.time / *first->time) : "",
                   render::format_gibibytes(point.peak_bytes, 3), fmt::format("{}", point.processes),
                   mark_of(series, i)});
  }
  return table.without_spare_columns(std::nullopt);
}

}  // namespace

std::string sparkline(std::span<const std::optional<double>> values, std::size_t width) {
  if (values.size() > width) values = values.last(width);
  const Range range = range_of(values);
  std::string text;
  for (const std::optional<double>& value : values) {
    text += value ? kBars.at(level_of(*value, range, kBars.size())) : std::string_view{"·"};
  }
  return text;
}

std::string series_page(const Series& series, std::optional<std::size_t> max_width) {
  const auto fitted = [&](const std::string& line) {
    const std::string text = render::one_line(line);
    return max_width ? render::wrapped_text(render::divided_names(text, *max_width), *max_width) : text + "\n";
  };
  std::string text = fitted(series.name) + fitted(series.fingerprint) + "\n";
  text += plot(series, max_width.value_or(render::kConsoleWidth));
  return text + "\n" + table_of(series).console(max_width);
}

std::string series_overview(std::span<const Series> series, std::optional<std::size_t> max_width) {
  using enum render::Align;
  render::Table table{{{"case", kLeft},
                       {"runs", kRight},
                       {"last ms", kRight},
                       {"device ms", kRight},
                       {"from first %", kRight},
                       {"over time", kLeft},
                       {"changes", kLeft}}};
  std::string machine;
  for (const Series& s : series) {
    if (s.fingerprint != machine) {
      machine = s.fingerprint;
      table.add_row({render::one_line(machine)});
    }
    const Values values = times_of(s);
    const std::optional<double> last = last_of(values);
    const std::optional<double> device = last_of(times_of(s, &SeriesPoint::device_time));
    const std::optional<double> first = first_of(values);
    std::vector<std::string> changes;
    for (const stats::ChangePoint& change : s.changes) {
      const std::string& started = s.points[change.index].started;
      changes.push_back(
          fmt::format("{} {} %", render::format_day(started), render::format_change(std::exp(change.magnitude))));
    }
    table.add_row({s.name, fmt::format("{}", s.points.size()), last ? render::format_number(*last) : "",
                   device ? render::format_number(*device) : "",
                   last && first ? render::format_change(*last / *first) : "", sparkline(values, kSparklineWidth),
                   fmt::format("{}", fmt::join(changes, ", "))});
  }
  return table.without_spare_columns(std::nullopt).console(max_width);
}

}  // namespace tbench::history
