// The charts of a section of a study, as markup: what its bars and waterfalls are made of, and which it gets.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "html/charts/bar_chart.hpp"
#include "html/charts/waterfall_chart.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::html {

/// A chart for each quantity and each combination of the rows' keys but the first, whose values are the groups; a bar
/// for each of the quantity's columns. An implementation has its colour on all pages; what else tells columns apart, an
/// execution say, is a hatch. Labels are the table's own texts, marks and statuses too. Columns and groups that have no
/// number, and quantities that follow from others, are left out.
[[nodiscard]] std::vector<BarChart> study_bars(const studies::StudySection& section);

/// One of each case whose rows are steps, made of nothing but those rows: lengths are the first quantity's, labels all
/// quantities' texts, the note is what the last row says of itself. Cases that have none, since they failed or were
/// not measured, are left out.
[[nodiscard]] std::vector<WaterfallChart> study_waterfalls(const studies::StudySection& section);

struct SectionFigures {
  std::vector<std::string> figures;
  std::size_t left_out{};  // charts that there were besides
};

/// Waterfalls where its rows are steps, bars where it has bars, else lines where it has an axis of numbers.
[[nodiscard]] SectionFigures section_figures(const studies::StudySection& section);

}  // namespace tbench::html
