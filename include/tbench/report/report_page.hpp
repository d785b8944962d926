// What `tbench report` shows of a results file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tbench/report/result_json.hpp"
#include "tbench/report/summary.hpp"

namespace tbench::report {

struct ReportOptions {
  bool markdown{};
  bool environment{true};                // begin with where and with what the results were made
  std::string filter;                    // regular expression on case names, found anywhere; empty: all
  std::vector<std::string> pivot;        // parameters to spread over columns; empty: a row a case
  Metric show{Metric::kMilliseconds};    // in the cells of a pivot
  std::optional<std::size_t> max_width;  // columns of the terminal; ignored for Markdown
};

/// GPU (or CPU), driver, LibTorch, clock policy, date, build, on one line.
[[nodiscard]] std::string environment_line(const ResultFile& file);

/// The same, a line each as text, or as one line of Markdown.
[[nodiscard]] std::string environment_header(const ResultFile& file, bool markdown);

/// The environment, and then a caption and a table for each family. A family without any of the keys to pivot by has a
/// row a case.
/// @throws  UsageError  naming the value and what would be right: for a regular expression that is none, a filter that
///                      no case passes, a key that no family has
[[nodiscard]] std::string report_page(const ResultFile& file, const ReportOptions& options);

}  // namespace tbench::report
