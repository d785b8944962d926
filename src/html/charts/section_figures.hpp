// The charts of a section of a study, as markup.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tbench/studies/study_report.hpp"

namespace tbench::html {

struct SectionFigures {
  std::vector<std::string> figures;
  std::size_t left_out{};  // charts that there were besides
};

/// Waterfalls where its rows are steps, bars where it has bars, else lines where it has an axis of numbers.
[[nodiscard]] SectionFigures section_figures(const studies::StudySection& section);

}  // namespace tbench::html
