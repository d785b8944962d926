#include "html/charts/study_waterfalls.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>

#include "html/charts/study_headers.hpp"
#include "tbench/core/text.hpp"

namespace tbench::html {
namespace {

using studies::StudySection;
using Row = std::vector<studies::StudyCell>;

/// The row's case, in words; all of it where there is but one.
std::string case_of(const StudySection& section, const Row& row) {
  StudyKeys keys;
  for (std::size_t i = 0; i < section.name_column; ++i) {
    if (!row[i].text.empty()) keys.emplace_back(section.columns[i].header, row[i].text);
  }
  return keys.empty() ? section.caption.substr(0, section.caption.find(". ")) : joined(keys);
}

/// `ms` of `ms`, `%` of `% of step`.
std::string unit_of(const render::Column& column) { return column.header.substr(0, column.header.find(' ')); }

WaterfallBar bar_of(const StudySection& section, const Row& row, studies::StudyStep step) {
  const std::size_t first = section.name_column + 1;
  WaterfallBar bar{
      .name = row[first - 1].text, .step = step, .value = row[first].value.value(), .labels = {}, .detail = {}};
  for (std::size_t i = first; i < row.size(); ++i) {
    if (section.columns[i].align == render::Align::kLeft) {
      bar.detail = row[i].text;
    } else if (row[i].value) {
      bar.labels.push_back(fmt::format("{} {}", row[i].text, unit_of(section.columns[i])));
    }
  }
  return bar;
}

}  // namespace

std::vector<WaterfallChart> study_waterfalls(const StudySection& section) {
  std::vector<WaterfallChart> charts;
  std::string last;
  for (std::size_t i = 0; i < section.steps.size(); ++i) {
    if (section.steps[i] == studies::StudyStep::kNone) continue;
    const Row& row = section.rows[i];
    const std::string name = case_of(section, row);
    if (charts.empty() || name != last) {
      charts.push_back({.title = name, .x = section.columns[section.name_column + 1].header, .bars = {}, .note = {}});
    }
    last = name;
    WaterfallBar bar = bar_of(section, row, section.steps[i]);
    charts.back().note = bar.detail;
    charts.back().bars.push_back(std::move(bar));
  }
  return charts;
}

}  // namespace tbench::html
