// Renders a comparison of two GPU models for a terminal: ratios with intervals, without outcomes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/output/words.hpp"
#include "tbench/compare/comparison_output.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/table.hpp"

namespace tbench::compare {
namespace {

using Case = CaseComparison;

std::string ratio_of(const std::optional<double>& ratio) { return ratio ? fmt::format("{:.3f}", *ratio) : ""; }

std::string interval_of(const std::optional<stats::Interval>& interval, bool is_within) {
  if (!interval) return "";
  return fmt::format("{}{:.3f} .. {:.3f}", is_within ? "~" : "", interval->low, interval->high);
}

/// Returns the line of a side:
/// `base  NVIDIA H100 80GB HBM3  GPU-1e06e13b  3eba0ece7d21  2026-11-25  32 cores  a.json`.
std::string side_line(const char* name, const SideFacts& side) {
  std::string text = fmt::format("{:<4}", name);
  constexpr std::size_t kLength = 12;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += "  " + part;
  };
  add(side.device);
  add(side.uuids.empty() ? "" : side.uuids.front().substr(0, kLength));
  add(side.build);
  add(side.date.empty() ? "" : render::format_day(side.date));
  add(side.cpu_cores > 0 ? fmt::format("{} cores", side.cpu_cores) : "");
  add(side.paths.front() + (side.paths.size() > 1 ? fmt::format(" and {} more", side.paths.size() - 1) : ""));
  return text;
}

/// Returns the means by family, of the GPU's times if they are known: `Model 0.999 (64)  Gemm 1.007 (42)`.
std::string means_of(const Comparison& comparison) {
  std::vector<std::string> parts;
  for (const FamilyMean& mean : comparison.families) {
    parts.push_back(fmt::format("{} {:.3f} ({})", mean.family, mean.device_ratio.value_or(mean.ratio), mean.cases));
  }
  return join(parts, "  ");
}

double weight_of(const Case* c) {
  return std::abs(std::log(c->device_ratio ? *c->device_ratio : c->ratio.value_or(1)));
}

render::Table table_of(std::span<const Case* const> cases, const CaseNames& names, bool are_whole) {
  using enum render::Align;
  std::vector<render::Column> columns{{"GPU time", kRight},         {"95 % interval", kRight, 2}, {"step", kRight},
                                      {"95 % interval", kRight, 3}, {"base ms", kRight, 1},       {"case", kLeft}};
  if (are_whole) columns.push_back({"note", kLeft});
  render::Table table{std::move(columns)};
  for (const Case* const c : cases) {
    std::vector<std::string> row{ratio_of(c->device_ratio),
                                 interval_of(c->device_ratio_interval, false),
                                 ratio_of(c->ratio),
                                 interval_of(c->ratio_interval, c->interval_is_within),
                                 render::format_milliseconds(c->base.time),
                                 are_whole ? c->id.name() : names(c->id)};
    if (are_whole) row.push_back(c->note);
    table.add_row(std::move(row));
  }
  return table;
}

}  // namespace

std::string models_console(const Comparison& comparison, const ConsoleOptions& options) {
  const std::size_t width = std::min(options.width.value_or(render::kConsoleWidth), render::kConsoleWidth);
  std::string text =
      render::fit(fmt::format("New over base, by the GPU's time: {}", means_of(comparison)), width) + "\n";
  text += "No outcomes: the sides are of two GPU models.\n";
  text += render::fit(side_line("base", comparison.base), width) + "\n";
  text += render::fit(side_line("new", comparison.next), width) + "\n\n";
  std::vector<const Case*> cases;
  for (const Case& c : comparison.cases) cases.push_back(&c);
  if (!options.is_sorted) std::ranges::stable_sort(cases, std::ranges::greater{}, weight_of);
  const std::size_t shown = options.all ? cases.size() : std::min(cases.size(), kMaxShown);
  const std::span<const Case* const> first = std::span{cases}.first(shown);
  const CaseNames names{comparison.cases};
  const render::Table table = table_of(first, names, options.all);
  text += options.all ? table.without_spare_columns(std::nullopt).text()
                      : join(lines_with_notes(table, first, names, width), "\n") + "\n";
  if (shown < cases.size()) text += fmt::format("... {} more: --all\n", cases.size() - shown);
  const std::size_t unmatched = comparison.only_in_base.size() + comparison.only_in_next.size();
  if (unmatched > 0) text += fmt::format("{} on one side only\n", counted(unmatched, "case is", "cases are"));
  return text;
}

}  // namespace tbench::compare
