#include "tbench/compare/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

#include "compare/comparison_commands.hpp"
#include "compare/said_of_files.hpp"
#include "tbench/compare/case_comparison.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/hints/unmatched_filter.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/conclusion.hpp"

namespace tbench::compare {
namespace {

using Texts = std::vector<std::string>;

/// The sort key of cases without a value, which come last.
constexpr double kLast = std::numeric_limits<double>::infinity();

struct Matches {
  std::vector<CasePair> pairs;
  Texts only_in_base;
  Texts only_in_next;
};

Matches match(const ComparisonSide& base, const ComparisonSide& next, const std::string& filter) {
  const CaseFilter passes{filter, "--filter"};
  std::unordered_map<std::string, const results::MeasuredCase*> in_next;
  for (const results::MeasuredCase& c : next.cases) in_next.emplace(c.key, &c);
  std::set<std::string> matched;
  Matches matches;
  for (const results::MeasuredCase& c : base.cases) {
    const auto found = in_next.find(c.key);
    if (found != in_next.end()) matched.insert(c.key);
    if (!passes(c.id.name())) continue;
    if (found == in_next.end()) {
      matches.only_in_base.push_back(c.id.name());
    } else {
      matches.pairs.push_back({&c, found->second});
    }
  }
  for (const results::MeasuredCase& c : next.cases) {
    if (!matched.contains(c.key) && passes(c.id.name())) matches.only_in_next.push_back(c.id.name());
  }
  return matches;
}

void check_matches(const Matches& matches, const ComparisonSide& base, const ComparisonSide& next,
                   const std::string& filter) {
  if (!matches.pairs.empty()) return;
  if (base.cases.empty() || next.cases.empty()) {
    throw UsageError{fmt::format("the {} side has no cases; give a results file that has some",
                                 base.cases.empty() ? "base" : "new")};
  }
  const bool any = !matches.only_in_base.empty() || !matches.only_in_next.empty();
  if (!filter.empty() && !any) {
    std::vector<std::string> names;
    for (const results::MeasuredCase& c : base.cases) names.push_back(c.id.name());
    if (const auto meant = meant_filter(filter, names)) {
      throw UsageError{fmt::format("--filter: no case matches '{}'{}", filter, did_you_mean_text(meant))};
    }
    throw UsageError{fmt::format("--filter: no case of {} matches '{}'; the first case is {}",
                                 std::max(base.cases.size(), next.cases.size()), filter, base.cases.front().id.name())};
  }
  throw results::CorrectableError{fmt::format("the sides have no case in common; they begin with '{}' and '{}'",
                                              base.cases.front().id.name(), next.cases.front().id.name()),
                                  measure_in_turns(base.run, flags_of_base(base.run, next.run), {}, kUsualReplicates)};
}

void decide_all(std::vector<CaseComparison>& cases, const CompareOptions& options) {
  std::vector<double> p_values;
  for (const CaseComparison& c : cases) {
    if (const std::optional<double> p = p_of(c)) p_values.push_back(*p);
  }
  const std::vector<double> adjusted = stats::benjamini_hochberg(p_values);
  std::size_t next = 0;
  for (CaseComparison& c : cases) {
    const std::optional<double> p = p_of(c) ? std::optional{adjusted[next++]} : std::nullopt;
    decide(c, p, adjusted.size(), options);
  }
}

std::string family_of(const CaseId& id) { return id.family().substr(0, id.family().find('/')); }

std::vector<FamilyMean> family_means(const std::vector<CaseComparison>& cases) {
  struct Ratios {
    std::vector<double> time;
    std::vector<double> device;
    std::vector<double> cycles;
  };
  std::vector<std::pair<std::string, Ratios>> families;  // in the order of the cases
  for (const CaseComparison& c : cases) {
    if (!c.ratio) continue;
    const std::string name = family_of(c.id);
    auto found = std::ranges::find(families, name, &std::pair<std::string, Ratios>::first);
    if (found == families.end()) found = families.insert(families.end(), {name, {}});
    found->second.time.push_back(*c.ratio);
    if (c.device_ratio) found->second.device.push_back(*c.device_ratio);
    if (c.cycle_ratio) found->second.cycles.push_back(*c.cycle_ratio);
  }
  std::vector<FamilyMean> means;
  for (const auto& [name, ratios] : families) {
    FamilyMean mean{.family = name,
                    .cases = ratios.time.size(),
                    .ratio = stats::geometric_mean(ratios.time),
                    .device_ratio = {},
                    .cycle_ratio = {}};
    if (!ratios.device.empty()) mean.device_ratio = stats::geometric_mean(ratios.device);
    if (!ratios.cycles.empty()) mean.cycle_ratio = stats::geometric_mean(ratios.cycles);
    means.push_back(std::move(mean));
  }
  return means;
}

/// Returns the first and the last start of a side's files, or nullopt if no file has one.
std::optional<std::pair<std::int64_t, std::int64_t>> starts_of(const ComparisonSide& side) {
  std::optional<std::pair<std::int64_t, std::int64_t>> starts;
  const auto add = [&](const std::string& date) {
    const std::optional<std::int64_t> start = parse_timestamp(date);
    if (!start) return;
    if (!starts) starts = {*start, *start};
    starts = {std::min(starts->first, *start), std::max(starts->second, *start)};
  };
  for (const Environment& environment : side.environments) add(environment.date);
  for (const PlainContext& context : side.contexts) {
    if (const auto date = context.find("date"); date != context.end()) add(date->second);
  }
  return starts;
}

/// Returns whether all runs of one side were started before any run of the other side. Returns false if this is not
/// known.
bool one_after_the_other(const ComparisonSide& base, const ComparisonSide& next) {
  const auto of_base = starts_of(base);
  const auto of_next = starts_of(next);
  return of_base && of_next && (of_base->first > of_next->second || of_next->first > of_base->second);
}

SideFacts facts(const ComparisonSide& side) {
  SideFacts facts{.paths = side.paths,
                  .device = device_names(side),
                  .uuids = gpu_uuids(side),
                  .build = {},
                  .date = {},
                  .cpu_cores = 0,
                  .run = side.run};
  if (side.environments.empty()) return facts;
  const Environment& first = side.environments.front();
  std::set<std::string> builds;
  for (const Environment& environment : side.environments) builds.insert(build_name(environment));
  facts.build = join(std::vector(builds.begin(), builds.end()), ", ");
  facts.date = first.date;
  facts.cpu_cores = first.cpu_cores;
  return facts;
}

/// Returns whether a file of the side has cases of several machines: its case may come from another one than the same
/// case of the other side.
bool mixes_machines(const ComparisonSide& side) {
  return std::ranges::any_of(side.environments, [](const Environment& e) { return e.machines.size() > 1; });
}

/// Returns whether the sides are processes on one GPU or two GPUs of the same model, or nullopt without GPUs. If a side
/// does not name its UUIDs, they are taken for the same GPU.
std::optional<Apart> apart_of(const ComparisonSide& base, const ComparisonSide& next) {
  const auto is_of_gpu = [](const Environment& environment) { return environment.gpu.has_value(); };
  for (const ComparisonSide* const side : {&base, &next}) {
    if (side->environments.empty() || !std::ranges::all_of(side->environments, is_of_gpu)) return std::nullopt;
  }
  const Texts in_base = gpu_uuids(base);
  const Texts in_next = gpu_uuids(next);
  const bool is_known = !in_base.empty() && !in_next.empty();
  return mixes_machines(base) || mixes_machines(next) || (is_known && in_base != in_next) ? Apart::kMachines
                                                                                          : Apart::kProcesses;
}

/// Returns the model's short name: `H100` for `NVIDIA H100 80GB HBM3`.
std::string short_model(const std::string& name) {
  constexpr std::string_view kMaker = "NVIDIA ";
  const std::string model = name.starts_with(kMaker) ? name.substr(kMaker.size()) : name;
  return model.substr(0, model.find(' '));
}

/// Returns a warning with the GPU models that the spreads come from, if they served to test a case on another model.
std::optional<std::string> foreign_spreads(const ComparisonSide& base, const ComparisonSide& next,
                                           const std::vector<CaseComparison>& cases, const KnownSpreads& spreads) {
  const auto is_foreign = [&](const Environment& environment) {
    return environment.gpu && std::ranges::find(spreads.gpus, environment.gpu->name) == spreads.gpus.end();
  };
  const bool are_foreign =
      std::ranges::any_of(base.environments, is_foreign) || std::ranges::any_of(next.environments, is_foreign);
  const bool are_used = std::ranges::any_of(cases, [](const CaseComparison& c) { return c.known_test.has_value(); });
  if (!are_foreign || !are_used || spreads.gpus.empty()) return std::nullopt;
  Texts models;
  for (const std::string& gpu : spreads.gpus) models.push_back(short_model(gpu));
  return fmt::format(
      "the spreads are known from {}, not from this GPU model; 'tbench spreads' makes a file of its own, for --spreads",
      join(models, " and "));
}

}  // namespace

Comparison compare(const ComparisonSide& base, const ComparisonSide& next, const CompareOptions& options) {
  Matches matches = match(base, next, options.filter);
  check_matches(matches, base, next, options.filter);
  Comparison comparison;
  comparison.warnings = said_once(base.warnings, next.warnings);
  comparison.shared_gpus = said_once(base.shared_gpus, next.shared_gpus);
  const Texts objected = objections(base, next, matches.pairs);
  if (!objected.empty() && !options.force) {
    throw NotComparable{join(objected, "; ") + "; measure both sides the same way, or compare them anyway with --force",
                        measure_in_turns(base.run, flags_of_base(base.run, next.run), {}, kUsualReplicates)};
  }
  for (const std::string& objection : objected) comparison.warnings.push_back(objection + " (--force)");
  comparison.cross = options.cross.value_or(devices_differ(base, next));
  comparison.base = facts(base);
  comparison.next = facts(next);
  comparison.differences = differences_of(base, next);
  comparison.only_in_base = std::move(matches.only_in_base);
  comparison.only_in_next = std::move(matches.only_in_next);
  std::vector<CaseComparison>& cases = comparison.cases;
  cases.reserve(matches.pairs.size());
  if (!comparison.cross) comparison.apart = apart_of(base, next);
  for (const auto& [in_base, in_next] : matches.pairs) {
    // Between GPU models, several processes give an interval. With few processes, the known spread between two machines
    // of a model gives it.
    const bool are_few = std::min(in_base->replicates.size(), in_next->replicates.size()) < kMinReplicates;
    const std::optional<Apart> of_models = are_few ? std::optional{Apart::kMachines} : std::nullopt;
    cases.push_back(measure_change(*in_base, *in_next, options, comparison.cross ? of_models : comparison.apart));
  }
  if (comparison.cross) {
    for (CaseComparison& c : cases) c.note = status_note(c.base, c.next);
  } else {
    decide_all(cases, options);
  }
  if (auto foreign = foreign_spreads(base, next, cases, *options.spreads)) {
    comparison.warnings.push_back(*std::move(foreign));
  }
  comparison.one_after_the_other = std::ranges::any_of(cases, is_tested) && one_after_the_other(base, next);
  if (comparison.one_after_the_other) {
    comparison.warnings.push_back(fmt::format("{}; measure them in turns", kOneAfterTheOther));
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

results::OutcomeCounts count_outcomes(const Comparison& comparison) {
  results::OutcomeCounts counts;
  for (const CaseComparison& c : comparison.cases) {
    if (c.outcome) ++counts[*c.outcome];
  }
  return counts;
}

int exit_status(const Comparison& comparison, bool strict) {
  std::optional<Outcome> gravest;
  for (const CaseComparison& c : comparison.cases) {
    if (is_failed(c, strict) && (!gravest || *c.outcome < *gravest)) gravest = c.outcome;
  }
  return gravest ? results::exit_status_of(*gravest) : kExitOk;
}

}  // namespace tbench::compare
