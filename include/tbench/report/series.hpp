// A case over time, from the history: for a terminal, as an HTML page, and for programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/change_points.hpp"
#include "tbench/core/status.hpp"
#include "tbench/core/units.hpp"
#include "tbench/report/history.hpp"
#include "tbench/report/record_json.hpp"

namespace tbench::report {

/// One run of a series.
struct SeriesPoint {
  std::string started;  // UTC
  std::string commit;
  std::string epoch;
  Status status{};               // the worst of the processes
  std::optional<Seconds> time;   // median of the processes' medians, where all are `ok`
  std::optional<double> spread;  // relative standard deviation between the processes
  std::size_t processes{};
  std::optional<std::int64_t> peak_bytes;
  bool is_valid{true};   // the machine was as usual
  bool has_regressed{};  // confirmed
};

/// A case on one machine.
struct Series {
  std::string name;
  std::string fingerprint;
  std::vector<SeriesPoint> points;   // oldest first
  std::vector<ChangePoint> changes;  // index of the first point of the new level; magnitude of ln(time)
};

/// The series of every case whose name matches, by machine, in the order in which the history got to know them. Change
/// points are looked for inside each epoch, in valid points.
/// @param pattern  regular expression (ECMAScript), found anywhere
/// @param nights   at most so many of the newest runs
/// @throws         UsageError  for a pattern that is no regular expression or that no case matches; as History::runs
[[nodiscard]] std::vector<Series> read_series(const History& history, const std::string& pattern, std::size_t nights);

/// One character a value, from low to high; a dot where there is none. Values that differ by less than 4 % do not fill
/// the height: noise is to look like noise.
/// @param width  columns; of more values, the newest
[[nodiscard]] std::string sparkline(std::span<const std::optional<double>> values, std::size_t width);

/// One series: a plot with change points and epochs, and a row a run.
/// @param max_width  columns of the terminal
[[nodiscard]] std::string series_page(const Series& series, std::optional<std::size_t> max_width);

/// Several: a row each, with a sparkline.
[[nodiscard]] std::string series_overview(std::span<const Series> series, std::optional<std::size_t> max_width);

/// Values that one HTML page can hold: about 8 MB.
inline constexpr std::size_t kMostPageValues = 200'000;

/// What the HTML page shows, as its scripts read it (src/report/html/history.js):
///   files     machines: label, runs (started, commit, epoch, and `invalid` where the machine was not as usual)
///   families  name, keys, as in html_report.hpp
///   records   series: file and family (indexes), values (one a key), runs (indexes of the machine's); and, one a run,
///             ms, spread, peak_bytes (null where unknown), n (processes); status (by position, where it is not `ok`),
///             regressed (positions), changes (pairs of position and ratio of the levels)
[[nodiscard]] Json series_page_data(std::span<const Series> series);

/// The page: every series with change points, epochs, nights that are not valid and confirmed regressions, and a table
/// of the same beside it. It needs no network and no other file. Texts of the history are data in it, never markup.
/// @throws  UsageError  for more than kMostPageValues values
[[nodiscard]] std::string series_html(std::span<const Series> series);

/// Everything, in SI units; what is unknown is absent.
[[nodiscard]] Json series_to_json(std::span<const Series> series);

}  // namespace tbench::report
