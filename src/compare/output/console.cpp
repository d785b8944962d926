// Renders a comparison for a terminal, with the answer first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/output/counts.hpp"
#include "compare/output/words.hpp"
#include "tbench/compare/case_comparison.hpp"
#include "tbench/compare/comparison_output.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/table.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::compare {
namespace {

using Case = CaseComparison;
using Texts = std::vector<std::string>;

std::string_view colour_of(Outcome outcome) {
  if (results::exit_status_of(outcome) == results::kExitRegressed || outcome == Outcome::kLikelySlower) {
    return render::kRed;
  }
  if (outcome == Outcome::kImproved || outcome == Outcome::kLikelyFaster) return render::kGreen;
  const bool is_open = outcome == Outcome::kHost || outcome == Outcome::kClock || outcome == Outcome::kUndecided;
  return is_open ? render::kYellow : "";
}

/// Returns a line in the colour of its outcome, which is the line's first word.
std::string coloured(const std::string& line) {
  const std::string_view name = std::string_view{line}.substr(0, line.find(' '));
  const std::optional<Outcome> outcome = parse_enum<Outcome>(name);
  if (!outcome || colour_of(*outcome).empty()) return line;
  return fmt::format("{}{}{}{}", colour_of(*outcome), name, render::kPlain, line.substr(name.size()));
}

/// Returns the change of a case's time. If the host limits a side and the time was not tested, the text is `host`,
/// since such a change does not come from the code.
std::string change_of(const Case& c) {
  return c.host_bound && c.judged_by != Measure::kTime && c.ratio ? "host" : signed_percent(c.ratio);
}

std::string limit_of(const Case& c) {
  if (!c.known_limit) return "";
  return fmt::format("{:.1f}{}", 100 * *c.known_limit, c.judged_by == Measure::kDeviceTime ? " GPU" : "");
}

std::string interval_of(const Case& c) {
  if (!is_tested(c) || !c.ratio_interval) return "";
  return fmt::format("{:+.1f} .. {:+.1f}", 100 * (c.ratio_interval->low - 1), 100 * (c.ratio_interval->high - 1));
}

/// Returns the cases in order: severe outcomes first, and within an outcome the change that is largest relative to its
/// limit. Cases without a verdict come last.
std::vector<const Case*> in_order(const Comparison& comparison, bool is_sorted) {
  std::vector<const Case*> cases;
  for (const Case& c : comparison.cases) cases.push_back(&c);
  if (is_sorted) return cases;
  const auto rank = [](const Case* c) {
    const Outcome outcome = c->outcome.value_or(Outcome::kSame);
    return outcome == Outcome::kNotJudged ? kAllOf<Outcome>.size() : static_cast<std::size_t>(outcome);
  };
  const auto weight = [](const Case* c) {
    const double change = std::abs(std::log(judged_ratio(*c).value_or(1)));
    return change / std::log1p(c->known_limit.value_or(c->threshold));
  };
  const auto is_unknown = [](const Case* c) { return !is_tested(*c) && !c->known_test; };
  std::ranges::stable_sort(cases, [&](const Case* a, const Case* b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return is_unknown(a) != is_unknown(b) ? is_unknown(b) : weight(a) > weight(b);
  });
  return cases;
}

/// Returns the table of the cases. Its last column is the case's short name, or the whole name and the note.
render::Table table_of(std::span<const Case* const> cases, const CaseNames& names, bool are_whole) {
  using enum render::Align;
  std::vector<render::Column> columns{{"outcome", kLeft},  {"time %", kRight},    {"95 % interval", kRight, 2},
                                      {"GPU %", kRight},   {"limit %", kRight},   {"n", kRight, 3},
                                      {"base ms", kRight}, {"new ms", kRight, 1}, {"case", kLeft}};
  if (are_whole) columns.push_back({"note", kLeft});
  render::Table table{std::move(columns)};
  for (const Case* const c : cases) {
    const bool is_one = c->base.replicates == 1 && c->next.replicates == 1;
    Texts row{c->outcome ? std::string{to_string(*c->outcome)} : "",
              change_of(*c),
              interval_of(*c),
              signed_percent(c->device_ratio),
              limit_of(*c),
              is_one ? "" : fmt::format("{}+{}", c->base.replicates, c->next.replicates),
              render::format_milliseconds(c->base.time),
              render::format_milliseconds(c->next.time),
              are_whole ? c->id.name() : names(c->id)};
    if (are_whole) row.push_back(c->note);
    table.add_row(std::move(row));
  }
  return table;
}

/// Returns the command with a line for each of its steps.
std::string command_lines(const std::string& command) {
  std::string lines = "  ";
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string_view rest = std::string_view{command}.substr(i);
    if (rest.starts_with("; do ")) {
      lines += "; do\n    ";
      i += 4;
    } else if (rest.starts_with("; done; ")) {
      lines += "\n  done\n  ";
      i += 7;
    } else if (rest.starts_with("; ")) {
      lines += "\n    ";
      ++i;
    } else {
      lines += command[i];
    }
  }
  return lines + "\n";
}

}  // namespace

std::string comparison_console(const Comparison& comparison, const ConsoleOptions& options) {
  if (comparison.cross) return models_console(comparison, options);
  const std::size_t width = std::min(options.width.value_or(render::kConsoleWidth), render::kConsoleWidth);
  std::string text;
  std::vector<std::string> sentences{answer_of(comparison), sides_of(comparison)};
  std::vector<std::string> others = comparison.differences;
  std::erase_if(others, [](const std::string& difference) { return difference.starts_with("commit: "); });  // said
  if (!others.empty()) sentences.push_back("also other: " + join(others, "; "));
  for (const std::string& sentence : sentences) {
    for (const std::string& line : wrapped(render::one_line(sentence), width)) text += line + "\n";
  }
  text += "\n";
  for (const std::string& line : count_lines(comparison, width)) text += line + "\n";
  const std::vector<const Case*> cases = in_order(comparison, options.is_sorted);
  const std::size_t shown = options.all ? cases.size() : std::min(cases.size(), kMaxShown);
  const std::span<const Case* const> first = std::span{cases}.first(shown);
  const CaseNames names{comparison.cases};
  const render::Table table = table_of(first, names, options.all);
  const Texts lines = options.all ? split(table.without_spare_columns(std::nullopt).text(), '\n')
                                  : lines_with_notes(table, first, names, width);
  text += "\n";
  for (const std::string& line : lines) {
    if (!line.empty()) text += (options.colour ? coloured(line) : line) + "\n";
  }
  if (shown < cases.size()) text += fmt::format("... {} more: --all\n", cases.size() - shown);
  const std::string next = comparison_conclusion(comparison).next;
  return next.empty() ? text : text + "next:\n" + command_lines(next);
}

}  // namespace tbench::compare
