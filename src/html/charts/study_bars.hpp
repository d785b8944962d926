// A study's table as bars: those whose question is who is faster, not what grows with what.
#pragma once

#include <vector>

#include "html/charts/bar_chart.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::html {

/// A chart for each quantity and each combination of the rows' keys but the first, whose values are the groups; a bar
/// for each of the quantity's columns. An implementation has its colour on all pages; what else tells columns apart, an
/// execution say, is a hatch. Labels are the table's own texts, marks and statuses too. Columns and groups that have no
/// number, and quantities that follow from others, are left out.
[[nodiscard]] std::vector<BarChart> study_bars(const studies::StudySection& section);

}  // namespace tbench::html
