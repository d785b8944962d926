#include "compare/output/counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "compare/output/words.hpp"
#include "tbench/compare/case_comparison.hpp"
#include "tbench/compare/case_values.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::compare {
namespace {

using Case = CaseComparison;
using Texts = std::vector<std::string>;

constexpr std::size_t kCountWidth = 5;
constexpr std::size_t kOutcomeWidth = 14;

/// Returns the noun for a case among others of its outcome: singular and plural.
std::pair<const char*, const char*> kind_of(const Case& c) {
  if (is_tested(c)) return {"case", "cases"};
  if (!c.known_test && c.outcome != Outcome::kUndecided) return {"case", "cases"};
  if (!c.known_test)
    return {"case of unknown spread (not traced, or under 10 us)",
            "cases of unknown spread (not traced, or under 10 us)"};
  switch (*c.spread_class) {
    case SpreadClass::kKernel:
    case SpreadClass::kShortKernel:
      return {"kernel", "kernels"};
    case SpreadClass::kGraph:
      return {"graph", "graphs"};
    case SpreadClass::kPowerLimit:
      return {"step at the power limit", "steps at the power limit"};
    case SpreadClass::kStep:
    case SpreadClass::kHostBoundStep:
      return {"step", "steps"};
    case SpreadClass::kHostBoundDevice:
    case SpreadClass::kDevice:
      return {"step by its GPU time", "steps by their GPU time"};
  }
  return {"", ""};
}

struct Kind {
  std::pair<const char*, const char*> words;
  std::size_t count{};
  double low{};
  double high{};  // of the limits; 0: unknown
};

std::string described(const Kind& kind) {
  std::string text = counted(kind.count, kind.words.first, kind.words.second);
  const auto percent = [](double limit) { return fmt::format("{:.1f}", 100 * limit); };
  if (kind.high > 0) {
    text += percent(kind.low) == percent(kind.high)
                ? fmt::format(" ({} %)", percent(kind.high))
                : fmt::format(" ({} to {} %)", percent(kind.low), percent(kind.high));
  }
  return text;
}

std::string kinds_of(const std::vector<const Case*>& cases) {
  std::vector<Kind> kinds;
  for (const Case* const c : cases) {
    const auto words = kind_of(*c);
    auto found = std::ranges::find_if(kinds, [&](const Kind& kind) { return kind.words.first == words.first; });
    if (found == kinds.end()) found = kinds.insert(kinds.end(), {.words = words, .count = 0, .low = 1, .high = 0});
    ++found->count;
    if (!c->known_limit) continue;
    found->low = std::min(found->low, *c->known_limit);
    found->high = std::max(found->high, *c->known_limit);
  }
  if (kinds.size() == 1 && kinds.front().high == 0 && kinds.front().words.second == std::string_view{"cases"})
    return "";
  Texts parts;
  for (const Kind& kind : kinds) parts.push_back(described(kind));
  return join(parts, ", ");
}

/// Returns why a case is not judged.
std::string reason_of(const Case& c) {
  const bool is_base_ok = c.base.status == Status::kOk;
  const bool is_next_ok = c.next.status == Status::kOk;
  if (is_base_ok && is_next_ok) return "of the machine (ceilings)";
  const SideOfCase& failed = is_base_ok ? c.next : c.base;
  const std::string status{is_not_comparable(failed) ? kNotComparable : to_string(failed.status)};
  return is_base_ok || is_next_ok ? status + " on one side" : status;
}

/// Returns the reasons of these cases with their counts: `35 unsupported, 2 oom, 1 unstable on one side`.
std::string reasons_of(const std::vector<const Case*>& cases) {
  std::map<std::string, std::size_t> counts;
  for (const Case* const c : cases) ++counts[reason_of(*c)];
  Texts parts;
  for (const auto& [reason, count] : counts) parts.push_back(fmt::format("{} {}", count, reason));
  return join(parts, ", ");
}

std::string host_line(const Comparison& comparison) {
  std::size_t count = 0;
  double low = 0;
  double high = 0;
  for (const Case& c : comparison.cases) {
    if (!c.host_bound || !c.ratio || c.judged_by == Measure::kTime) continue;
    const double change = *c.ratio - 1;
    low = count == 0 ? change : std::min(low, change);
    high = count == 0 ? change : std::max(high, change);
    ++count;
  }
  if (count == 0) return "";
  if (count == 1) return fmt::format("1 case is host-bound: its time is not judged ({:+.1f} %)", 100 * high);
  return fmt::format("{} cases are host-bound: their time is not judged ({:+.1f} to {:+.1f} %)", count, 100 * high,
                     100 * low);
}

/// Returns how many cases exceed their known limit, which 95 % of pairs stay under, and how many do so by chance.
/// Returns an empty string if none does.
std::string chance_line(const Comparison& comparison) {
  std::size_t judged = 0;
  std::size_t beyond = 0;
  for (const Case& c : comparison.cases) {
    if (!c.known_test || !c.known_limit) continue;
    ++judged;
    beyond += std::abs(c.known_test->difference) > std::log1p(*c.known_limit) ? 1 : 0;
  }
  if (beyond == 0) return "";
  constexpr double kShare = 0.05;
  return fmt::format("{} known limit, which 5 % do by chance: {:.0f}",
                     counted(beyond, "case exceeds its", "cases exceed their"), kShare * static_cast<double>(judged));
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  constexpr std::size_t kIndent = 2;
  Texts lines;
  render::add_wrapped(lines, "", text, kIndent, width);
  return lines;
}

std::vector<std::string> count_lines(const Comparison& comparison, std::size_t width) {
  Texts lines;
  std::map<Outcome, std::vector<const Case*>> by_outcome;
  for (const Case& c : comparison.cases) {
    if (c.outcome) by_outcome[*c.outcome].push_back(&c);
  }
  for (const auto& [outcome, cases] : by_outcome) {
    const std::string line = fmt::format("{:>{}} {:<{}}", cases.size(), kCountWidth, to_string(outcome), kOutcomeWidth);
    const std::string details = outcome == Outcome::kNotJudged ? reasons_of(cases) : kinds_of(cases);
    render::add_wrapped(lines, line, details, line.size(), width);
    lines.back() = render::without_trailing_spaces(std::move(lines.back()));
  }
  Texts said{host_line(comparison), chance_line(comparison)};
  const auto add_missing = [&](const Texts& names, const char* side) {
    if (!names.empty())
      said.push_back(fmt::format("{} only in the {} results", counted(names.size(), "case is", "cases are"), side));
  };
  add_missing(comparison.only_in_base, "base");
  add_missing(comparison.only_in_next, "new");
  for (const std::string& shared : comparison.shared_gpus) said.push_back(shared);
  for (const std::string& text : said) {
    if (!text.empty()) std::ranges::move(wrapped(text, width), std::back_inserter(lines));
  }
  return lines;
}

}  // namespace tbench::compare
