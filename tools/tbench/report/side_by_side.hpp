// Tables of `tbench report` that compare measurements of the same work or list files, in every format.
#pragma once

#include <optional>
#include <string>

#include "report.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::tool {

/// Returns the report with the table that the arguments select (--over, --repeat, --host-times, --pytorch, --ncu,
/// --self-comparison, --manifest), or nullopt if they select none of these.
/// @throws  UsageError  naming the option, the value and the remedy
[[nodiscard]] std::optional<studies::StudyReport> side_by_side(const ReportArguments& arguments, ResultFiles& files);

/// Returns the results of all files, with the cases that --filter selects.
[[nodiscard]] std::vector<results::NamedResults> selected(const ReportArguments& arguments, ResultFiles& files);

/// Writes the report of one table in a format. Text, Markdown and CSV are the table alone.
/// @param max_width  columns of the terminal; only for text
[[nodiscard]] std::string side_by_side_text(const studies::StudyReport& report, studies::StudyFormat format,
                                            std::optional<std::size_t> max_width);

}  // namespace tbench::tool
