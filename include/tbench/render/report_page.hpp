// Renders a results file for `tbench report`: where it was made, and a table for each family of its cases.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/render/summary.hpp"
#include "tbench/render/table.hpp"
#include "tbench/results/conclusion.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::render {

struct ReportOptions {
  bool markdown{};
  bool environment{true};                // begin with where and with what the results were made
  std::string filter;                    // regular expression on case names, found anywhere; empty: all
  std::vector<std::string> pivot;        // parameters to spread over columns; empty: a row per case
  Metric show{Metric::kMilliseconds};    // in the cells of a pivot
  std::optional<std::size_t> max_width;  // columns of the terminal; ignored for Markdown
};

/// GPU (or CPU), driver, LibTorch, clock policy, date, build, on one line.
[[nodiscard]] std::string environment_line(const results::ResultFile& file);

/// The same, a line each as text, or as one line of Markdown.
[[nodiscard]] std::string environment_header(const results::ResultFile& file, bool markdown);

/// Records of each family, families in order of their first record.
[[nodiscard]] std::vector<std::vector<Record>> group_by_family(std::span<const Record> records);

struct FamilyTable {
  std::string caption;  // `Model, batch:4 precision:bf16, median ms`: family, common parameters, what a cell holds
  Table table;
};

/// A row per record: its varying parameters, then summary_cells. A time that is `unstable` or `throttled` has its
/// reason in a last column `note`.
/// @param records  of one family, not empty
[[nodiscard]] FamilyTable family_table(std::span<const Record> records);

/// A row for each combination of the varying parameters outside `keys`, a column for each combination of values of
/// `keys`, each in order of appearance. A cell is the metric (of several repetitions, their median); a case without
/// a time shows its status (`OOM`). What is to be said of a row's times is in a last column `marks` (marks_of).
/// @param records  of one family, not empty
/// @param keys     parameters of the family, not empty
[[nodiscard]] FamilyTable pivot_table(std::span<const Record> records, std::span<const std::string> keys,
                                      Metric metric);

/// The environment, and then a caption and a table for each family. A family without any of the keys to pivot by has a
/// row per case.
/// @throws  UsageError  naming the value and what would be right: for a regular expression that is none, a filter that
///                      no case passes, a key that no family has
[[nodiscard]] std::string report_page(const results::ResultFile& file, const ReportOptions& options);

/// FAILED where a case is `incorrect`, `crashed` or out of time; INTERRUPTED; EMPTY without cases; NOT_SHARP where
/// times are not certain; HOST where the host limits a case; else OK.
/// @param path  of the file, for the command that follows
[[nodiscard]] results::Conclusion run_conclusion(const results::ResultFile& file, const std::string& path);

/// The conclusion, how many cases have each status, and an object per record: its counters (bench/counters.md) and its
/// note.
/// @param path  as run_conclusion
/// @throws      UsageError  as report_page, for the filter, which alone counts
[[nodiscard]] std::string report_json(const results::ResultFile& file, const ReportOptions& options,
                                      const std::string& path);

}  // namespace tbench::render
