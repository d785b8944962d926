// A study's tables filled from results, ready to be printed: what each cell says, and for cells that nobody has
// measured the command that does. And the tables as text for one of several readers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_table.hpp"
#include "tbench/render/table.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::studies {

/// A number, a status (`OOM`), or empty; the footnote of a case that was not measured is the number of its command.
using StudyCell = render::Cell;

struct StudySection {
  std::string caption;
  std::vector<render::Column> columns;
  std::vector<std::vector<StudyCell>> rows;  // a cell per column
  bool has_bars{};                           // as StudyTable::has_bars
  std::vector<StudyStep> steps{};            // one per row; empty where no case has a waterfall chart
  std::size_t name_column{};  // with steps: index of the row's name, after the keys and before the values

  [[nodiscard]] render::Table table() const {
    render::Table table{columns};
    for (const auto& row : rows) table.add_row_of(row);
    return table;
  }
};

struct StudyReport {
  std::string title;
  std::vector<std::string> sources;  // a file each, and where it was measured
  std::vector<std::string> answers;  // sentences above the tables
  std::vector<StudySection> sections;
  std::vector<std::string> notes;     // meanings of the marks
  std::vector<std::string> commands;  // footnote 1, 2, ...: each measures what its cells lack, and nothing else
};

/// The sentence above `commands`.
inline constexpr const char* kNotMeasured = "Not measured; this does:";

struct StudyOptions {
  std::vector<AxisOverride> axes;  // other values than the study's; empty: as the files' runs had them
  std::string filter;              // regular expression on case names, found anywhere; empty: all
};

/// The study's tables. A cell takes its case's records from all files: of several the median. A file that
/// `--tb_study` of this study made brings the axes and sizes of its command line along.
/// @param results  not empty
/// @throws         UsageError  for files of different devices, a filter that is no regular expression or that no cell
///                             passes
[[nodiscard]] StudyReport study_report(const Study& study, std::span<const results::NamedResults> results,
                                       const StudyOptions& options);

enum class StudyFormat {
  kText,      // for a terminal
  kMarkdown,  // for a write-up
  kCsv,       // tables alone, an empty line between them; a last column says how to measure what a row lacks
  kLatex,     // a longtable each, for \usepackage{longtable}
  kJson       // for programs: texts, and numbers with all their digits
};

/// @param max_width  columns of the terminal; for text alone
[[nodiscard]] std::string study_page(const StudyReport& report, StudyFormat format,
                                     std::optional<std::size_t> max_width = std::nullopt);

}  // namespace tbench::studies
