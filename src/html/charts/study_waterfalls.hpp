// The waterfall charts of a study's table of rows.
#pragma once

#include <vector>

#include "html/charts/waterfall_chart.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::html {

/// One of each case whose rows are steps, made of nothing but those rows: lengths are the first quantity's, labels all
/// quantities' texts, the note is what the last row says of itself. Cases that have none, since they failed or were
/// not measured, are left out.
[[nodiscard]] std::vector<WaterfallChart> study_waterfalls(const studies::StudySection& section);

}  // namespace tbench::html
