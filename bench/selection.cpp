#include "selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>
#include <string>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/report/study.hpp"

namespace tbench::bench {
namespace {

/// As Google Benchmark filters: a search, not a match of the whole name; a leading '-' inverts it.
std::vector<CaseId> filtered(std::vector<CaseId> cases, const std::string& filter) {
  const bool inverted = filter.starts_with('-');
  const std::regex regex{inverted ? filter.substr(1) : filter, std::regex::extended};
  std::erase_if(cases, [&](const CaseId& id) { return std::regex_search(id.name(), regex) == inverted; });
  return cases;
}

/// Null if there is none.
const FamilySpec* family_of(std::span<const FamilySpec> families, const CaseId& id) {
  const auto family = std::ranges::find(families, id.family(), &FamilySpec::name);
  return family == families.end() ? nullptr : &*family;
}

/// The cases of one suite with the keys that options of the measurement add.
std::vector<CaseId> expanded(std::span<const FamilySpec> families, Suite suite, const Options& options) {
  std::vector<CaseId> cases = expand(families, suite, options.axes);
  if (options.l2 != L2State::kWarm) return cases;
  for (CaseId& id : cases) {
    if (!is_burst(families, id) || family_of(families, id)->has_own_l2) continue;
    std::vector<CaseId::Parameter> parameters = id.parameters();
    parameters.emplace_back("l2", to_string(*options.l2));
    id = CaseId{id.family(), std::move(parameters)};
  }
  return cases;
}

std::string other_suites_hint(std::span<const FamilySpec> families, const Options& options) {
  std::vector<std::string> found;
  for (const Suite suite : {Suite::kSmoke, Suite::kStandard, Suite::kFull}) {
    const std::size_t count = filtered(expanded(families, suite, options), options.filter).size();
    if (count > 0) found.push_back(fmt::format("--tb_suite={} has {}", to_string(suite), count));
  }
  if (found.empty()) return "; no suite has a match (--benchmark_list_tests --tb_suite=full lists the names)";
  return "; " + join(found, ", ");
}

bool knows(std::span<const FamilySpec> families, const std::string& family, const CaseId::Parameter& value) {
  const auto spec = std::ranges::find(families, family, &FamilySpec::name);
  if (spec == families.end()) return false;
  const auto key = std::ranges::find(spec->keys, value.first, &KeySpec::key);
  return key != spec->keys.end() && std::ranges::find(key->known, value.second) != key->known.end();
}

Selection select_study(std::span<const FamilySpec> families, const Options& options) {
  const report::Study study = report::with_known_values(
      report::find_study(options.study, "--tb_study"),
      [&](const std::string& family, const CaseId::Parameter& value) { return knows(families, family, value); });
  const std::vector<FamilyGrid> grids = report::grids_with_sizes(study, options.sizes);
  Selection selection{Suite::kStandard, filtered(expand(families, grids, options.axes), options.filter)};
  if (!selection.cases.empty()) return selection;
  throw UsageError{
      fmt::format("--benchmark_filter={}: no case of the study {} matches; --benchmark_list_tests "
                  "--tb_study={} lists the names",
                  options.filter, options.study, options.study)};
}

}  // namespace

bool is_burst(std::span<const FamilySpec> families, const CaseId& id) {
  const FamilySpec* family = family_of(families, id);
  return family != nullptr && regime_of(*family, id) == Regime::kBurst;
}

Selection select_cases(std::span<const FamilySpec> families, const Options& options, bool has_gpu) {
  if (!options.study.empty()) return select_study(families, options);
  const Suite suite = options.suite.value_or(has_gpu ? Suite::kStandard : Suite::kSmoke);
  Selection selection{suite, filtered(expanded(families, suite, options), options.filter)};
  if (selection.cases.empty()) {
    throw UsageError{fmt::format("--benchmark_filter={}: no case of the {} suite{} matches{}", options.filter,
                                 to_string(suite),
                                 options.suite ? ""
                                 : has_gpu     ? ""
                                               : " (the default without a GPU)",
                                 other_suites_hint(families, options))};
  }
  return selection;
}

}  // namespace tbench::bench
