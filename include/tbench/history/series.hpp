// A case over time, from the history: for a terminal, as an HTML page, and for programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/enums.hpp"
#include "tbench/core/units.hpp"
#include "tbench/history/history.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/stats/change_points.hpp"

namespace tbench::history {

/// One run of a series.
struct SeriesPoint {
  std::string started;  // UTC
  std::string commit;
  std::string epoch;
  Status status{};                     // the worst of the processes
  std::optional<Seconds> time;         // median of the processes' medians, where all are `ok`
  std::optional<Seconds> device_time;  // GPU time per step from traces; median, if all processes have it
  std::optional<double> dispersion;    // relative standard deviation between the processes
  std::size_t processes{};
  std::optional<std::int64_t> peak_bytes;
  bool is_valid{true};   // the machine was as in earlier runs
  bool has_regressed{};  // confirmed
};

/// A case on one machine.
struct Series {
  std::string name;
  std::string fingerprint;
  std::vector<SeriesPoint> points;          // oldest first
  std::vector<stats::ChangePoint> changes;  // index of the first point of the new level; magnitude of ln(time)
};

/// Returns the series of every case whose name matches, by machine, in the order in which they were first added. Change
/// points are searched for in the valid points of each epoch.
/// @param pattern  as CaseFilter takes it
/// @param max_runs  number of newest runs per machine
/// @throws         UsageError  for a pattern that is not a regular expression or that no case matches; as History::runs
[[nodiscard]] std::vector<Series> read_series(const History& history, const std::string& pattern, std::size_t max_runs);

/// Draws one character per value, from low to high, and a dot for a missing value. Values that differ by less than 4 %
/// do not fill the height, so that noise looks like noise.
/// @param width  columns; if there are more values, the newest are shown
[[nodiscard]] std::string sparkline(std::span<const std::optional<double>> values, std::size_t width);

/// Renders one series: a plot with change points and epochs, and a row per run.
/// @param max_width  columns of the terminal
[[nodiscard]] std::string series_page(const Series& series, std::optional<std::size_t> max_width);

/// Renders several series: one row per series, with a sparkline.
[[nodiscard]] std::string series_overview(std::span<const Series> series, std::optional<std::size_t> max_width);

/// Concludes from the last change of level of each case with the present driver and libraries. If levels changed, the
/// outcome is SLOWER if any case became slower, else FASTER. If none changed, it is STEADY, or NEW if there are too few
/// runs to see a change.
/// @param db  the history's file, for the command that follows
[[nodiscard]] results::Conclusion series_conclusion(std::span<const Series> series, const std::string& db);

/// Converts the conclusion and the series to JSON, in SI units; unknown values are left out.
/// @param db  as series_conclusion
[[nodiscard]] results::Json series_to_json(std::span<const Series> series, const std::string& db);

}  // namespace tbench::history
