// HTML pages that need neither a network nor another file: results, the series of a history, and the tables of a study.
// Texts of results are embedded as data, never as markup.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tbench/history/series.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::html {

/// Returns the data of the page in the form that its scripts read (src/html/assets/data.js):
///   summary   parts: pairs of a heading and its sentences, pairs of text and tone
///   folded    whether only the first part of the summary is open: it is about all files together
///   files     label, device, facts (pairs of texts), cases
///   families  name, keys: of the records' parameters, in order of appearance
///   metrics   names of counters, as in counters_of()
///   slots     slots of the page's colours, by the names of implementations
///   legend    meanings of the marks that the records have
///   records   file and family (indexes), values (one per key, null where the case has none), status, reason,
///             repetition, repetitions, metrics (one per name, null where unknown), least_bytes (the bytes that it
///             must move; only for a case with FLOP whose bytes are known), ceiling (the name of the limit that its
///             rate is compared with), findings (texts by name), half_width, n, stop; phases_ms (pairs of name and
///             median), samples_ms, flagged (indexes of samples_ms), trace (TraceNames)
///   trace_names  names of phases, classes of operations and ranges; traces refer to them by index
///   comparisons  one for each file after the first that has enough cases in common with it, as `tbench diff` makes
///             it: file (index), and either refused (why the files cannot be compared) or summary, cross, differences,
///             warnings, means (family, cases, ratio, cycles), only_in_base, only_in_new (names) and cases: family,
///             values, verdict, base_ms, new_ms, ratio, interval (95 %, pair), within (whether the interval comes from
///             inside one process per side), cycles and memory (ratios), p, finds (a fraction), n (pair of replicates),
///             note
/// Samples and phases have 5 significant digits. A page keeps about 150,000 samples at most: the same number for each
/// case, evenly spaced in the order taken, but at least 9. A record's `n` is its number of samples before. The page
/// holds `records` as columns: a list per key, with null where a record lacks the key.
[[nodiscard]] results::Json html_data(std::span<const results::NamedResults> results);

/// Returns the page of results: a summary, run headers, plots, and a table of all cases.
/// @param results  at least one
[[nodiscard]] std::string html_report(std::span<const results::NamedResults> results);

/// The largest number of values on one HTML page, which is then about 8 MB.
inline constexpr std::size_t kMaxPageValues = 200'000;

/// Returns the data of the HTML page in the form that its scripts read (src/html/assets/history.js):
///   files     one per machine: label, runs (started, commit, epoch, and `invalid` if the machine was not as usual)
///   families  name, keys, as in html_data()
///   records   one per series: file and family (indexes), values (one per key), runs (indexes of the machine's runs);
///             with one value per run: ms, spread, peak_bytes (null where unknown), n (processes), device_ms (null
///             where unknown; absent if no run was traced); status (by position, where it is not `ok`), regressed
///             (positions), changes (pairs of position and ratio of the levels)
[[nodiscard]] results::Json series_page_data(std::span<const history::Series> series);

/// Returns the page of a history: every series with its change points, epochs, invalid runs and confirmed regressions,
/// and a table of the same values.
/// @throws  UsageError  for more than kMaxPageValues values
[[nodiscard]] std::string series_html(std::span<const history::Series> series);

/// Returns a page without scripts that has a study's tables and their charts: bars or waterfalls if the study asks for
/// them; if not, lines for the tables with an axis of numbers.
[[nodiscard]] std::string study_html(const studies::StudyReport& report);

struct StudyChart {
  std::string title;  // plain text
  std::string svg;    // content of a file
};

/// Returns the charts of a study's tables as SVG files, one list per section of the report. study_html() has
/// the same charts, and bar charts with groups.
[[nodiscard]] std::vector<std::vector<StudyChart>> study_charts(const studies::StudyReport& report);

}  // namespace tbench::html
