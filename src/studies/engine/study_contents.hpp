// The tables of one study without a title and without the files' names, as parts of a report of one or several studies.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "studies/engine/study_cells.hpp"
#include "studies/engine/study_section.hpp"
#include "tbench/core/error.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

struct StudyContents {
  std::vector<std::string> answers;  // sentences above the tables
  std::vector<StudySection> sections;
  std::vector<std::string> legend;       // meanings of the marks
  std::vector<std::string> conclusions;  // sentences below the tables
  std::vector<std::string> trace_notes;  // as trace_notes()
  std::vector<std::string> commands;     // as StudyReport::commands
};

/// Fills a study's tables.
[[nodiscard]] StudyContents contents_of(const Study& study, const StudyCells& cells);

/// Returns the lines of StudyReport::sources.
[[nodiscard]] std::vector<std::string> source_lines(std::span<const results::NamedResults> results);

/// Returns the error for a filter that selects no case.
/// @param names  name of the study, or of all studies of the list
/// @param flags  as StudyCells::flags
[[nodiscard]] UsageError no_case_matches(const std::string& names, const std::string& flags, const std::string& filter);

}  // namespace tbench::studies
