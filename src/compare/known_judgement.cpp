#include "compare/known_judgement.hpp"

#include <cmath>
#include <string_view>
#include <vector>

#include "tbench/compare/case_comparison.hpp"
#include "tbench/compare/case_values.hpp"

namespace tbench::compare {
namespace {

using Values = std::vector<double>;

constexpr std::string_view kCeiling = "Ceiling";

/// A measure whose spread is known, with the test by this spread.
struct Candidate {
  Measure measure{};
  SpreadClass of{};
  double limit{};  // difference of ln(measure) that 95 % of measurements of equal code do not exceed
  stats::ModeratedTest test;
};

std::optional<SpreadFacts> facts_of(const results::MeasuredCase& base, const results::MeasuredCase& next) {
  std::optional<SpreadFacts> facts;
  for (const results::MeasuredCase* const side : {&base, &next}) {
    for (const results::Replicate& replicate : side->replicates) {
      if (!replicate.time) continue;
      const SpreadFacts own = spread_facts(side->id, replicate);
      facts = facts ? of_both(*facts, own) : own;
    }
  }
  return facts;
}

Values device_times(const results::MeasuredCase& c) {
  Values values;
  for (const results::Replicate& replicate : c.replicates) {
    if (replicate.time && replicate.device_time) values.push_back(std::log(replicate.device_time->value));
  }
  return values;
}

/// Returns the values for a test. Between machines, the processes of a side become one value, their mean, because the
/// known spread is the difference between machines.
Values values_for(Values values, Apart apart) {
  if (apart == Apart::kProcesses || values.size() < 2) return values;
  return {stats::mean(values)};
}

/// Returns the limit that the difference of two values exceeds in 5 % of comparisons.
double limit_of(const stats::DispersionPrior& prior) {
  constexpr double kTail = 0.025;
  return std::sqrt(2.0) * prior.standard_deviation * stats::t_upper_quantile(kTail, prior.degrees_of_freedom);
}

/// Returns the spread from the case's own history if it has one, else the known spread of the case or of its class.
std::optional<stats::DispersionPrior> prior_of(const std::string& key, Measure measure, SpreadClass of, Apart apart,
                                               const CompareOptions& options) {
  const auto history = options.known_dispersion.find(key);
  const bool is_in_history = history != options.known_dispersion.end() && history->second.degrees_of_freedom > 0;
  if (measure == Measure::kTime && apart == Apart::kProcesses && is_in_history) return history->second;
  const std::optional<KnownDispersion> known = options.spreads->find(key, of, apart);
  return known ? std::optional{known->prior()} : std::nullopt;
}

std::optional<Candidate> candidate(const std::string& key, Measure measure, std::optional<SpreadClass> of, Apart apart,
                                   const Values& base, const Values& next, const CompareOptions& options) {
  if (!of || base.empty() || next.empty()) return std::nullopt;
  const std::optional<stats::DispersionPrior> prior = prior_of(key, measure, *of, apart, options);
  if (!prior) return std::nullopt;
  const auto test = stats::moderated_t_test(values_for(base, apart), values_for(next, apart), prior);
  if (!test) return std::nullopt;
  return Candidate{.measure = measure, .of = *of, .limit = limit_of(*prior), .test = *test};
}

bool have_times(const CaseComparison& c) { return has_time(c.base.status) && has_time(c.next.status); }
bool are_ok(const CaseComparison& c) { return c.base.status == Status::kOk && c.next.status == Status::kOk; }

void choose(CaseComparison& c, const std::optional<Candidate>& time, const std::optional<Candidate>& device,
            Apart apart) {
  const bool has_time_to_judge = time && are_ok(c) && time->of != SpreadClass::kHostBoundStep;
  const bool is_wide = time && time->of == SpreadClass::kStep && time->limit >= std::log1p(c.threshold);
  const bool by_device = device && (apart == Apart::kMachines || !has_time_to_judge || is_wide);
  if (!by_device && !has_time_to_judge) return;
  const Candidate& chosen = by_device ? *device : *time;
  c.known_test = chosen.test;
  c.judged_by = chosen.measure;
  c.spread_class = chosen.of;
  c.known_limit = std::expm1(chosen.limit);
  c.is_time_apart = by_device && has_time_to_judge && std::abs(time->test.difference) > time->limit;
}

bool is_kernel(SpreadClass of) { return of == SpreadClass::kKernel || of == SpreadClass::kShortKernel; }

/// Returns the outcome for a significant change.
Outcome likely(const CaseComparison& c) {
  const double difference = c.known_test->difference;
  // Clocks of steps vary by more than their times.
  if (is_kernel(*c.spread_class) && !shares_change(difference, c.cycle_difference)) return Outcome::kClock;
  const bool is_step = c.judged_by == Measure::kTime && !is_kernel(*c.spread_class);
  if (is_step && !shares_change(difference, c.device_difference)) return Outcome::kHost;
  return difference > 0 ? Outcome::kLikelySlower : Outcome::kLikelyFaster;
}

}  // namespace

void add_known_test(CaseComparison& c, const results::MeasuredCase& base, const results::MeasuredCase& next,
                    const CompareOptions& options, Apart apart) {
  const std::optional<SpreadFacts> facts = facts_of(base, next);
  if (!have_times(c) || !facts) return;
  c.host_bound = facts->host_bound;
  c.by_machines = apart == Apart::kMachines;
  const std::optional<Candidate> time =
      candidate(base.key, Measure::kTime, class_of_time(*facts), apart, log_times(base), log_times(next), options);
  const std::optional<Candidate> device = candidate(base.key, Measure::kDeviceTime, class_of_device_time(*facts), apart,
                                                    device_times(base), device_times(next), options);
  const auto interval = [](const Candidate& of) {
    return stats::Interval{.low = std::exp(of.test.interval.low), .high = std::exp(of.test.interval.high)};
  };
  if (time && time->of != SpreadClass::kHostBoundStep) {
    c.ratio_interval = interval(*time);
    c.interval_is_within = false;
  }
  if (device) c.device_ratio_interval = interval(*device);
  choose(c, time, device, apart);
  if (c.known_test) c.p_value = c.known_test->p_value;
}

Outcome known_outcome(const CaseComparison& c, std::optional<double> adjusted_p, double false_discovery_rate) {
  if (!have_times(c) || c.id.family() == kCeiling) return Outcome::kNotJudged;
  if (!c.known_test || !adjusted_p) return are_ok(c) ? Outcome::kUndecided : Outcome::kNotJudged;
  const stats::ModeratedTest& test = *c.known_test;
  const bool is_at_power_limit = c.spread_class == SpreadClass::kPowerLimit;
  const double limit = std::log1p(c.threshold);
  if (!is_at_power_limit && test.interval.low > -limit && test.interval.high < limit) {
    return c.is_time_apart ? Outcome::kUndecided : Outcome::kSame;
  }
  const bool is_significant = *adjusted_p <= false_discovery_rate && (test.interval.low > 0 || test.interval.high < 0);
  const bool is_small = is_at_power_limit && std::abs(test.difference) < std::log1p(kPowerLimitChange);
  return is_significant && !is_small ? likely(c) : Outcome::kUndecided;
}

}  // namespace tbench::compare
