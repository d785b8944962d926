// A comparison for people.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "compare/comparison_commands.hpp"
#include "tbench/compare/comparison_output.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/table.hpp"

namespace tbench::compare {
namespace {

using Texts = std::vector<std::string>;
using Case = CaseComparison;

/// `f` of the value, or an empty cell.
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
  bool needs_trace{};  // left out where no case has it
};

// `name` is copied by a lambda: with a function that may throw as the first element GCC 12 takes the list's texts for
// uninitialised.
std::vector<PageColumn> verdict_columns(const std::function<std::string(const Case&)>& name) {
  using enum render::Align;
  return {
      {{"verdict", kLeft, 0}, [](const Case& c) { return c.verdict ? std::string{to_string(*c.verdict)} : ""; }},
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
      {{"base MFU %", kRight, 1}, [](const Case& c) { return render::format_percent(c.base.mfu, 1); }},
      {{"new MFU %", kRight, 1}, [](const Case& c) { return render::format_percent(c.next.mfu, 1); }},
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

/// The parameters that all cases of a family share, by family; a family of one case shares nothing.
using Common = std::map<std::string, std::vector<CaseId::Parameter>>;

Common common_parameters(const std::vector<Case>& cases) {
  std::map<std::string, std::size_t> counts;
  Common common;
  for (const Case& c : cases) {
    auto& shared = common[c.id.family()];
    if (counts[c.id.family()]++ == 0) {
      shared = c.id.parameters();
      continue;
    }
    const auto& own = c.id.parameters();
    std::erase_if(shared, [&](const auto& parameter) { return std::ranges::find(own, parameter) == own.end(); });
  }
  std::erase_if(common, [&](const auto& entry) { return counts[entry.first] < 2 || entry.second.empty(); });
  return common;
}

std::string joined(const std::vector<CaseId::Parameter>& parameters, std::string_view separator) {
  Texts texts;
  for (const auto& [key, value] : parameters) texts.push_back(fmt::format("{}:{}", key, value));
  return join(texts, separator);
}

std::string short_name(const CaseId& id, const Common& common) {
  const auto shared = common.find(id.family());
  if (shared == common.end()) return id.name();
  std::vector<CaseId::Parameter> own;
  for (const auto& parameter : id.parameters()) {
    if (std::ranges::find(shared->second, parameter) == shared->second.end()) own.push_back(parameter);
  }
  return fmt::format("{} {}", id.family(), joined(own, " "));
}

std::string_view colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRegressed:
      return render::kRed;
    case Verdict::kImproved:
      return render::kGreen;
    case Verdict::kHost:
    case Verdict::kClock:
    case Verdict::kAmbiguous:
      return render::kYellow;
    default:
      return "";
  }
}

/// The verdict stands first in its line.
std::string coloured(const std::string& line) {
  for (const Verdict verdict : kAllVerdicts) {
    const std::string_view name = to_string(verdict);
    if (!line.starts_with(name) || colour_of(verdict).empty()) continue;
    return fmt::format("{}{}{}{}", colour_of(verdict), name, render::kPlain, line.substr(name.size()));
  }
  return line;
}

std::string described(const SideFacts& side) {
  std::string files = side.paths.front();
  if (side.paths.size() > 1) files += fmt::format(" and {} more", side.paths.size() - 1);
  return side.device.empty() ? files : fmt::format("{} ({})", files, side.device);
}

void put_header(render::Page& page, const Comparison& comparison, bool with_warnings) {
  page.line("base", described(comparison.base));
  page.line("new", described(comparison.next));
  for (const std::string& difference : comparison.differences) page.line("other", difference);
  if (!with_warnings) return;
  for (const std::string& warning : comparison.warnings) page.line("warning", warning);
}

/// Between GPUs: cases that ran on one side only.
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

/// In a terminal, parameters that all cases of a family share stand above the table.
void put_cases(render::Page& page, const Comparison& comparison, const render::PageOptions& options) {
  const Common common = options.markdown ? Common{} : common_parameters(comparison.cases);
  for (const auto& [family, shared] : common) page.line("all", fmt::format("{} {}", family, joined(shared, " ")));
  const auto name = [&](const Case& c) { return short_name(c.id, common); };
  const render::Table table = table_of(comparison, comparison.cross ? cross_columns(name) : verdict_columns(name));
  page.table(table.without_spare_columns(options.markdown ? std::nullopt : options.max_width), coloured);
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

/// How to decide what is open, once for all cases.
void put_remedy(render::Page& page, const Comparison& comparison) {
  std::size_t too_few = 0;
  std::size_t ambiguous = 0;
  std::size_t hopeless = 0;
  for (const Case& c : comparison.cases) {
    too_few += c.verdict == Verdict::kInsufficient ? 1 : 0;
    if (c.verdict != Verdict::kAmbiguous) continue;
    ++ambiguous;
    hopeless += c.replicates_to_decide ? 0 : 1;
  }
  if (too_few + ambiguous == 0) return;
  Texts lines;
  if (too_few > 0) lines.push_back(fmt::format("INSUFFICIENT: at least {} replicates a side", kMinReplicates));
  if (ambiguous > hopeless) {
    lines.push_back(fmt::format("AMBIGUOUS: {} replicates a side, if they differ as these do",
                                replicates_to_decide(comparison, Verdict::kAmbiguous)));
  }
  if (hopeless > 0) {
    lines.push_back(
        fmt::format("{} AMBIGUOUS: more than {} replicates a side: the change is close to the threshold, or "
                    "the processes differ too much",
                    hopeless, kMaxReplicates));
  }
  lines.push_back(decide_what_is_open(comparison));
  page.list("To decide what is open", lines);
}

}  // namespace

std::string comparison_summary(const Comparison& comparison) {
  Texts parts;
  for (const auto& [verdict, count] : count_verdicts(comparison)) {
    parts.push_back(fmt::format("{} {}", count, to_string(verdict)));
  }
  std::string text = fmt::format("{} case{}", comparison.cases.size(), comparison.cases.size() == 1 ? "" : "s");
  text += parts.empty() ? ", different devices: no verdicts" : ": " + join(parts, ", ");
  if (!comparison.only_in_base.empty()) text += fmt::format("; {} only in base", comparison.only_in_base.size());
  if (!comparison.only_in_next.empty()) text += fmt::format("; {} only in new", comparison.only_in_next.size());
  return text;
}

std::string comparison_page(const Comparison& comparison, const render::PageOptions& options) {
  constexpr std::size_t kLabelWidth = 5;
  render::Page page{options, comparison_summary(comparison), kLabelWidth};
  put_header(page, comparison, options.markdown);
  put_cases(page, comparison, options);
  page.list("Ran on base alone", ran_on_one(comparison, true));
  page.list("Ran on new alone", ran_on_one(comparison, false));
  page.list("Missing: only in base", comparison.only_in_base);
  page.list("New: only in new", comparison.only_in_next);
  put_means(page, comparison);
  put_remedy(page, comparison);
  return std::move(page).take();
}

}  // namespace tbench::compare
