#include "gate_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>
#include <unordered_map>

#include "case_comparison.hpp"
#include "tbench/core/comparison_statistics.hpp"
#include "tbench/core/gate_statistics.hpp"
#include "tbench/core/timestamp.hpp"

namespace tbench::report {
namespace {

constexpr double kCeilingTolerance = 0.01;
constexpr double kCeilingSpreads = 4;  // a ceiling that never was that steady (launch latency) is not held to it
constexpr std::size_t kLeastCeilingNights = 3;  // a median that one odd night does not move

constexpr double kNullLevel = 0.01;
constexpr std::size_t kAllowedRejections = 1;

constexpr std::int64_t kStaleAfter = std::int64_t{48} * 3600;
constexpr std::int64_t kForgottenAfter = std::int64_t{30} * 24 * 3600;  // a case taken away does not warn for ever

std::vector<double> logarithms(const ComparedCase& c) {
  std::vector<double> values;
  for (const Replicate& r : c.replicates) {
    if (r.status == Status::kOk && r.time) values.push_back(std::log(r.time->value));
  }
  return values;
}

const PastRun* last_valid(const std::vector<PastRun>& past) {
  const auto found = std::ranges::find_if(past.rbegin(), past.rend(), &PastRun::is_valid);
  return found == past.rend() ? nullptr : &*found;
}

std::int64_t seconds_of(const std::string& started) { return parse_timestamp(started).value_or(0); }

}  // namespace

std::vector<CeilingCheck> check_ceilings(const NightsByCase& nights, const MeasuredRun& tonight) {
  std::vector<CeilingCheck> checks;
  for (const ComparedCase& c : tonight.cases) {
    const std::optional<double> value = value_of(c);
    if (!is_ceiling(c.id) || !value) continue;
    const std::vector<double> before = values_of(newest(references_of(nights_of(nights, c.key)), kScreenNights));
    if (before.size() < kLeastCeilingNights) continue;
    CeilingCheck check{.name = c.id.name(),
                       .ratio = std::exp(*value - median(before)),
                       .tolerance = std::max(kCeilingTolerance, kCeilingSpreads * robust_spread(before)),
                       .is_within = true};
    check.is_within = std::abs(check.ratio - 1) <= check.tolerance;
    checks.push_back(std::move(check));
  }
  return checks;
}

NullControl check_null_control(const NullControlSides& sides, const std::map<std::string, double>& known_spread) {
  std::unordered_map<std::string, const ComparedCase*> in_b;
  for (const ComparedCase& c : sides.b.cases) in_b.emplace(c.key, &c);
  NullControl control;
  for (const ComparedCase& a : sides.a.cases) {
    const auto b = in_b.find(a.key);
    if (b == in_b.end()) continue;
    const std::vector<double> values_a = logarithms(a);
    const std::vector<double> values_b = logarithms(*b->second);
    if (values_a.empty() || values_b.empty()) continue;
    const auto known = known_spread.find(a.key);
    const auto prior =
        known == known_spread.end() ? std::nullopt : std::optional{SpreadPrior{.standard_deviation = known->second}};
    const auto test = moderated_t_test(values_a, values_b, prior);
    if (!test) continue;
    ++control.cases;
    if (test->p_value <= kNullLevel) {
      control.rejected.push_back(fmt::format("{} ({:+.2f} %)", a.id.name(), 100 * std::expm1(test->difference)));
    }
  }
  control.has_failed = control.rejected.size() > kAllowedRejections;
  return control;
}

std::optional<EpochShift> epoch_shift(const std::vector<PastRun>& past, const MeasuredRun& tonight,
                                      std::optional<double> tau) {
  const PastRun* before = last_valid(past);
  const auto is_of_tonight = [&](const PastRun& run) { return run.is_valid && run.run.epoch == tonight.epoch; };
  if (before == nullptr || std::ranges::any_of(past, is_of_tonight)) return std::nullopt;
  EpochShift shift{.from = before->run.epoch, .to = tonight.epoch, .beyond = {}};
  const auto nights = nights_by_case(past, before->run.epoch);
  std::vector<double> ratios;
  for (const ComparedCase& c : tonight.cases) {
    const std::optional<double> value = value_of(c);
    if (!value) continue;
    const std::vector<double> values = values_of(newest(references_of(nights_of(nights, c.key)), kScreenNights));
    if (values.empty()) continue;
    const double ratio = std::exp(*value - median(values));
    const double threshold = tau.value_or(default_threshold(c.id, Seconds{std::exp(*value)}));
    ratios.push_back(ratio);
    if (std::abs(std::log(ratio)) > std::log1p(threshold)) shift.beyond.push_back({c.id.name(), ratio});
  }
  shift.cases = static_cast<std::int64_t>(ratios.size());
  if (!ratios.empty()) shift.mean_ratio = geometric_mean(ratios);
  std::ranges::stable_sort(shift.beyond, std::ranges::greater{},
                           [](const ShiftOfCase& c) { return std::abs(std::log(c.ratio)); });
  return shift;
}

std::vector<std::string> missing_cases(const std::vector<PastRun>& past, const MeasuredRun& tonight) {
  const auto of_epoch = [&](const PastRun& run) { return run.is_valid && run.run.epoch == tonight.epoch; };
  const auto last = std::ranges::find_if(past.rbegin(), past.rend(), of_epoch);
  if (last == past.rend()) return {};
  std::set<std::string> there;
  for (const ComparedCase& c : tonight.cases) there.insert(c.key);
  std::vector<std::string> missing;
  for (const ComparedCase& c : last->run.cases) {
    if (!there.contains(c.key)) missing.push_back(c.id.name());
  }
  return missing;
}

std::vector<std::string> stale_cases(const std::vector<PastRun>& past, const MeasuredRun& tonight,
                                     bool tonight_is_valid) {
  struct Last {
    std::string name;
    std::int64_t seconds;
  };
  std::map<std::string, Last> last;  // by key, sorted for the reader
  const auto note = [&](const std::vector<ComparedCase>& cases, const std::string& started) {
    for (const ComparedCase& c : cases) {
      if (value_of(c)) last.insert_or_assign(c.key, Last{c.id.name(), seconds_of(started)});
    }
  };
  for (const PastRun& run : past) {
    if (run.is_valid) note(run.run.cases, run.run.started);
  }
  if (tonight_is_valid) note(tonight.cases, tonight.started);
  std::vector<std::string> stale;
  for (const auto& [key, value] : last) {
    const std::int64_t age = seconds_of(tonight.started) - value.seconds;
    if (age <= kStaleAfter || age > kForgottenAfter) continue;
    stale.push_back(fmt::format("{} (last on {})", value.name, format_timestamp(value.seconds)));
  }
  return stale;
}

}  // namespace tbench::report
