#include "tbench/report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <regex>
#include <set>
#include <unordered_map>
#include <utility>

#include "case_comparison.hpp"
#include "case_filter.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench::report {
namespace {

using Texts = std::vector<std::string>;

/// Where a case without a value stands in a sorted list.
constexpr double kLast = std::numeric_limits<double>::infinity();

constexpr std::array<std::string_view, 7> kVerdicts{"REGRESSED",    "IMPROVED", "CLOCK", "AMBIGUOUS",
                                                    "INSUFFICIENT", "INVALID",  "SAME"};

std::string device_of(const Environment& environment) {
  return environment.gpu ? environment.gpu->name : environment.cpu_name;
}

/// What makes it another device for a comparison: a part of a GPU (MIG) is not the GPU.
std::string device_identity(const Environment& environment) {
  if (!environment.gpu) return "CPU " + environment.cpu_name;
  const GpuFacts& gpu = *environment.gpu;
  return fmt::format("{} ({} SMs, {} bytes)", gpu.name, gpu.sm_count, gpu.memory_bytes);
}

std::set<std::string> values_of(const ComparisonSide& side, std::string (*of)(const Environment&)) {
  std::set<std::string> values;
  for (const Environment& environment : side.environments) values.insert(of(environment));
  return values;
}

std::string listed(const std::set<std::string>& values) {
  const Texts texts(values.begin(), values.end());
  return join(texts, ", ");
}

std::map<std::string, std::string> facts_of(const ComparisonSide& side) {
  std::map<std::string, std::set<std::string>> sets;
  const auto known = [](const std::optional<bool>& value) { return value ? (*value ? "on" : "off") : "unknown"; };
  for (const Environment& environment : side.environments) {
    for (const auto& [name, version] : environment.versions) sets[name].insert(version);
    sets["commit"].insert(fmt::format("{:.12}", environment.commit));
    sets["build type"].insert(environment.build_type);
    sets["clock policy"].insert(environment.clock_policy);
    sets["device"].insert(device_identity(environment));
    if (!environment.gpu) continue;
    sets["ECC"].insert(known(environment.gpu->ecc));
    sets["MIG"].insert(known(environment.gpu->mig));
    if (environment.gpu->power_limit_w) {
      sets["power limit"].insert(fmt::format("{:.0f} W", *environment.gpu->power_limit_w));
    }
  }
  std::map<std::string, std::string> facts;
  for (const auto& [name, values] : sets) facts[name] = listed(values);
  return facts;
}

Texts differences_of(const ComparisonSide& base, const ComparisonSide& next) {
  if (base.environments.empty() || next.environments.empty()) return {};
  std::map<std::string, std::string> in_base = facts_of(base);
  std::map<std::string, std::string> in_next = facts_of(next);
  Texts differences;
  std::set<std::string> names;
  for (const auto& [name, value] : in_base) names.insert(name);
  for (const auto& [name, value] : in_next) names.insert(name);
  for (const std::string& name : names) {
    const std::string& a = in_base[name];
    const std::string& b = in_next[name];
    if (a != b) {
      differences.push_back(fmt::format("{}: {} against {}", name, a.empty() ? "absent" : a, b.empty() ? "absent" : b));
    }
  }
  return differences;
}

struct Pair {
  const ComparedCase* base;
  const ComparedCase* next;
};

struct Matches {
  std::vector<Pair> pairs;
  Texts only_in_base;
  Texts only_in_next;
};

Matches match(const ComparisonSide& base, const ComparisonSide& next, const std::string& filter) {
  const CaseFilter passes{filter};
  std::unordered_map<std::string, const ComparedCase*> in_next;
  for (const ComparedCase& c : next.cases) in_next.emplace(c.key, &c);
  std::set<std::string> matched;
  Matches matches;
  for (const ComparedCase& c : base.cases) {
    const auto found = in_next.find(c.key);
    if (found != in_next.end()) matched.insert(c.key);
    if (!passes(c.id.name())) continue;
    if (found == in_next.end()) {
      matches.only_in_base.push_back(c.id.name());
    } else {
      matches.pairs.push_back({&c, found->second});
    }
  }
  for (const ComparedCase& c : next.cases) {
    if (!matched.contains(c.key) && passes(c.id.name())) matches.only_in_next.push_back(c.id.name());
  }
  return matches;
}

void check_matches(const Matches& matches, const ComparisonSide& base, const ComparisonSide& next,
                   const std::string& filter) {
  if (!matches.pairs.empty()) return;
  if (base.cases.empty() || next.cases.empty()) {
    throw UsageError{
        fmt::format("the {} side has no cases; give a file with results", base.cases.empty() ? "base" : "new")};
  }
  const bool any = !matches.only_in_base.empty() || !matches.only_in_next.empty();
  if (!filter.empty() && !any) {
    throw UsageError{fmt::format("--filter: no case of {} matches '{}'; the first case is {}",
                                 std::max(base.cases.size(), next.cases.size()), filter, base.cases.front().id.name())};
  }
  throw UsageError{fmt::format("the sides have no case in common; the first ones are '{}' and '{}'",
                               base.cases.front().id.name(), next.cases.front().id.name())};
}

std::optional<double> work_of(const ComparedCase& c) {
  for (const Replicate& replicate : c.replicates) {
    if (replicate.work) return replicate.work->value;
  }
  return std::nullopt;
}

/// Cases that are called the same and do not do the same.
std::string work_difference(const std::vector<Pair>& pairs) {
  std::size_t count = 0;
  std::string first;
  for (const auto& [base, next] : pairs) {
    const std::optional<double> in_base = work_of(*base);
    const std::optional<double> in_next = work_of(*next);
    if (!in_base || !in_next || *in_base == *in_next) continue;
    if (count++ == 0) first = fmt::format("{}: {:.6g} against {:.6g} FLOP", base->id.name(), *in_base, *in_next);
  }
  if (count == 0) return "";
  return fmt::format("the work of {} case{} differs, first {}", count, count == 1 ? "" : "s", first);
}

/// Why the numbers must not be put beside each other.
Texts objections(const ComparisonSide& base, const ComparisonSide& next, const std::vector<Pair>& pairs) {
  Texts found;
  for (const auto& [side, name] : {std::pair{&base, "base"}, std::pair{&next, "new"}}) {
    const auto devices = values_of(*side, &device_identity);
    if (devices.size() > 1) {
      found.push_back(fmt::format("the {} side comes from several devices: {}", name, listed(devices)));
    }
  }
  const auto policy = [](const Environment& environment) { return environment.clock_policy; };
  std::set<std::string> policies = values_of(base, policy);
  policies.merge(values_of(next, policy));
  if (policies.size() > 1) found.push_back(fmt::format("different clock policies: {}", listed(policies)));
  if (std::string work = work_difference(pairs); !work.empty()) found.push_back(std::move(work));
  return found;
}

bool devices_differ(const ComparisonSide& base, const ComparisonSide& next) {
  if (base.environments.empty() || next.environments.empty()) return false;
  return values_of(base, &device_identity) != values_of(next, &device_identity);
}

void decide_all(std::vector<ChangeOfCase>& changes, const CompareOptions& options) {
  std::vector<double> p_values;
  for (const ChangeOfCase& change : changes) {
    if (change.is_tested) p_values.push_back(*change.result.p_value);
  }
  const std::vector<double> adjusted = benjamini_hochberg(p_values);
  std::size_t next = 0;
  for (ChangeOfCase& change : changes) {
    const std::optional<double> p = change.is_tested ? std::optional{adjusted[next++]} : std::nullopt;
    decide(change, p, adjusted.size(), options);
  }
}

std::string family_of(const CaseId& id) { return id.family().substr(0, id.family().find('/')); }

std::vector<FamilyMean> family_means(const std::vector<CaseComparison>& cases) {
  struct Ratios {
    std::vector<double> time;
    std::vector<double> cycles;
  };
  std::vector<std::pair<std::string, Ratios>> families;  // in the order of the cases
  for (const CaseComparison& c : cases) {
    if (!c.ratio) continue;
    const std::string name = family_of(c.id);
    auto found = std::ranges::find(families, name, &std::pair<std::string, Ratios>::first);
    if (found == families.end()) found = families.insert(families.end(), {name, {}});
    found->second.time.push_back(*c.ratio);
    if (c.cycle_ratio) found->second.cycles.push_back(*c.cycle_ratio);
  }
  std::vector<FamilyMean> means;
  for (const auto& [name, ratios] : families) {
    FamilyMean mean{
        .family = name, .cases = ratios.time.size(), .ratio = geometric_mean(ratios.time), .cycle_ratio = {}};
    if (!ratios.cycles.empty()) mean.cycle_ratio = geometric_mean(ratios.cycles);
    means.push_back(std::move(mean));
  }
  return means;
}

SideFacts facts(const ComparisonSide& side) {
  return {.paths = side.paths, .device = listed(values_of(side, &device_of))};
}

}  // namespace

std::string_view to_string(Verdict verdict) { return kVerdicts.at(static_cast<std::size_t>(verdict)); }

Comparison compare(const ComparisonSide& base, const ComparisonSide& next, const CompareOptions& options) {
  Matches matches = match(base, next, options.filter);
  check_matches(matches, base, next, options.filter);
  Comparison comparison;
  comparison.warnings = base.warnings;
  comparison.warnings.insert(comparison.warnings.end(), next.warnings.begin(), next.warnings.end());
  const Texts objected = objections(base, next, matches.pairs);
  if (!objected.empty() && !options.force) {
    throw NotComparable{join(objected, "; ") + "; measure again alike, or compare all the same with --force"};
  }
  for (const std::string& objection : objected) comparison.warnings.push_back(objection + " (--force)");
  comparison.cross = options.cross.value_or(devices_differ(base, next));
  comparison.base = facts(base);
  comparison.next = facts(next);
  comparison.differences = differences_of(base, next);
  comparison.only_in_base = std::move(matches.only_in_base);
  comparison.only_in_next = std::move(matches.only_in_next);
  std::vector<ChangeOfCase> changes;
  changes.reserve(matches.pairs.size());
  for (const Pair& pair : matches.pairs) changes.push_back(measure_change(*pair.base, *pair.next, options));
  if (!comparison.cross) decide_all(changes, options);
  for (ChangeOfCase& change : changes) {
    if (comparison.cross) change.result.note = status_note(change.result.base, change.result.next);
    comparison.cases.push_back(std::move(change.result));
  }
  comparison.families = family_means(comparison.cases);
  return comparison;
}

void sort_cases(Comparison& comparison, CaseOrder order) {
  const auto sort_by = [&](auto key) { std::ranges::stable_sort(comparison.cases, {}, key); };
  switch (order) {
    case CaseOrder::kFile:
      break;
    case CaseOrder::kName:
      sort_by([](const CaseComparison& c) { return c.id.name(); });
      break;
    case CaseOrder::kChange:
      sort_by([](const CaseComparison& c) { return c.ratio ? -*c.ratio : kLast; });
      break;
    case CaseOrder::kP:
      sort_by([](const CaseComparison& c) { return c.p_value.value_or(kLast); });
      break;
  }
}

std::map<Verdict, std::size_t> count_verdicts(const Comparison& comparison) {
  std::map<Verdict, std::size_t> counts;
  for (const CaseComparison& c : comparison.cases) {
    if (c.verdict) ++counts[*c.verdict];
  }
  return counts;
}

int exit_status(const Comparison& comparison, bool strict) {
  const std::map<Verdict, std::size_t> counts = count_verdicts(comparison);
  if (counts.contains(Verdict::kRegressed)) return kExitRegressed;
  const bool is_uncertain = counts.contains(Verdict::kAmbiguous) || counts.contains(Verdict::kInsufficient);
  return strict && is_uncertain ? kExitUncertain : kExitOk;
}

}  // namespace tbench::report
