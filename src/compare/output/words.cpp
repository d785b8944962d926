#include "compare/output/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "tbench/compare/case_comparison.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/terminal.hpp"

namespace tbench::compare {
namespace {

using Case = CaseComparison;

constexpr std::string_view kContext = "ctx";

/// The words for an outcome.
struct Said {
  Outcome outcome;
  const char* one;
  const char* several;
  bool has_range;  // whether the size of the change follows
};
constexpr std::array kSaid{Said{Outcome::kWrong, "is wrong", "are wrong", false},
                           Said{Outcome::kError, "fails", "fail", false},
                           Said{Outcome::kLikelySlower, "is probably slower", "are probably slower", true},
                           Said{Outcome::kLikelyFaster, "is probably faster", "are probably faster", true}};

/// Returns a range such as `3.3 to 4.3 %`: the interval of a single case, or the smallest and the largest change of
/// several cases. The range has no signs, since words say the direction.
std::string range_of(const std::vector<const Case*>& cases) {
  double low = 0;
  double high = 0;
  const auto change = [](double ratio) { return std::abs(100 * (ratio - 1)); };
  const std::optional<stats::Interval> own = cases.size() == 1 ? judged_interval(*cases.front()) : std::nullopt;
  if (own) {
    low = std::min(change(own->low), change(own->high));
    high = std::max(change(own->low), change(own->high));
  } else {
    bool is_first = true;
    for (const Case* const c : cases) {
      const double of_case = change(judged_ratio(*c).value_or(1));
      low = is_first ? of_case : std::min(low, of_case);
      high = std::max(high, of_case);
      is_first = false;
    }
  }
  return fmt::format("{:.1f} to {:.1f} %", low, high);
}

std::vector<const Case*> cases_of(const Comparison& comparison, Outcome outcome) {
  std::vector<const Case*> cases;
  for (const Case& c : comparison.cases) {
    if (c.outcome == outcome) cases.push_back(&c);
  }
  return cases;
}

void add_part(std::string& text, const std::string& part) {
  if (!text.empty()) text += "; ";
  text += part;
}

void add_said(std::string& text, const Said& said, const std::vector<const Case*>& cases) {
  if (cases.empty()) return;
  std::string part = fmt::format("{} {}", counted_in(cases, "case"), agreeing(cases.size(), said.one, said.several));
  if (said.has_range && judged_ratio(*cases.front())) part += fmt::format(", by {}", range_of(cases));
  add_part(text, part);
}

/// Adds the text for REGRESSED or IMPROVED cases, separately for those whose time has the outcome, those that failed in
/// the base, and the others, whose memory has it.
void add_changed(std::string& text, const std::vector<const Case*>& cases, const Said& by_time, const Said& by_memory) {
  std::vector<const Case*> in_time;
  std::vector<const Case*> recovered;
  std::vector<const Case*> in_memory;
  for (const Case* const c : cases) {
    auto& kind = !c->outcome_of_time ? recovered : c->outcome_of_time == by_time.outcome ? in_time : in_memory;
    kind.push_back(c);
  }
  add_said(text, by_time, in_time);
  add_said(text, by_memory, in_memory);
  add_said(text, {by_time.outcome, "no longer fails", "no longer fail", false}, recovered);
}

bool is_judged(const Case& c) { return is_tested(c) || c.known_test; }

std::string nothing_of(const Comparison& comparison) {
  if (!std::ranges::any_of(comparison.cases, is_judged)) {
    return fmt::format(
        "Nothing is known of how much such cases differ between two processes: {} processes per side tell.",
        kMinReplicates);
  }
  if (std::ranges::any_of(comparison.cases, is_tested)) return "Nothing is slower or faster.";
  return comparison.apart == Apart::kMachines
             ? "Nothing is slower or faster than two machines of a model differ by."
             : "Nothing is slower or faster than two processes of one build differ by.";
}

std::string processes_of(const Comparison& comparison) {
  std::size_t base = 0;
  std::size_t next = 0;
  for (const Case& c : comparison.cases) {
    base = std::max(base, c.base.replicates);
    next = std::max(next, c.next.replicates);
  }
  if (base != next) return fmt::format("{} and {} processes", base, next);
  return base == 1 ? "one process per side" : fmt::format("{} processes per side", base);
}

/// Returns the beginning of the first UUID, `GPU-c283c354`, and the number of the others.
std::string short_uuid(const std::vector<std::string>& uuids) {
  if (uuids.empty()) return "unknown";
  constexpr std::size_t kLength = 12;
  return uuids.front().substr(0, kLength) + (uuids.size() > 1 ? fmt::format(" and {} more", uuids.size() - 1) : "");
}

std::string gpus_of(const Comparison& comparison) {
  const std::vector<std::string>& base = comparison.base.uuids;
  const std::vector<std::string>& next = comparison.next.uuids;
  if (comparison.apart == Apart::kMachines) {
    return fmt::format("another GPU of one model ({} and {}, {}), another host: the GPU's own time carries the outcome",
                       short_uuid(base), short_uuid(next), comparison.base.device);
  }
  if (base.empty()) {
    const std::string& device = comparison.base.device;
    if (device.empty() || device == comparison.next.device) return device.empty() ? "an unknown device" : device;
    return fmt::format("{} and {}", device, comparison.next.device);
  }
  return fmt::format("same GPU {} ({}), same host", short_uuid(base), comparison.base.device);
}

}  // namespace

CaseNames::CaseNames(const std::vector<CaseComparison>& cases) {
  std::map<std::string, std::size_t> counts;
  for (const Case& c : cases) {
    auto& shared = shared_[c.id.family()];
    if (counts[c.id.family()]++ == 0) {
      shared = c.id.parameters();
      continue;
    }
    const auto& own = c.id.parameters();
    std::erase_if(shared, [&](const auto& parameter) { return std::ranges::find(own, parameter) == own.end(); });
  }
  std::erase_if(shared_, [&](const auto& entry) { return counts[entry.first] < 2; });
}

std::string CaseNames::operator()(const CaseId& id) const {
  const auto shared = shared_.find(id.family());
  std::string text = id.family();
  bool joins = false;
  for (const auto& parameter : id.parameters()) {
    if (shared != shared_.end() && std::ranges::find(shared->second, parameter) != shared->second.end()) continue;
    const auto& [key, value] = parameter;
    const bool is_number = parse_integer(value).has_value() && key != kContext;
    text += joins && is_number ? "x" : " ";
    text += value;
    joins = is_number;
  }
  return text;
}

std::string signed_percent(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:+.1f}", 100 * (*ratio - 1)) : "";
}

std::optional<double> judged_ratio(const CaseComparison& c) {
  return c.judged_by == Measure::kDeviceTime ? c.device_ratio : c.ratio;
}

std::optional<stats::Interval> judged_interval(const CaseComparison& c) {
  return c.judged_by == Measure::kDeviceTime ? c.device_ratio_interval : c.ratio_interval;
}

std::string answer_of(const Comparison& comparison) {
  std::string text;
  for (const Said& said : kSaid) {
    if (said.outcome == Outcome::kLikelySlower) {
      add_changed(text, cases_of(comparison, Outcome::kRegressed),
                  {Outcome::kRegressed, "is slower", "are slower", true},
                  {Outcome::kRegressed, "needs more memory", "need more memory", false});
    }
    add_said(text, said, cases_of(comparison, said.outcome));
  }
  add_changed(text, cases_of(comparison, Outcome::kImproved), {Outcome::kImproved, "is faster", "are faster", true},
              {Outcome::kImproved, "needs less memory", "need less memory", false});
  return text.empty() ? nothing_of(comparison) : text + ".";
}

std::string sides_of(const Comparison& comparison) {
  const auto build = [](const SideFacts& side) { return side.build.empty() ? "unknown" : side.build; };
  const std::string base = build(comparison.base);
  const std::string next = build(comparison.next);
  const bool is_told = !comparison.base.build.empty() || !comparison.next.build.empty();
  const std::string builds =
      base == next ? fmt::format("one build {}", base) : fmt::format("builds {} and {}", base, next);
  return fmt::format("{}; {}; {}", processes_of(comparison), gpus_of(comparison), is_told ? builds : "unknown builds");
}

std::vector<std::string> lines_with_notes(const render::Table& table, std::span<const CaseComparison* const> cases,
                                          const CaseNames& names, std::size_t width) {
  constexpr std::size_t kGap = 2;
  constexpr std::size_t kHeader = 2;
  constexpr std::size_t kIndent = 11;  // below the column after `outcome`
  std::size_t longest = 0;
  for (const CaseComparison* const c : cases) longest = std::max(longest, render::display_width(names(c->id)));
  const std::size_t beside = width > longest + kGap ? width - longest - kGap : 1;  // for all other columns
  std::vector<std::string> lines;
  const std::vector<std::string> rows = split(table.without_spare_columns(beside).text(width), '\n');
  for (std::size_t i = 0; i < rows.size() && i < kHeader + cases.size(); ++i) {
    lines.push_back(rows[i]);
    if (i < kHeader || cases[i - kHeader]->note.empty()) continue;
    render::add_wrapped(lines, std::string(kIndent, ' '), render::one_line(cases[i - kHeader]->note), kIndent, width);
  }
  return lines;
}

}  // namespace tbench::compare
