// A study's tables for programs.
#pragma once

#include <string>

#include "tbench/results/conclusion.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {

/// COMPLETE, or INCOMPLETE where nobody measured some cells.
[[nodiscard]] results::Conclusion study_conclusion(const StudyReport& report);

/// The conclusion, title, sources, tables (caption, columns, rows of cells), notes, commands. A cell has its `text` as
/// tables show it, the `value` of a number with all its digits, and `measured_by`, the command for what nobody
/// measured.
[[nodiscard]] std::string study_json(const StudyReport& report);

}  // namespace tbench::studies
