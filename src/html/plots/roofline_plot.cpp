#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "html/plots/ceilings.hpp"
#include "html/plots/least_bytes.hpp"
#include "html/plots/plots.hpp"
#include "tbench/core/text.hpp"

namespace tbench::html {
namespace {

/// Returns the FLOP per byte that has to be moved.
std::optional<double> intensity(const PlotCase& of) {
  const std::optional<double> moved = least_bytes(*of.record);
  const std::optional<double> median = of.counter("median_ms");
  if (!rate(of) || !(*rate(of) > 0) || !moved || !(*moved > 0) || !median) return std::nullopt;
  return *rate(of) * *median * 1e9 / *moved;
}

/// The ceilings over a case: the bandwidth of its file, and the matrix rate of its precision; infinite if unknown.
struct Roof {
  double bandwidth{};
  double peak{};
  std::string name;
};

Roof roof_of(const PlotData& data, const PlotCase& of) {
  const std::string what = "gemm_" + of.value("precision");
  Roof roof{.bandwidth = ceiling_of(data, of.file, "copy", stream),
            .peak = ceiling_of(data, of.file, what, rate),
            .name = {}};
  Keys names;
  if (roof.bandwidth < kNoCeiling) names.emplace_back("copy");
  if (roof.peak < kNoCeiling) names.push_back(what);
  roof.name = join(names, " and ");
  return roof;
}

ChartSeries roof_series(const Roof& roof, const Cases& cases) {
  std::vector<double> places;
  if (roof.bandwidth < kNoCeiling && roof.peak < kNoCeiling) places.push_back(roof.peak / roof.bandwidth);
  const std::vector<double> ridge = places;
  for (const PlotCase* one : cases) places.push_back(*intensity(*one));
  const auto [low, high] = std::ranges::minmax(places);
  constexpr double kBeyond = 3;
  ChartSeries series{.name = roof.name, .colour = "var(--text)", .points = {}, .look = SeriesLook::kLine};
  std::vector<double> ends{low / kBeyond};
  ends.insert(ends.end(), ridge.begin(), ridge.end());
  ends.push_back(high * kBeyond);
  for (const double x : ends) series.points.push_back({.x = x, .y = std::min(roof.peak, x * roof.bandwidth)});
  return series;
}

LineChart roofline_panel(const PlotData& data, const Cases& cases, const Roof& roof) {
  const Keys differing = varying(cases);
  Keys shared;
  for (const auto& [key, value] : cases.front()->record->id.parameters()) {
    if (!contains(differing, key)) shared.push_back(key);
  }
  LineChart chart{.title = titled(cases, shared), .x = "FLOP / byte", .y = "TFLOP/s", .ticks = {}, .series = {}};
  if (data.files() > 1) chart.title += " · " + data.label(cases.front()->file);
  chart.page = ChartPage::kScripted;
  chart.series.push_back(roof_series(roof, cases));
  const Keys others = without(differing, {"pass", "impl"});
  for (const CaseSeries& series : series_of(data, cases, without(differing, others))) {
    ChartSeries& points = chart.series.emplace_back(
        ChartSeries{.name = series.name, .colour = series.colour, .shape = series.shape, .points = {}});
    points.look = SeriesLook::kPoints;
    for (const PlotCase* one : series.cases) {
      points.points.push_back({.x = *intensity(*one), .y = *rate(*one), .facts = facts_of(*one, "TFLOP/s")});
    }
  }
  return chart;
}

/// Returns a panel per file, family, operation and precision, under the ceilings of the same file.
Panels roofline(const PlotData& data, const Cases& cases) {
  Panels panels;
  const Cases placed = only(cases, [](const PlotCase& of) { return !is_ceiling(of) && intensity(of).has_value(); });
  const auto name = [](const PlotCase& of) {
    return fmt::format("{} {} {} {}", of.file, of.record->id.family(), of.value("op"), of.value("precision"));
  };
  for (const Cases& group : grouped(placed, name)) {
    const Roof roof = roof_of(data, *group.front());
    if (!roof.name.empty()) panels.emplace_back(roofline_panel(data, group, roof));
  }
  return panels;
}

}  // namespace

std::string unplaced_note(const Cases& cases) {
  const Cases timed = only(cases, [](const PlotCase& of) { return !is_ceiling(of) && of.record->timing.has_value(); });
  const auto left = std::ranges::count_if(timed, [](const PlotCase* of) { return !intensity(*of).has_value(); });
  if (left == 0) return "";
  return fmt::format(" Left out: {} of {} results, whose bytes or FLOP nobody counts.", left, timed.size());
}

Plot roofline_plot() {
  return {.id = "roofline",
          .title = "Roofline",
          .note =
              "Achieved rate against FLOP per byte, under the ceilings that the same file measured, the best of each "
              "kind: copy, and the matrix rate of the precision. Bytes are those that a case must move: by its "
              "family's formula, or the inputs and outputs of matrix products and attention once.",
          .panels = roofline};
}

}  // namespace tbench::html
