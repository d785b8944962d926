// A study's tables as text for one of several readers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tbench/report/study_report.hpp"

namespace tbench::report {

enum class StudyFormat {
  kText,      // for a terminal
  kMarkdown,  // for a write-up
  kCsv,       // tables alone, an empty line between them; a last column says how to measure what a row lacks
  kLatex,     // a longtable each, for \usepackage{longtable}
  kHtml       // a page of its own, without scripts
};

/// @param max_width  columns of the terminal; for text alone
[[nodiscard]] std::string study_page(const StudyReport& report, StudyFormat format,
                                     std::optional<std::size_t> max_width = std::nullopt);

}  // namespace tbench::report
