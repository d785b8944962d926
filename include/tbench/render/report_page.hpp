// Renders a results file for `tbench report`: the environment of its run, and a table for each family of its cases.
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
  bool environment{true};                // begin with environment_header()
  std::string filter;                    // regular expression that matches anywhere in a case name; empty for all cases
  std::vector<std::string> pivot;        // parameters to spread over columns; empty for one row per case
  Metric show{Metric::kMilliseconds};    // quantity in the cells of a pivot
  std::optional<std::size_t> max_width;  // columns of the terminal; ignored for Markdown
};

/// Returns GPU (or CPU), driver, LibTorch, clock policy, date, build, and whether the run was interrupted, on one line.
[[nodiscard]] std::string environment_line(const results::ResultFile& file);

/// Returns the machine and the build on one line, as a run begins: `NVIDIA H100 80GB HBM3 8ab2, 79 GiB, 700 W, driver
/// 580.159.04, idle | Release 2c077589d496, LibTorch 2.11.0`. The digits are the first four of the GPU's UUID.
[[nodiscard]] std::string machine_line(const Environment& environment);

/// Returns the facts of environment_line() as text with one line per fact, or as one line of Markdown.
[[nodiscard]] std::string environment_header(const results::ResultFile& file, bool markdown);

/// Returns the records of each family. The families are in the order of their first records.
[[nodiscard]] std::vector<std::vector<Record>> group_by_family(std::span<const Record> records);

struct FamilyTable {
  std::string caption;  // `Model, batch:4 precision:bf16, median ms`: family, common parameters, quantity of the cells
  Table table;
};

/// Returns a table with a row per record: its varying parameters, then summary_cells(). If any time has a note, a last
/// column `note` has note_of() of each time.
/// @param records  records of one family, at least one
[[nodiscard]] FamilyTable family_table(std::span<const Record> records);

/// Returns a table with a row for each combination of the varying parameters outside `keys`, and a column for each
/// combination of values of `keys`, both in order of appearance. A cell has the metric, as the median over the case's
/// repetitions. The cell of a case without a time has its status (`OOM`). If any time has marks_of(), a last column
/// `marks` has them.
/// @param records  records of one family, at least one
/// @param keys     parameters of the family, at least one
[[nodiscard]] FamilyTable pivot_table(std::span<const Record> records, std::span<const std::string> keys,
                                      Metric metric);

/// Returns the environment, then a caption and a table for each family. A family without any of the pivot's keys has a
/// row per record.
/// @throws  UsageError  if the filter is not a regular expression or no case matches it, or if no family has a key of
///                      the pivot; the message names the value and valid ones
[[nodiscard]] std::string report_page(const results::ResultFile& file, const ReportOptions& options);

/// Returns the first of these outcomes that applies: FAILED if a case is `incorrect`, `crashed` or out of time,
/// INTERRUPTED, EMPTY without cases, NOT_SHARP if a time is not sharp, HOST if the host limits a case, otherwise OK.
/// @param path  path of the file, for the next command
[[nodiscard]] results::Conclusion run_conclusion(const results::ResultFile& file, const std::string& path);

/// Returns JSON with the conclusion, the number of cases with each status, and an object per record with its counters
/// (bench/counters.md) and its note. Uses only the filter of `options`.
/// @param path  path of the file, for the next command
/// @throws      UsageError  as report_page(), for the filter
[[nodiscard]] std::string report_json(const results::ResultFile& file, const ReportOptions& options,
                                      const std::string& path);

}  // namespace tbench::render
