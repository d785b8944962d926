// Renders a comparison as Markdown.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "compare/comparison_commands.hpp"
#include "tbench/compare/comparison_output.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/page.hpp"
#include "tbench/render/table.hpp"

namespace tbench::compare {
namespace {

using Texts = std::vector<std::string>;
using Case = CaseComparison;

/// Returns `f` of the value, or an empty cell if there is no value.
template <class T, class F>
std::string cell_of(const std::optional<T>& value, F f) {
  return value ? f(*value) : std::string{};
}

std::string memory_change(const Case& c) {
  const std::optional<Peaks> peaks = comparable_peaks(c);
  if (!peaks || peaks->base == 0) return "";
  if (peaks->base == peaks->next) return "=";
  return render::format_change(static_cast<double>(peaks->next) / static_cast<double>(peaks->base));
}

std::string replicates_of(const Case& c) { return fmt::format("{}+{}", c.base.replicates, c.next.replicates); }

std::string probability(double p) { return p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", p); }

std::string ratio_text(const std::optional<double>& ratio) {
  return cell_of(ratio, [](double value) { return fmt::format("{:.3f}", value); });
}

struct PageColumn {
  render::Column column;
  std::function<std::string(const Case&)> cell;
  bool needs_trace{};  // whether the column is left out if no case has a trace
};

// A lambda copies `name`. If the list's first element were a function that may throw, GCC 12 would warn that the list's
// texts are uninitialised.
std::vector<PageColumn> verdict_columns(const std::function<std::string(const Case&)>& name) {
  using enum render::Align;
  return {
      {{"outcome", kLeft, 0}, [](const Case& c) { return c.outcome ? std::string{to_string(*c.outcome)} : ""; }},
      {{"case", kLeft, 0}, [name](const Case& c) { return name(c); }},
      {{"base ms", kRight, 1}, [](const Case& c) { return render::format_milliseconds(c.base.time); }},
      {{"±%", kRight, 5}, [](const Case& c) { return render::format_percent(c.base.dispersion, 2); }},
      {{"new ms", kRight, 1}, [](const Case& c) { return render::format_milliseconds(c.next.time); }},
      {{"±%", kRight, 5}, [](const Case& c) { return render::format_percent(c.next.dispersion, 2); }},
      {{"change %", kRight, 0}, [](const Case& c) { return render::format_change(c.ratio); }},
      {{"95 % interval", kRight, 3},
       [](const Case& c) {
         return cell_of(c.ratio_interval, [&](const stats::Interval& interval) {
           return fmt::format("{}{:+.2f} .. {:+.2f}", c.interval_is_within ? "~" : "", 100 * (interval.low - 1),
                              100 * (interval.high - 1));
         });
       }},
      {{"device %", kRight, 0}, [](const Case& c) { return render::format_change(c.device_ratio); }, true},
      {{"cycles %", kRight, 2}, [](const Case& c) { return render::format_change(c.cycle_ratio); }},
      {{"p", kRight, 4}, [](const Case& c) { return cell_of(c.adjusted_p, probability); }},
      {{"MDE %", kRight, 0}, [](const Case& c) { return render::format_percent(c.smallest_detectable, 1); }},
      {{"memory %", kRight, 1}, memory_change},
      {{"n", kRight, 6}, replicates_of},
      {{"note", kLeft, 0}, [](const Case& c) { return c.note; }},
  };
}

std::vector<PageColumn> cross_columns(const std::function<std::string(const Case&)>& name) {
  using enum render::Align;
  return {
      {{"case", kLeft, 0}, [name](const Case& c) { return name(c); }},
      {{"base ms", kRight, 1}, [](const Case& c) { return render::format_milliseconds(c.base.time); }},
      {{"new ms", kRight, 1}, [](const Case& c) { return render::format_milliseconds(c.next.time); }},
      {{"new/base", kRight, 0}, [](const Case& c) { return ratio_text(c.ratio); }},
      {{"95 % interval", kRight, 3},
       [](const Case& c) {
         return cell_of(c.ratio_interval, [&](const stats::Interval& interval) {
           return fmt::format("{}{:.3f} .. {:.3f}", c.interval_is_within ? "~" : "", interval.low, interval.high);
         });
       }},
      {{"of the device", kRight, 0}, [](const Case& c) { return ratio_text(c.device_ratio); }, true},
      {{"in cycles", kRight, 2}, [](const Case& c) { return ratio_text(c.cycle_ratio); }},
      {{"base % of peak", kRight, 1},
       [](const Case& c) { return render::format_percent(c.base.peak_share_at_clock, 1); }},
      {{"new % of peak", kRight, 1},
       [](const Case& c) { return render::format_percent(c.next.peak_share_at_clock, 1); }},
      {{"base GiB", kRight, 3}, [](const Case& c) { return render::format_gibibytes(c.base.peak_bytes, 2); }},
      {{"new GiB", kRight, 3}, [](const Case& c) { return render::format_gibibytes(c.next.peak_bytes, 2); }},
      {{"n", kRight, 6}, replicates_of},
      {{"note", kLeft, 0}, [](const Case& c) { return c.note; }},
  };
}

bool has_device_ratio(const Case& c) { return c.device_ratio.has_value(); }

render::Table table_of(const Comparison& comparison, std::vector<PageColumn> all) {
  const bool is_traced = std::ranges::any_of(comparison.cases, has_device_ratio);
  std::erase_if(all, [&](const PageColumn& column) { return column.needs_trace && !is_traced; });
  std::vector<render::Column> columns;
  for (const PageColumn& column : all) columns.push_back(column.column);
  render::Table table{std::move(columns)};
  for (const Case& c : comparison.cases) {
    Texts row;
    for (const PageColumn& column : all) row.push_back(column.cell(c));
    table.add_row(std::move(row));
  }
  return table;
}

std::string described(const SideFacts& side) {
  std::string files = side.paths.front();
  if (side.paths.size() > 1) files += fmt::format(" and {} more", side.paths.size() - 1);
  if (!side.build.empty()) return fmt::format("{} ({}, build {})", files, side.device, side.build);
  return side.device.empty() ? files : fmt::format("{} ({})", files, side.device);
}

void put_header(render::Page& page, const Comparison& comparison) {
  page.line("base", described(comparison.base));
  page.line("new", described(comparison.next));
  for (const std::string& difference : comparison.differences) page.line("other", difference);
  for (const std::string& warning : comparison.warnings) page.line("warning", warning);
}

/// Returns the cases that ran on only one side, if the sides are different GPU models.
Texts ran_on_one(const Comparison& comparison, bool on_base) {
  Texts names;
  if (!comparison.cross) return names;
  for (const Case& c : comparison.cases) {
    const SideOfCase& ran = on_base ? c.base : c.next;
    const SideOfCase& other = on_base ? c.next : c.base;
    if (ran.time && !other.time) names.push_back(fmt::format("{} ({})", c.id.name(), to_string(other.status)));
  }
  return names;
}

void put_cases(render::Page& page, const Comparison& comparison) {
  const auto name = [](const Case& c) { return c.id.name(); };
  const render::Table table = table_of(comparison, comparison.cross ? cross_columns(name) : verdict_columns(name));
  page.table(table.without_spare_columns(std::nullopt));
}

void put_means(render::Page& page, const Comparison& comparison) {
  if (comparison.families.empty()) return;
  using enum render::Align;
  const bool is_traced = std::ranges::any_of(comparison.cases, has_device_ratio);
  std::vector<render::Column> columns{{"geometric mean", kLeft}, {"cases", kRight}, {"new/base", kRight}};
  if (is_traced) columns.push_back({"of the device", kRight});
  columns.push_back({"in cycles", kRight});
  render::Table table{std::move(columns)};
  const auto ratio = [](double r) { return fmt::format("{:.4f}", r); };
  for (const FamilyMean& family : comparison.families) {
    Texts row{family.family, fmt::format("{}", family.cases), ratio(family.ratio)};
    if (is_traced) row.push_back(cell_of(family.device_ratio, ratio));
    row.push_back(cell_of(family.cycle_ratio, ratio));
    table.add_row(std::move(row));
  }
  page.table(table);
}

/// Adds how to decide the open cases, once for all of them.
void put_remedy(render::Page& page, const Comparison& comparison) {
  std::size_t undecided = 0;
  std::size_t hopeless = 0;
  for (const Case& c : comparison.cases) {
    if (c.outcome != Outcome::kUndecided) continue;
    ++undecided;
    hopeless += c.replicates_to_decide ? 0 : 1;
  }
  if (undecided == 0) return;
  Texts lines;
  if (undecided > hopeless) {
    lines.push_back(
        fmt::format("UNDECIDED: {} processes per side, if they differ as these do", replicates_to_decide(comparison)));
  }
  if (hopeless > 0) {
    lines.push_back(
        fmt::format("{} UNDECIDED: more than {} processes per side: the change is close to the threshold, or "
                    "the processes differ too much",
                    hopeless, kMaxReplicates));
  }
  lines.push_back(decide_what_is_open(comparison));
  page.list("To decide what is open", lines);
}

}  // namespace

std::string comparison_summary(const Comparison& comparison) {
  Texts parts;
  for (const auto& [outcome, count] : count_outcomes(comparison)) {
    parts.push_back(fmt::format("{} {}", count, to_string(outcome)));
  }
  std::string text = counted_in(comparison.cases, "case");
  text += parts.empty() ? ", different devices: no verdicts" : ": " + join(parts, ", ");
  if (!comparison.only_in_base.empty()) text += fmt::format("; {} only in base", comparison.only_in_base.size());
  if (!comparison.only_in_next.empty()) text += fmt::format("; {} only in new", comparison.only_in_next.size());
  return text;
}

std::string comparison_markdown(const Comparison& comparison) {
  constexpr std::size_t kLabelWidth = 5;
  render::Page page{{.markdown = true, .colour = false, .max_width = {}}, comparison_summary(comparison), kLabelWidth};
  put_header(page, comparison);
  put_cases(page, comparison);
  page.list("Ran on base alone", ran_on_one(comparison, true));
  page.list("Ran on new alone", ran_on_one(comparison, false));
  page.list("Missing: only in base", comparison.only_in_base);
  page.list("New: only in new", comparison.only_in_next);
  put_means(page, comparison);
  put_remedy(page, comparison);
  return std::move(page).take();
}

}  // namespace tbench::compare
