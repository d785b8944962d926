// HTML pages that need nothing else, no network and no other file: results, series of a history, a study's tables.
// The texts shown are embedded as data, never as markup.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tbench/history/series.hpp"
#include "tbench/results/record_json.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::html {

/// Returns the data of the page in the form that its scripts read (src/html/assets/data.js):
///   summary   parts: pairs of a heading and its sentences, pairs of text and tone
///   files     label, device, facts (pairs of texts), cases
///   families  name, keys: of the records' parameters, in order of appearance
///   metrics   names, as in counters_of
///   slots     of the page's colours, by the names of implementations
///   records   file and family (indexes), values (one per key, null where the case has none), status, reason,
///             repetition, repetitions, metrics (one per name, null where unknown), least_bytes (that it moves;
///             of a case with FLOP whose bytes are known), ceiling (what its rate is held
///             against), findings (texts by name), half_width, n, stop; phases_ms (pairs of name and median),
///             samples_ms, flagged (indexes of samples_ms), trace (TraceNames)
///   trace_names  of phases and of classes of operations and of ranges, which traces name by their indexes
///   comparisons  of every file but the first with the first, as `tbench diff` makes them: file (index), and either
///             refused (why they cannot be compared) or summary, cross, differences, warnings, means (family, cases,
///             ratio, cycles), only_in_base, only_in_new (names) and cases: family, values, verdict, base_ms, new_ms,
///             ratio, interval (95 %, pair), within (it comes from inside one process per side), cycles and memory
///             (ratios), p, finds (a fraction), n (pair of replicates), note
/// Times have 5 significant digits. At most 400,000 samples per page are kept, as many of each case, evenly spaced
/// in the order taken; `n` is the number before.
[[nodiscard]] results::Json html_data(std::span<const results::NamedResults> results);

/// The page: a summary, run headers, plots, a table of all cases.
/// @param results  not empty
[[nodiscard]] std::string html_report(std::span<const results::NamedResults> results);

/// Values that one HTML page can hold: about 8 MB.
inline constexpr std::size_t kMaxPageValues = 200'000;

/// Returns the data of the HTML page in the form that its scripts read (src/html/assets/history.js):
///   files     machines: label, runs (started, commit, epoch, and `invalid` where the machine was not as usual)
///   families  name, keys, as in html_data
///   records   series: file and family (indexes), values (one per key), runs (indexes of the machine's runs); and,
///             one per run, ms, spread, peak_bytes (null where unknown), n (processes), device_ms (null where unknown;
///             absent where no run was traced); status (by position, where it is not `ok`), regressed (positions),
///             changes (pairs of position and ratio of the levels)
[[nodiscard]] results::Json series_page_data(std::span<const history::Series> series);

/// The page: every series with change points, epochs, nights that are not valid and confirmed regressions, and a table
/// of the same values.
/// @throws  UsageError  for more than kMaxPageValues values
[[nodiscard]] std::string series_html(std::span<const history::Series> series);

/// A study's tables, without scripts, and charts: lines of those that have an axis of numbers, bars and waterfalls of
/// those whose study says so.
[[nodiscard]] std::string study_html(const studies::StudyReport& report);

}  // namespace tbench::html
