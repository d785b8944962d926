#include "tbench/report/comparison_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "tbench/core/text.hpp"
#include "tbench/report/number_format.hpp"
#include "tbench/report/table.hpp"

namespace tbench::report {
namespace {

using Texts = std::vector<std::string>;
using Case = CaseComparison;

std::string percent(double fraction) { return fmt::format("{:+.2f}", 100 * fraction); }

/// `f` of the value, or an empty cell.
template <class T, class F>
std::string cell_of(const std::optional<T>& value, F f) {
  return value ? f(*value) : std::string{};
}

std::string milliseconds(const std::optional<Seconds>& time) {
  return cell_of(time, [](Seconds t) { return format_number(to_milliseconds(t)); });
}

std::string change_of(const std::optional<double>& ratio) {
  return cell_of(ratio, [](double r) { return percent(r - 1); });
}

std::string gibibytes(const std::optional<std::int64_t>& bytes) {
  constexpr double kGibi = 1 << 30;
  return cell_of(bytes, [](std::int64_t b) { return fmt::format("{:.2f}", static_cast<double>(b) / kGibi); });
}

std::string spread_of(const SideOfCase& side) {
  return cell_of(side.spread, [](double spread) { return fmt::format("{:.2f}", 100 * spread); });
}

std::string memory_change(const Case& c) {
  if (!c.base.peak_bytes || !c.next.peak_bytes || *c.base.peak_bytes == 0) return "";
  if (*c.base.peak_bytes == *c.next.peak_bytes) return "=";
  return percent(static_cast<double>(*c.next.peak_bytes) / static_cast<double>(*c.base.peak_bytes) - 1);
}

std::string replicates_of(const Case& c) { return fmt::format("{}+{}", c.base.replicates, c.next.replicates); }

std::string probability(double p) { return p < 0.0001 ? "<0.0001" : fmt::format("{:.4f}", p); }

struct PageColumn {
  const char* header;
  Align align;
  int spare;  // 0: always shown; of the others, those with the highest number go first where a terminal is narrow
  std::function<std::string(const Case&)> cell;
};

std::vector<PageColumn> verdict_columns(const std::function<std::string(const Case&)>& name) {
  using enum Align;
  return {
      {"verdict", kLeft, 0, [](const Case& c) { return c.verdict ? std::string{to_string(*c.verdict)} : ""; }},
      {"case", kLeft, 0, name},
      {"base ms", kRight, 1, [](const Case& c) { return milliseconds(c.base.time); }},
      {"±%", kRight, 5, [](const Case& c) { return spread_of(c.base); }},
      {"new ms", kRight, 1, [](const Case& c) { return milliseconds(c.next.time); }},
      {"±%", kRight, 5, [](const Case& c) { return spread_of(c.next); }},
      {"change %", kRight, 0, [](const Case& c) { return change_of(c.ratio); }},
      {"95 % interval", kRight, 3,
       [](const Case& c) {
         return cell_of(c.ratio_interval, [&](const Interval& interval) {
           return fmt::format("{}{:+.2f} .. {:+.2f}", c.interval_is_within ? "~" : "", 100 * (interval.low - 1),
                              100 * (interval.high - 1));
         });
       }},
      {"cycles %", kRight, 2, [](const Case& c) { return change_of(c.cycle_ratio); }},
      {"p", kRight, 4, [](const Case& c) { return cell_of(c.adjusted_p, probability); }},
      {"finds %", kRight, 0,
       [](const Case& c) {
         return cell_of(c.smallest_detectable, [](double s) { return fmt::format("{:.1f}", 100 * s); });
       }},
      {"memory %", kRight, 1, memory_change},
      {"n", kRight, 6, replicates_of},
      {"note", kLeft, 0, [](const Case& c) { return c.note; }},
  };
}

std::vector<PageColumn> cross_columns(const std::function<std::string(const Case&)>& name) {
  using enum Align;
  const auto share = [](const SideOfCase& side) {
    return cell_of(side.ceiling_share, [](double s) { return fmt::format("{:.1f}", 100 * s); });
  };
  const auto ratio = [](const std::optional<double>& value) {
    return cell_of(value, [](double r) { return fmt::format("{:.3f}", r); });
  };
  return {
      {"case", kLeft, 0, name},
      {"base ms", kRight, 1, [](const Case& c) { return milliseconds(c.base.time); }},
      {"new ms", kRight, 1, [](const Case& c) { return milliseconds(c.next.time); }},
      {"new/base", kRight, 0, [ratio](const Case& c) { return ratio(c.ratio); }},
      {"95 % interval", kRight, 3,
       [](const Case& c) {
         return cell_of(c.ratio_interval, [&](const Interval& interval) {
           return fmt::format("{}{:.3f} .. {:.3f}", c.interval_is_within ? "~" : "", interval.low, interval.high);
         });
       }},
      {"in cycles", kRight, 2, [ratio](const Case& c) { return ratio(c.cycle_ratio); }},
      {"base MFU %", kRight, 1, [share](const Case& c) { return share(c.base); }},
      {"new MFU %", kRight, 1, [share](const Case& c) { return share(c.next); }},
      {"base GiB", kRight, 3, [](const Case& c) { return gibibytes(c.base.peak_bytes); }},
      {"new GiB", kRight, 3, [](const Case& c) { return gibibytes(c.next.peak_bytes); }},
      {"n", kRight, 6, replicates_of},
      {"note", kLeft, 0, [](const Case& c) { return c.note; }},
  };
}

using Rows = std::vector<Texts>;

/// Widest text of a column; of none, 0: the column says nothing.
std::size_t width_of(const PageColumn& column, const Rows& rows, std::size_t index) {
  std::size_t width = 0;
  for (const Texts& row : rows) width = std::max(width, display_width(row[index]));
  return width == 0 ? 0 : std::max(width, display_width(column.header));
}

/// Indexes of the columns to show: those that say something and, the note aside (it may be shortened), fit.
std::vector<std::size_t> shown_columns(const std::vector<PageColumn>& all, const Rows& rows,
                                       std::optional<std::size_t> max_width) {
  constexpr std::size_t kGap = 2;
  std::vector<std::size_t> shown;
  std::vector<std::size_t> widths;
  std::size_t total = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    widths.push_back(width_of(all[i], rows, i));
    if (widths[i] == 0) continue;
    shown.push_back(i);
    if (std::string_view{all[i].header} != "note") total += widths[i] + kGap;
  }
  while (max_width && total > *max_width + kGap) {
    const auto most = std::ranges::max_element(shown, {}, [&](std::size_t i) { return all[i].spare; });
    if (most == shown.end() || all[*most].spare == 0) break;
    total -= widths[*most] + kGap;
    shown.erase(most);
  }
  return shown;
}

Table table_of(const Comparison& comparison, const std::vector<PageColumn>& all, std::optional<std::size_t> max_width) {
  Rows rows;
  for (const Case& c : comparison.cases) {
    Texts& row = rows.emplace_back();
    for (const PageColumn& column : all) row.push_back(column.cell(c));
  }
  const std::vector<std::size_t> shown = shown_columns(all, rows, max_width);
  std::vector<Column> columns;
  for (const std::size_t i : shown) columns.push_back({all[i].header, all[i].align});
  Table table{columns};
  for (Texts& row : rows) {
    Texts cells;
    for (const std::size_t i : shown) cells.push_back(std::move(row[i]));
    table.add_row(std::move(cells));
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

constexpr std::string_view kPlain = "\033[0m";

std::string_view colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRegressed:
      return "\033[31m";
    case Verdict::kImproved:
      return "\033[32m";
    case Verdict::kClock:
    case Verdict::kAmbiguous:
      return "\033[33m";
    default:
      return "";
  }
}

/// The verdict stands first in its line.
std::string coloured(const std::string& table) {
  std::string text;
  for (const std::string& line : split(table, '\n')) {
    std::string_view rest = line;
    for (const Verdict verdict : kAllVerdicts) {
      if (!line.starts_with(to_string(verdict)) || colour_of(verdict).empty()) continue;
      text += fmt::format("{}{}{}", colour_of(verdict), to_string(verdict), kPlain);
      rest.remove_prefix(to_string(verdict).size());
      break;
    }
    text += fmt::format("{}\n", rest);
  }
  text.pop_back();  // the text ended in a newline already
  return text;
}

std::string side_line(std::string_view label, const SideFacts& side, bool markdown) {
  std::string files = side.paths.front();
  if (side.paths.size() > 1) files += fmt::format(" and {} more", side.paths.size() - 1);
  const std::string text = one_line(side.device.empty() ? files : fmt::format("{} ({})", files, side.device));
  return markdown ? fmt::format("- {}: {}\n", label, escape_markdown(text)) : fmt::format("{:<5} {}\n", label, text);
}

std::string header_of(const Comparison& comparison, bool markdown) {
  std::string text = side_line("base", comparison.base, markdown) + side_line("new", comparison.next, markdown);
  const auto add = [&](const char* label, const Texts& lines) {
    for (const std::string& line : lines) {
      text += markdown ? fmt::format("- {}: {}\n", label, escape_markdown(one_line(line)))
                       : fmt::format("{:<5} {}\n", label, one_line(line));
    }
  };
  add("other", comparison.differences);
  if (markdown) add("warning", comparison.warnings);
  return text;
}

std::string list_of(std::string_view caption, const Texts& names, bool markdown) {
  if (names.empty()) return "";
  std::string text = markdown ? fmt::format("\n**{}**\n\n", caption) : fmt::format("\n{}:\n", caption);
  for (const std::string& name : names) {
    text += fmt::format("{} {}\n", markdown ? "-" : " ", markdown ? escape_markdown(one_line(name)) : one_line(name));
  }
  return text;
}

/// Between GPUs: cases that one side ran and the other one could not.
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

std::string means_of(const Comparison& comparison, bool markdown) {
  if (comparison.families.empty()) return "";
  Table table{{{"geometric mean", Align::kLeft},
               {"cases", Align::kRight},
               {"new/base", Align::kRight},
               {"in cycles", Align::kRight}}};
  for (const FamilyMean& family : comparison.families) {
    table.add_row({family.family, fmt::format("{}", family.cases), fmt::format("{:.4f}", family.ratio),
                   cell_of(family.cycle_ratio, [](double r) { return fmt::format("{:.4f}", r); })});
  }
  return "\n" + (markdown ? table.markdown() : table.text());
}

std::string text_table(const Comparison& comparison, const PageOptions& options) {
  const Common common = common_parameters(comparison.cases);
  const auto name = [&](const Case& c) { return short_name(c.id, common); };
  std::string text;
  for (const auto& [family, shared] : common) {
    text += one_line(fmt::format("{:<5} {} {}", "all", family, joined(shared, " "))) + "\n";
  }
  const auto columns = comparison.cross ? cross_columns(name) : verdict_columns(name);
  const std::string table = table_of(comparison, columns, options.max_width).text(options.max_width);
  return text + "\n" + (options.colour ? coloured(table) : table);
}

std::string markdown_table(const Comparison& comparison) {
  const auto name = [](const Case& c) { return c.id.name(); };
  return "\n" +
         table_of(comparison, comparison.cross ? cross_columns(name) : verdict_columns(name), std::nullopt).markdown();
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

std::string comparison_page(const Comparison& comparison, const PageOptions& options) {
  const std::string summary = comparison_summary(comparison);
  std::string page = options.markdown ? fmt::format("**{}**\n\n", summary) : "";
  page += header_of(comparison, options.markdown);
  page += options.markdown ? markdown_table(comparison) : text_table(comparison, options);
  page += list_of("Ran on base alone", ran_on_one(comparison, true), options.markdown);
  page += list_of("Ran on new alone", ran_on_one(comparison, false), options.markdown);
  page += list_of("Missing: only in base", comparison.only_in_base, options.markdown);
  page += list_of("New: only in new", comparison.only_in_next, options.markdown);
  page += means_of(comparison, options.markdown);
  if (!options.markdown) page += "\n" + summary + "\n";
  return page;
}

}  // namespace tbench::report
