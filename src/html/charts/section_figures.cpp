#include "html/charts/section_figures.hpp"

#include <algorithm>

#include "html/charts/study_bars.hpp"
#include "html/charts/study_plot.hpp"
#include "html/charts/study_waterfalls.hpp"

namespace tbench::html {
namespace {

constexpr std::size_t kMaxBars = 12;
constexpr std::size_t kMaxWaterfalls = 120;  // each a case: the whole of the study's grid, and as much again

template <class Chart>
SectionFigures figures_of(const std::vector<Chart>& charts, std::string (*draw)(const Chart&), std::size_t most) {
  SectionFigures drawn;
  for (std::size_t i = 0; i < std::min(charts.size(), most); ++i) drawn.figures.push_back(draw(charts[i]));
  drawn.left_out = charts.size() - drawn.figures.size();
  return drawn;
}

}  // namespace

SectionFigures section_figures(const studies::StudySection& section) {
  if (!section.steps.empty()) return figures_of(study_waterfalls(section), &waterfall_chart, kMaxWaterfalls);
  if (section.has_bars) return figures_of(study_bars(section), &bar_chart, kMaxBars);
  const StudyPlots plots = study_plots(section);
  SectionFigures drawn = figures_of(plots.charts, &line_chart, plots.charts.size());
  drawn.left_out += plots.left_out;
  return drawn;
}

}  // namespace tbench::html
