// Fills a study's tables from results: the text of each cell, and for cells without a measurement the command that
// makes it. Formats the tables for a terminal, for write-ups and for programs.
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

/// A number, a status (`OOM`), or an empty cell. The footnote of a case without a measurement is the number of the
/// command that measures it.
using StudyCell = render::Cell;

/// A picture below a table of a Markdown file.
struct StudyPicture {
  std::string path;   // relative to the Markdown file
  std::string title;  // plain text
};

/// A key of a table's cases, and its value if all of them share it. The other keys are in the first columns.
struct StudyKey {
  std::string key;
  std::optional<std::string> shared{};
};

struct StudySection {
  std::string caption;
  std::vector<render::Column> columns;
  std::vector<std::vector<StudyCell>> rows;  // each with a cell per column
  bool has_bars{};                           // as StudyTable::has_bars
  std::vector<StudyStep> steps{};            // one per row: the section's only charts are waterfalls; empty for others
  std::size_t name_column{};     // index of the row's name, after the keys and before the values; only with `steps`
  std::string name{};            // of the table in CSV; empty for a table that is alone
  std::vector<StudyKey> keys{};  // of the cases, in their order
  bool may_have_marks{};         // whether CSV has the column of marks even if no row has any
  bool is_unmeasured{};          // no file has any case of the table
  std::string heading{};         // title of the chapter that begins here; empty if none does
  std::vector<std::string> sentences{};  // between the heading and the table
  std::vector<StudyFigure> figures{};    // below the table
  std::vector<StudyPicture> pictures{};  // that Markdown shows below the table

  [[nodiscard]] render::Table table() const {
    render::Table table{columns};
    for (const auto& row : rows) table.add_row_of(row);
    return table;
  }
};

struct StudyReport {
  std::string title;
  std::vector<std::string> sources;  // one per file: its name, and where it was measured
  std::vector<std::string> answers;  // sentences above the tables
  std::vector<StudySection> sections;
  std::vector<std::string> notes;     // below all tables
  std::vector<std::string> commands;  // footnotes 1, 2, ...: each command measures the missing cases of its cells only
  bool has_no_case{};                 // no file has a time of any case of the report
};

/// The line above StudyReport::commands.
inline constexpr const char* kNotMeasured = "Not measured; this does:";

/// Returns a line of StudyReport::sources.
[[nodiscard]] std::string source_line(const results::NamedResults& result);

struct StudyOptions {
  std::vector<AxisOverride> axes;    // values to use instead of the study's; if empty, the values of the files' runs
  std::string filter;                // regular expression searched for in case names; if empty, selects all cases
  std::optional<std::size_t> top{};  // StudyRowTable::top of all tables that have one
  std::vector<std::string> pivot{};  // StudyTable::spread of the tables that shaped() names
};

/// Returns the study's tables. A cell has the median over its case's records in all files. The axes and sizes on the
/// command line of a file's run apply too, if `--tb_study` of this study made the file.
/// @param results  not empty
/// @throws         UsageError  for files of different devices, a filter that selects no case or is not a regular
///                             expression, and a `top` or a `pivot` that no table takes
[[nodiscard]] StudyReport study_report(const Study& study, std::span<const results::NamedResults> results,
                                       const StudyOptions& options);

enum class StudyFormat {
  kText,      // for a terminal
  kMarkdown,  // for a write-up
  kCsv,       // only the tables, separated by empty lines; CSV's columns do not depend on the filter
  kLatex,     // one longtable per table, for \usepackage{longtable}
  kJson       // for programs: texts, and numbers with all their digits
};

/// Formats the report.
/// @param max_width  columns of the terminal; only for text
[[nodiscard]] std::string study_page(const StudyReport& report, StudyFormat format,
                                     std::optional<std::size_t> max_width = std::nullopt);

}  // namespace tbench::studies
