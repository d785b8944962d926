// Which of a study's tables are plots, and of what: those with an axis that is a number.
#pragma once

#include <cstddef>
#include <vector>

#include "html/charts/line_chart.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::html {

struct StudyPlots {
  std::vector<LineChart> charts;
  std::size_t left_out{};  // charts that there were besides
};

/// A chart for each quantity of a section and each combination of the keys that would make too many lines. The axis is
/// the first that there is of seq_len, ctx, bytes, for gpus and size (by its parameters), along the rows or over the
/// columns, with two values at least. Quantities that others follow from (speed-ups, changes, fits) are none, and of
/// more than three only the first one with a unit is shown. Nothing for a section without such an axis; no chart that
/// has several rows for one point, as of a case's kernels.
[[nodiscard]] StudyPlots study_plots(const studies::StudySection& section);

}  // namespace tbench::html
