#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "html/plots/plots.hpp"
#include "tbench/compare/comparison.hpp"

namespace tbench::html {
namespace {

using compare::CaseComparison;

constexpr std::size_t kMaxRows = 40;  // of one panel
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kColours{{{"WRONG", "var(--bad)"},
                                                                                 {"ERROR", "var(--bad)"},
                                                                                 {"REGRESSED", "var(--bad)"},
                                                                                 {"LIKELY_SLOWER", "var(--bad)"},
                                                                                 {"LIKELY_FASTER", "var(--good)"},
                                                                                 {"IMPROVED", "var(--good)"},
                                                                                 {"HOST", "var(--warn)"},
                                                                                 {"CLOCK", "var(--warn)"},
                                                                                 {"UNDECIDED", "var(--warn)"}}};

std::string outcome_of(const CaseComparison& of) {
  return of.outcome ? std::string{to_string(*of.outcome)} : "no outcome";
}

std::string colour_of(const std::string& outcome) {
  const auto found = std::ranges::find(kColours, outcome, [](const auto& entry) { return entry.first; });
  return std::string{found == kColours.end() ? "var(--accent)" : found->second};
}

/// A compared case, and the first record of its name on the page.
struct Compared {
  const CaseComparison* comparison{};
  const PlotCase* of{};
};

/// Returns the compared cases with a ratio by family; in each family, the largest changes first.
std::vector<std::vector<Compared>> families_of(const FileComparison& file,
                                               const std::map<std::string, const PlotCase*>& by_name) {
  std::vector<std::vector<Compared>> families;
  std::map<std::string, std::size_t> places;
  for (const CaseComparison& one : file.comparison->cases) {
    const auto found = by_name.find(one.id.name());
    if (!one.ratio || !(*one.ratio > 0) || found == by_name.end()) continue;
    const auto [place, is_new] = places.emplace(one.id.family(), families.size());
    if (is_new) families.emplace_back();
    families[place->second].push_back({.comparison = &one, .of = found->second});
  }
  for (std::vector<Compared>& family : families) {
    std::ranges::stable_sort(family, std::greater{},
                             [](const Compared& one) { return std::abs(std::log(*one.comparison->ratio)); });
  }
  return families;
}

PointFacts facts_of_ratio(const Compared& one) {
  std::string note = one.comparison->note;
  if (const auto& interval = one.comparison->ratio_interval) {
    note = fmt::format("95 %: {:.4f} to {:.4f}{}{}", interval->low, interval->high, note.empty() ? "" : "; ", note);
  }
  return {.record = one.of->index,
          .unit = "ratio",
          .count = std::min(one.comparison->base.replicates, one.comparison->next.replicates),
          .status = outcome_of(*one.comparison),
          .note = std::move(note)};
}

void add_mark(RowChart& chart, const Compared& one, RowLook look, const std::string& name, const std::string& colour) {
  auto series = std::ranges::find(chart.series, name, &RowSeries::name);
  if (series == chart.series.end()) {
    series = chart.series.insert(chart.series.end(), {.name = name, .colour = colour, .look = look, .marks = {}});
  }
  const double ratio = *one.comparison->ratio;
  RowMark mark{.row = chart.rows.size() - 1, .from = ratio, .to = ratio, .value = ratio, .facts = facts_of_ratio(one)};
  if (look == RowLook::kInterval) {
    mark.from = one.comparison->ratio_interval->low;
    mark.to = one.comparison->ratio_interval->high;
  }
  series->marks.push_back(std::move(mark));
}

RowChart panel_of(const PlotData& data, std::size_t file, const std::vector<Compared>& family) {
  Cases cases;
  for (const Compared& one : family) cases.push_back(one.of);
  const Keys by = varying(cases);
  const std::size_t count = std::min(family.size(), kMaxRows);
  RowChart chart{.title = fmt::format("{}, {}", cases.front()->record->id.family(), data.label(file)),
                 .x = fmt::format("time / time of {}", data.label(0)),
                 .rows = {},
                 .series = {},
                 .reference = 1.0};
  if (family.size() > count) chart.title += fmt::format("; {} more changed less", family.size() - count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = name_by(*family[i].of, by);
    chart.rows.push_back(name.empty() ? cases.front()->record->id.family() : name);
    const auto& interval = family[i].comparison->ratio_interval;
    if (interval && std::isfinite(interval->low) && std::isfinite(interval->high)) {
      add_mark(chart, family[i], RowLook::kInterval, "95 % interval", "var(--dim)");
    }
    const std::string outcome = outcome_of(*family[i].comparison);
    add_mark(chart, family[i], RowLook::kPoint, outcome, colour_of(outcome));
  }
  return chart;
}

/// Returns whether any mark is off the reference. If none is, the axis has no range.
bool has_range(const RowChart& chart) {
  return std::ranges::any_of(chart.series, [&](const RowSeries& series) {
    return std::ranges::any_of(
        series.marks, [&](const RowMark& mark) { return mark.from != chart.reference || mark.to != chart.reference; });
  });
}

Panels panels_of(const PlotData& data, const Cases& cases) {
  std::map<std::string, const PlotCase*> by_name;
  for (const PlotCase* one : cases) by_name.emplace(one->record->id.name(), one);
  Panels panels;
  for (const FileComparison& file : data.comparisons()) {
    if (!file.comparison) continue;
    for (const std::vector<Compared>& family : families_of(file, by_name)) {
      RowChart chart = panel_of(data, file.file, family);
      if (has_range(chart)) panels.emplace_back(std::move(chart));
    }
  }
  return panels;
}

}  // namespace

Plot comparison_plot() {
  return {.id = "ratio",
          .title = "Compared with the first file",
          .note = "Ratio of the times, under 1 is faster; the bar is the 95 % interval. The largest changes first.",
          .panels = panels_of};
}

}  // namespace tbench::html
