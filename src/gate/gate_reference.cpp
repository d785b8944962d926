#include "gate/judging_steps.hpp"

#include <algorithm>
#include <cmath>

#include "tbench/compare/case_values.hpp"
#include "tbench/stats/descriptive.hpp"

namespace tbench::gate {
namespace {

/// Minimum degrees of freedom of a standard deviation that serves as a prior.
constexpr double kMinDegreesOfFreedom = 10;

CaseRun run_of(const history::PastRun& run, const results::MeasuredCase& c) {
  CaseRun result{.past = &run,
                 .measured = &c,
                 .status = compare::worst_of(c).status,
                 .value = compare::value_of(c),
                 .device_value = compare::device_value_of(c),
                 .peak_bytes = compare::peak_of(c),
                 .requested_peak_bytes = compare::requested_peak_of(c),
                 .is_reference = false};
  result.is_reference = run.is_valid && result.value && !run.regressed.contains(c.key) && !run.excluded.contains(c.key);
  return result;
}

}  // namespace

RunsByCase runs_by_case(const std::vector<history::PastRun>& past, const std::string& epoch) {
  RunsByCase cases;
  for (const history::PastRun& run : past) {
    if (run.run.epoch != epoch) continue;
    for (const results::MeasuredCase& c : run.run.cases) {
      CaseRuns& runs = cases[c.key];
      if (run.baseline_of.contains(c.key)) runs.clear();
      runs.push_back(run_of(run, c));
    }
  }
  return cases;
}

std::vector<const CaseRun*> references_of(const CaseRuns& runs) {
  std::vector<const CaseRun*> references;
  for (const CaseRun& run : runs) {
    if (run.is_reference) references.push_back(&run);
  }
  return references;
}

std::vector<const CaseRun*> newest(const std::vector<const CaseRun*>& runs, std::size_t count) {
  const std::size_t taken = std::min(count, runs.size());
  return {runs.end() - static_cast<std::ptrdiff_t>(taken), runs.end()};
}

std::vector<double> values_of(const std::vector<const CaseRun*>& runs) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const CaseRun* run : runs) values.push_back(*run->value);
  return values;
}

const CaseRuns& runs_of(const RunsByCase& runs, const std::string& key) {
  static const CaseRuns kNone;
  const auto found = runs.find(key);
  return found == runs.end() ? kNone : found->second;
}

std::map<std::string, stats::DispersionPrior> known_dispersions(const RunsByCase& all) {
  std::map<std::string, stats::DispersionPrior> priors;
  std::vector<std::vector<stats::PooledVariance>> variances;
  for (const auto& [key, runs] : all) {
    std::vector<stats::PooledVariance>& of_case = variances.emplace_back();
    double squares = 0;
    double freedom = 0;
    for (const CaseRun* run : newest(references_of(runs), kScreenRuns)) {
      const std::vector<double> values = compare::log_times(*run->measured);
      if (values.size() < 2) continue;
      const double deviation = stats::standard_deviation(values).value();
      of_case.push_back(
          {.variance = deviation * deviation, .degrees_of_freedom = static_cast<double>(values.size() - 1)});
      squares += of_case.back().variance * of_case.back().degrees_of_freedom;
      freedom += of_case.back().degrees_of_freedom;
    }
    if (freedom < kMinDegreesOfFreedom) continue;
    priors[key] = {.standard_deviation = std::sqrt(squares / freedom), .degrees_of_freedom = freedom};
  }
  const double weight = stats::prior_degrees_of_freedom(variances);
  for (auto& [key, prior] : priors) prior.degrees_of_freedom = std::min(prior.degrees_of_freedom, weight);
  return priors;
}

std::map<std::string, stats::DispersionPrior> known_dispersions(const std::vector<history::PastRun>& past,
                                                                const std::string& epoch) {
  return known_dispersions(runs_by_case(past, current_epoch(past, epoch)));
}

}  // namespace tbench::gate
