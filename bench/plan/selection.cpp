#include "bench/plan/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "bench/plan/filter_hint.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/core/text.hpp"

namespace tbench::bench {
namespace {

/// The number of ranks in the hint that cases exist with ranks; the user may use any number.
constexpr int kSomeRanks = 2;

std::vector<CaseId> filtered(std::vector<CaseId> cases, const std::string& expression) {
  const CaseFilter filter{expression, "--benchmark_filter"};
  std::erase_if(cases, [&](const CaseId& id) { return !filter(id.name()); });
  return cases;
}

/// Returns the family of a case; null if there is none.
const FamilySpec* family_of(std::span<const FamilySpec> families, const CaseId& id) {
  const auto family = std::ranges::find(families, id.family(), &FamilySpec::name);
  return family == families.end() ? nullptr : &*family;
}

/// Expands one suite; options may add keys to the names of its cases.
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

/// Removes the retired cases from a selection, unless the options ask for them.
/// @param matching  cases of the suite's tables that the filter matches
Selection without_retired(Suite suite, std::vector<CaseId> matching, const Options& options) {
  const auto runs_by_name_only = [&](const CaseId& id) {
    const bool is_asked_for = std::ranges::find(options.axes, id.family(), &AxisOverride::family) != options.axes.end();
    return !is_asked_for && retired_cases().contain(suite, id);
  };
  Selection selection{.suite = suite, .cases = std::move(matching)};
  const auto count = static_cast<std::size_t>(std::ranges::count_if(selection.cases, runs_by_name_only));
  if (count == selection.cases.size()) return selection;  // asked for by name
  std::erase_if(selection.cases, runs_by_name_only);
  selection.by_name_only = count;
  return selection;
}

constexpr std::array kSuites{Suite::kSmoke, Suite::kStandard, Suite::kFull};

std::string other_suites_hint(std::span<const FamilySpec> families, const Options& options) {
  std::vector<std::string> found;
  for (const Suite suite : kSuites) {
    const std::size_t count = filtered(expanded(families, suite, options), options.filter).size();
    if (count > 0) found.push_back(fmt::format("--tb_suite={} has {}", to_string(suite), count));
  }
  return found.empty() ? std::string{} : "; " + join(found, ", ");
}

/// Returns why the filter matches no case, or nullopt if the reason is unknown. The families of this run may be those
/// that run with ranks or those that do not; a filter's words are looked up in all.
/// @param cases  cases of the study; empty for the cases of all suites
std::optional<std::string> explanation(const Options& options, std::span<const CaseId> cases = {}) {
  const std::vector<FamilySpec> families = specs_of(all_families(options.sizes));
  std::vector<CaseId> of_suites;
  for (const Suite suite : kSuites)
    std::ranges::copy(expanded(families, suite, options), std::back_inserter(of_suites));
  return cases.empty() ? explain_unmatched_filter(options.filter, families, of_suites, {})
                       : explain_unmatched_filter(options.filter, families, cases, of_suites);
}

/// Returns the protocols of these cases only.
StudyProtocols protocols_of(std::span<const CaseId> cases, StudyProtocols all) {
  StudyProtocols own;
  for (const CaseId& id : cases) own.insert(all.extract(id.name()));
  return own;
}

/// Returns whether the run lacks the packages with this case's code.
bool lacks_packages(const CaseId& id, const Options& options) {
  const std::string* const impl = id.find("impl");
  return options.packages.empty() && impl != nullptr && *impl == "compiled";
}

/// Removes a study's cases that lack packages, unless the filter selects no other case.
void leave_out_compiled(Selection& selection, const Options& options) {
  const auto lacks = [&](const CaseId& id) { return lacks_packages(id, options); };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(selection.cases, lacks));
  if (count == selection.cases.size()) return;
  std::erase_if(selection.cases, lacks);
  selection.need_packages = count;
}

Selection select_study(std::span<const FamilySpec> families, const Options& options, bool has_gpu) {
  StudyCases all = study_cases(families, options, has_gpu);
  const std::vector<CaseId>& cases = all.cases;
  Selection selection{.suite = Suite::kStandard, .cases = filtered(cases, options.filter)};
  if (!selection.cases.empty()) {
    leave_out_compiled(selection, options);
    selection.protocols = protocols_of(selection.cases, std::move(all.protocols));
    selection.ceilings = std::move(all.ceilings);
    return selection;
  }
  if (const auto why = explanation(options, cases)) {
    throw UsageError{"--benchmark_filter: " + *why};
  }
  throw UsageError{
      fmt::format("--benchmark_filter={}: no case of the study {} matches; --benchmark_list_tests "
                  "--tb_study={} lists the names",
                  options.filter, options.study, options.study)};
}

bool has_cases(const std::vector<Family>& families, const Options& options, bool has_gpu) {
  try {
    return !select_cases(specs_of(families), options, has_gpu).cases.empty();
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace

bool is_burst(std::span<const FamilySpec> families, const CaseId& id) {
  const FamilySpec* family = family_of(families, id);
  return family != nullptr && regime_of(*family, id) == Regime::kBurst;
}

Selection select_cases(std::span<const FamilySpec> families, const Options& options, bool has_gpu) {
  if (!options.study.empty()) return select_study(families, options, has_gpu);
  const Suite suite = options.suite.value_or(has_gpu ? Suite::kStandard : Suite::kSmoke);
  Selection selection = without_retired(suite, filtered(expanded(families, suite, options), options.filter), options);
  if (!selection.cases.empty()) return selection;
  std::string others = other_suites_hint(families, options);
  if (others.empty()) {
    if (const auto why = explanation(options)) {
      throw UsageError{"--benchmark_filter: " + *why};
    }
    others = "; no suite has a match (--benchmark_list_tests --tb_suite=full lists the names)";
  }
  const bool is_smoke_by_default = !options.suite && !has_gpu;
  throw UsageError{fmt::format("--benchmark_filter={}: no case of the {} suite{} matches{}", options.filter,
                               to_string(suite), is_smoke_by_default ? " (the default without a GPU)" : "", others)};
}

Selection select_for_launch(const std::vector<Family>& families, const Options& options, bool has_gpu) {
  const int ranks = options.launch ? options.launch->size : 1;
  try {
    return select_cases(specs_of(ranks > 1 ? for_ranks(families, ranks) : families), options, has_gpu);
  } catch (const UsageError& error) {
    if (ranks > 1 && has_cases(families, options, has_gpu)) {
      throw UsageError{
          fmt::format("{}; {} ranks run the families that span ranks alone: start the others without a launcher, or "
                      "with WORLD_SIZE=1",
                      error.what(), ranks)};
    }
    if (ranks == 1 && has_cases(for_ranks(families, kSomeRanks), options, has_gpu)) {
      throw UsageError{
          fmt::format("{}; with ranks there are: torchrun --no-python --nproc-per-node={} ./transformer_bench",
                      error.what(), kSomeRanks)};
    }
    throw;
  }
}

void leave_out_gpu_cases(Selection& selection, const std::vector<Family>& families, const Options& options) {
  if (selection.suite != Suite::kSmoke || !options.plugins.empty()) return;
  const CaseContext cpu{.on_gpu = false,
                        .seed = options.seed,
                        .packages = options.packages,
                        .context_time = {},
                        .model_sizes = known_model_sizes(options.sizes)};
  const auto cannot_run = [&](const CaseId& id) {
    const Family& family = family_of(families, id);
    return !family.spans_ranks && family.make_case(id, cpu)->unsupported_reason().has_value();
  };
  const auto [left_out, end] = std::ranges::stable_partition(selection.cases, std::not_fn(cannot_run));
  if (left_out == selection.cases.begin()) return;
  selection.need_packages = static_cast<std::size_t>(
      std::count_if(left_out, end, [&](const CaseId& id) { return lacks_packages(id, options); }));
  selection.need_gpu = static_cast<std::size_t>(end - left_out) - selection.need_packages;
  selection.cases.erase(left_out, end);
}

void say_what_is_left_out(const Selection& selection, std::FILE* to) {
  if (selection.need_gpu > 0) {
    fmt::print(to, "{} a GPU\n", counted(selection.need_gpu, "case needs", "cases need"));
  }
  if (selection.need_packages > 0) {
    fmt::print(to, "{} packages (--tb_packages; tools/compile_model.py and tools/compile_attention.py make them)\n",
               counted(selection.need_packages, "case needs", "cases need"));
  }
  if (selection.by_name_only > 0) {
    fmt::print(to, "{} leaves out {}, which a --benchmark_filter that matches nothing else selects\n",
               to_string(selection.suite), counted(selection.by_name_only, "more case"));
  }
}

std::vector<CaseId> select_shard(const Selection& selection, const std::optional<Shard>& shard,
                                 const std::optional<Places>& places) {
  if (!shard) return selection.cases;
  std::vector<CaseId> own = places ? cases_at(*shard, *places, selection.cases) : cases_of(*shard, selection.cases);
  if (!own.empty()) return own;
  throw UsageError{fmt::format("--tb_shard={}: none of the {} selected cases is in it; give at most {} shards",
                               to_string(*shard), selection.cases.size(),
                               std::max(shared_cases(selection), std::int64_t{1}))};
}

std::int64_t shared_cases(const Selection& selection) {
  return static_cast<std::int64_t>(selection.cases.size()) - std::ranges::count_if(selection.cases, &is_ceiling);
}

}  // namespace tbench::bench
