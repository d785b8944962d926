// Results as one HTML page that needs nothing else: no network, no other file.
#pragma once

#include <span>
#include <string>

#include "tbench/report/record_json.hpp"
#include "tbench/report/result_json.hpp"

namespace tbench::report {

/// One series of the page: the results of one file.
struct NamedResults {
  std::string label;  // how the page calls it, e.g. the file's name
  ResultFile file;
};

/// What the page shows, as its scripts read it (src/report/html/data.js):
///   files     label, device, facts (pairs of texts), cases
///   families  name, keys: of the records' parameters, in order of appearance
///   metrics   names, as in counters_of
///   records   file and family (indexes), values (one a key, null where the case has none), status, reason,
///             repetition, repetitions, metrics (one a name, null where unknown), ceiling (what its rate is held
///             against), findings (texts by name), half_width, n, stop; phases_ms (pairs of name and median),
///             samples_ms, flagged (indexes of samples_ms)
///   comparisons  of every file but the first with the first, as `tbench diff` makes them: file (index), and either
///             refused (why they cannot be compared) or summary, cross, differences, warnings, means (family, cases,
///             ratio, cycles), only_in_base, only_in_new (names) and cases: family, values, verdict, base_ms, new_ms,
///             ratio, interval (95 %, pair), within (it comes from inside one process a side), cycles and memory
///             (ratios), p, finds (a fraction), n (pair of replicates), note
/// Times have 5 significant digits. Of a page's samples at most 400,000 are kept, as many of each case, evenly spaced
/// in the order taken; `n` is the number before.
[[nodiscard]] Json html_data(std::span<const NamedResults> results);

/// The page: run headers, plots, a table of all cases. Texts of the results are data in it, never markup.
/// @param results  not empty
[[nodiscard]] std::string html_report(std::span<const NamedResults> results);

}  // namespace tbench::report
