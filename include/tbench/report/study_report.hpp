// A study's tables filled from results, ready to be printed: what each cell says, and for cells that nobody has
// measured the command that does.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/case_table.hpp"
#include "tbench/report/html_report.hpp"
#include "tbench/report/study.hpp"
#include "tbench/report/table.hpp"

namespace tbench::report {

struct StudyCell {
  std::string text;        // a number, a status (`OOM`), or empty
  std::size_t footnote{};  // of a case that was not measured: number of its command, from 1; 0: none
};

struct StudySection {
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<StudyCell>> rows;  // a cell a column
};

struct StudyReport {
  std::string title;
  std::vector<std::string> sources;  // a file each, and where it was measured
  std::vector<StudySection> sections;
  std::vector<std::string> notes;     // what marks mean
  std::vector<std::string> commands;  // footnote 1, 2, ...: each measures what its cells lack, and nothing else
};

struct StudyOptions {
  std::vector<AxisOverride> axes;  // other values than the study's; empty: as the files' runs had them
  std::string filter;              // regular expression on case names, found anywhere; empty: all
};

/// The study's tables. A cell takes its case's records from all files: of several the median. A file that
/// `--tb_study` of this study made brings the axes and sizes of its command line along.
/// @param results  not empty
/// @throws         UsageError  for files of different devices, a filter that is no regular expression or that no cell
///                             passes
[[nodiscard]] StudyReport study_report(const Study& study, std::span<const NamedResults> results,
                                       const StudyOptions& options);

}  // namespace tbench::report
