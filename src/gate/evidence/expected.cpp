// Finds the cases that every run is expected to have and that this run lacks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gate/judging_steps.hpp"
#include "tbench/compare/case_values.hpp"
#include "tbench/core/case_table.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::gate {
namespace {

using Parameters = std::map<std::string, std::string>;

Parameters parameters_of(const CaseId& id) {
  Parameters parameters;
  for (const CaseId::Parameter& p : id.parameters()) parameters[p.first] = p.second;
  return parameters;
}

/// Returns whether the names differ only in one value, in one key, or in one parameter that only one of them has.
bool may_be_renamed(const CaseId& from, const CaseId& to) {
  if (from.family() != to.family()) return false;
  Parameters left = parameters_of(from);
  Parameters right = parameters_of(to);
  std::erase_if(left, [&](const auto& p) {
    const auto found = right.find(p.first);
    if (found == right.end() || found->second != p.second) return false;
    right.erase(found);
    return true;
  });
  if (left.size() + right.size() == 1) return true;
  if (left.size() != 1 || right.size() != 1) return false;
  return left.begin()->first == right.begin()->first || left.begin()->second == right.begin()->second;
}

/// Returns ln of the case's usual time in seconds, over the last runs that count, in any epoch.
std::optional<double> usual_value(const std::vector<history::PastRun>& past, const std::string& key) {
  std::vector<double> values;
  for (auto run = past.rbegin(); run != past.rend() && values.size() < kScreenRuns; ++run) {
    if (!run->is_valid || run->regressed.contains(key) || run->excluded.contains(key)) continue;
    const auto found = std::ranges::find(run->run.cases, key, &results::MeasuredCase::key);
    if (found == run->run.cases.end()) continue;
    if (const std::optional<double> value = compare::value_of(*found)) values.push_back(*value);
  }
  return values.empty() ? std::nullopt : std::optional{stats::median(values)};
}

/// Returns the start of the first run after the last run that had the case; empty for the candidate itself.
std::string missing_since(const std::vector<history::PastRun>& past, const std::string& key) {
  std::string since;
  for (auto run = past.rbegin(); run != past.rend(); ++run) {
    if (std::ranges::find(run->run.cases, key, &results::MeasuredCase::key) != run->run.cases.end()) break;
    since = run->run.started;
  }
  return since;
}

CaseReport missing_report(const std::vector<history::PastRun>& past, const history::MeasuredRun& candidate,
                          const history::ExpectedCase& expected) {
  CaseReport report;
  report.name = expected.name;
  report.family = results::case_of_name(expected.name).family();
  report.key = expected.key;
  report.outcome = Outcome::kMissing;
  const std::string since = missing_since(past, expected.key);
  report.note = fmt::format("expected since {}, missing since {}", render::format_day(expected.since),
                            render::format_day(since.empty() ? candidate.started : since));
  if (const auto usual = usual_value(past, expected.key)) report.reference = Seconds{std::exp(*usual)};
  return report;
}

/// Returns the only case of `others` that `name` may have been renamed to or from; null if there is none or several.
const CaseReport* only_match(const std::string& name, const std::vector<const CaseReport*>& others) {
  const CaseReport* match = nullptr;
  for (const CaseReport* other : others) {
    if (!may_be_renamed(results::case_of_name(name), results::case_of_name(other->name))) continue;
    if (match != nullptr) return nullptr;
    match = other;
  }
  return match;
}

/// Notes for each missing case the new case that it may have become, if only these two match each other.
void pair_renamed(std::vector<CaseReport>& missing, const std::vector<CaseReport>& judged) {
  std::vector<const CaseReport*> is_new;
  std::vector<const CaseReport*> is_gone;
  for (const CaseReport& c : judged) {
    if (c.outcome == Outcome::kNew || !c.is_expected) is_new.push_back(&c);
  }
  for (const CaseReport& c : missing) is_gone.push_back(&c);
  for (CaseReport& c : missing) {
    const CaseReport* const now = only_match(c.name, is_new);
    if (now == nullptr || only_match(now->name, is_gone) != &c) continue;
    c.candidate = now->candidate;
    if (c.reference && c.candidate) c.ratio = c.candidate->value / c.reference->value;
    c.note += fmt::format("; renamed to {}?{}", now->name,
                          c.ratio ? fmt::format(" ({} %)", render::format_change(*c.ratio)) : "");
  }
}

bool was_retired(const std::string& suite, const CaseId& id) {
  const std::optional<Suite> known = parse_enum<Suite>(suite);
  return known && retired_cases().contain(*known, id);
}

}  // namespace

std::vector<CaseReport> missing_cases(const std::vector<history::PastRun>& past, const history::MeasuredRun& candidate,
                                      const NightFacts& facts, const std::vector<CaseReport>& judged) {
  std::vector<CaseReport> missing;
  if (facts.is_partial) return missing;
  std::set<std::string> there;
  for (const results::MeasuredCase& c : candidate.cases) there.insert(c.key);
  for (const history::ExpectedCase& expected : facts.expected) {
    if (there.contains(expected.key) || was_retired(candidate.suite, results::case_of_name(expected.name))) continue;
    missing.push_back(missing_report(past, candidate, expected));
  }
  pair_renamed(missing, judged);
  return missing;
}

}  // namespace tbench::gate
