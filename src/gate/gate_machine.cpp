#include "gate/judging_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>
#include <span>
#include <unordered_map>

#include "tbench/compare/case_comparison.hpp"
#include "tbench/compare/case_values.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/core/text.hpp"
#include "tbench/stats/robust.hpp"
#include "tbench/stats/tests.hpp"

namespace tbench::gate {
namespace {

constexpr double kMinTolerance = 0.01;
constexpr double kCeilingLevel = 0.003;     // significance level for all ceilings of a resource together, in one run
constexpr std::size_t kMinCeilingRuns = 3;  // with three runs, one outlier does not move the median
constexpr std::size_t kChangeWindow = 5;
constexpr std::int64_t kChangeRuns = 3;

constexpr double kNullLevel = 0.01;
constexpr std::size_t kAllowedRejections = 1;

constexpr std::int64_t kStaleAfter = std::int64_t{48} * 3600;
constexpr std::int64_t kForgottenAfter = std::int64_t{30} * 24 * 3600;  // a case that was removed stops warning

std::vector<double> logarithms(const results::MeasuredCase& c) {
  std::vector<double> values;
  for (const results::Replicate& r : c.replicates) {
    if (r.status == Status::kOk && r.time) values.push_back(std::log(r.time->value));
  }
  return values;
}

std::string what_of(const CaseId& id) {
  const std::string* const what = id.find("what");
  return what ? *what : "";
}

/// Returns the resource of a ceiling. The host limits launches, dispatch and copies over the bus, whatever the GPU; the
/// device limits reads from L2.
Resource resource_of(const std::string& what) {
  static const std::set<std::string> kStreams{"copy", "read", "write", "l2_read"};
  return what.starts_with("gemm_") || kStreams.contains(what) ? Resource::kDevice : Resource::kHost;
}

/// Returns the ceilings that the run's cases are compared with; nullopt if no case names one (results of older
/// programs).
std::optional<std::set<std::string>> ceilings_of_cases(const history::MeasuredRun& run) {
  std::set<std::string> names;
  for (const results::MeasuredCase& c : run.cases) {
    for (const results::Replicate& replicate : c.replicates) {
      if (!replicate.ceiling.empty()) names.insert(replicate.ceiling);
    }
  }
  return names.empty() ? std::nullopt : std::optional{std::move(names)};
}

std::optional<double> ceiling_value(const std::vector<results::MeasuredCase>& cases, const std::string& name) {
  const auto found = std::ranges::find_if(cases, [&](const results::MeasuredCase& c) { return c.id.name() == name; });
  return found == cases.end() ? std::nullopt : compare::value_of(*found);
}

/// The values, ln(time), of a ceiling in the last runs of its epoch.
struct CeilingHistory {
  std::string name;
  Resource resource{};
  double value{};  // value in the candidate
  std::vector<double> valid;
  std::vector<double> invalid;
};

CeilingHistory history_of(std::string name, Resource resource, double value, const CaseRuns& runs) {
  CeilingHistory history{.name = std::move(name), .resource = resource, .value = value, .valid = {}, .invalid = {}};
  const std::size_t first = runs.size() > kScreenRuns ? runs.size() - kScreenRuns : 0;
  for (const CaseRun& run : std::span{runs}.subspan(first)) {
    if (run.value) (run.is_reference ? history.valid : history.invalid).push_back(*run.value);
  }
  return history;
}

/// Checks a ceiling. An invalid run widens the range that is expected of the next run, at most by the deviation that a
/// valid run could have had.
CeilingCheck checked(const CeilingHistory& history, double level) {
  const double centre = stats::median(history.valid);
  const double reach = std::max(kMinTolerance, stats::prediction_half_width(history.valid, level));
  std::vector<double> values = history.valid;
  for (const double value : history.invalid) values.push_back(std::clamp(value, centre - reach, centre + reach));
  const double half_width = std::max(std::log1p(kMinTolerance), stats::prediction_half_width(values, level));
  return {.name = history.name,
          .resource = history.resource,
          .ratio = std::exp(history.value - centre),
          .tolerance = std::expm1(half_width),
          .is_within = std::abs(history.value - centre) <= half_width};
}

const history::PastRun* last_valid(const std::vector<history::PastRun>& past) {
  const auto found = std::ranges::find_if(past.rbegin(), past.rend(), &history::PastRun::is_valid);
  return found == past.rend() ? nullptr : &*found;
}

/// Returns whether compare::value_of() has a value.
bool has_value(const results::MeasuredCase& c) {
  return std::ranges::all_of(c.replicates, [](const results::Replicate& r) { return r.status == Status::kOk; }) &&
         std::ranges::any_of(c.replicates, [](const results::Replicate& r) { return r.time.has_value(); });
}

std::int64_t seconds_of(const std::string& started) { return parse_timestamp(started).value_or(0); }

}  // namespace

std::vector<CeilingCheck> check_ceilings(const RunsByCase& runs, const history::MeasuredRun& candidate) {
  const std::optional<std::set<std::string>> held = ceilings_of_cases(candidate);
  std::vector<CeilingHistory> histories;
  for (const results::MeasuredCase& c : candidate.cases) {
    const std::optional<double> value = compare::value_of(c);
    if (!is_ceiling(c.id) || !value) continue;
    const std::string what = what_of(c.id);
    const Resource resource = resource_of(what);
    if (resource == Resource::kDevice && held && !held->contains(what)) continue;
    CeilingHistory history = history_of(c.id.name(), resource, *value, runs_of(runs, c.key));
    if (history.valid.size() >= kMinCeilingRuns) histories.push_back(std::move(history));
  }
  std::vector<CeilingCheck> checks;
  for (const CeilingHistory& history : histories) {
    const auto together = std::ranges::count(histories, history.resource, &CeilingHistory::resource);
    checks.push_back(checked(history, kCeilingLevel / static_cast<double>(together)));
  }
  return checks;
}

bool are_within(const std::vector<CeilingCheck>& ceilings, Resource resource) {
  return std::ranges::all_of(ceilings, [&](const CeilingCheck& c) { return c.resource != resource || c.is_within; });
}

std::string current_epoch(const std::vector<history::PastRun>& past, const std::string& measured) {
  const auto last = std::ranges::find_if(past.rbegin(), past.rend(), [&](const history::PastRun& run) {
    const bool was_judged = run.is_valid || run.is_blind;  // before that, its epoch is the one as measured
    return was_judged && history::is_of_epoch(run.run.epoch, measured);
  });
  return last == past.rend() ? measured : last->run.epoch;
}

std::optional<MachineChange> machine_change(const std::vector<history::PastRun>& past, const std::string& epoch,
                                            const history::MeasuredRun& candidate,
                                            const std::vector<CeilingCheck>& ceilings) {
  MachineChange change{.ceilings = {}, .runs = 1};
  std::ranges::copy_if(ceilings, std::back_inserter(change.ceilings),
                       [](const CeilingCheck& c) { return c.resource == Resource::kDevice && !c.is_within; });
  if (change.ceilings.empty()) return std::nullopt;
  const std::size_t looked_at = std::min(kChangeWindow - 1, past.size());
  for (const history::PastRun& run : std::span{past}.last(looked_at)) {
    const bool is_alike =
        !run.is_valid && run.run.epoch == epoch && std::ranges::all_of(change.ceilings, [&](const CeilingCheck& c) {
          const std::optional<double> now = ceiling_value(candidate.cases, c.name);
          const std::optional<double> then = ceiling_value(run.run.cases, c.name);
          return now && then && std::abs(*now - *then) <= std::log1p(c.tolerance);
        });
    if (is_alike) ++change.runs;
  }
  return change.runs >= kChangeRuns ? std::optional{std::move(change)} : std::nullopt;
}

std::int64_t blind_runs_before(const std::vector<history::PastRun>& past) {
  const auto seeing = std::find_if(past.rbegin(), past.rend(),
                                   [](const history::PastRun& run) { return run.is_valid && !run.is_blind; });
  return std::distance(past.rbegin(), seeing);
}

AaControl check_aa_control(const AaControlSides& sides,
                           const std::map<std::string, stats::DispersionPrior>& known_dispersion) {
  std::unordered_map<std::string, const results::MeasuredCase*> in_b;
  for (const results::MeasuredCase& c : sides.b.cases) in_b.emplace(c.key, &c);
  AaControl control;
  for (const results::MeasuredCase& a : sides.a.cases) {
    const auto b = in_b.find(a.key);
    if (b == in_b.end()) continue;
    const std::vector<double> values_a = logarithms(a);
    const std::vector<double> values_b = logarithms(*b->second);
    if (values_a.empty() || values_b.empty()) continue;
    const auto known = known_dispersion.find(a.key);
    const auto prior = known == known_dispersion.end() ? std::nullopt : std::optional{known->second};
    const auto test = stats::moderated_t_test(values_a, values_b, prior);
    if (!test) continue;
    ++control.cases;
    if (test->p_value <= kNullLevel) {
      control.rejected.push_back(fmt::format("{} ({:+.2f} %)", a.id.name(), 100 * std::expm1(test->difference)));
    }
  }
  control.has_failed = control.rejected.size() > kAllowedRejections;
  return control;
}

std::optional<EpochShift> shift_from(const std::vector<history::PastRun>& past, const std::string& epoch,
                                     const history::MeasuredRun& candidate, std::optional<double> tau) {
  const history::PastRun* before = last_valid(past);
  if (before == nullptr) return std::nullopt;
  EpochShift shift{.from = before->run.epoch, .to = epoch, .beyond = {}};
  const auto runs = runs_by_case(past, before->run.epoch);
  std::vector<double> ratios;
  for (const results::MeasuredCase& c : candidate.cases) {
    const std::optional<double> value = compare::value_of(c);
    if (!value || is_ceiling(c.id)) continue;
    const std::vector<double> values = values_of(newest(references_of(runs_of(runs, c.key)), kScreenRuns));
    if (values.empty()) continue;
    const double ratio = std::exp(*value - stats::median(values));
    const double threshold = tau.value_or(compare::default_threshold(c.id, Seconds{std::exp(*value)}));
    ratios.push_back(ratio);
    if (std::abs(std::log(ratio)) > std::log1p(threshold)) shift.beyond.push_back({c.id.name(), ratio});
  }
  shift.cases = static_cast<std::int64_t>(ratios.size());
  if (!ratios.empty()) {
    shift.mean_ratio = stats::geometric_mean(ratios);
    shift.low_ratio = *std::ranges::min_element(ratios);
    shift.high_ratio = *std::ranges::max_element(ratios);
  }
  std::ranges::stable_sort(shift.beyond, std::ranges::greater{},
                           [](const ShiftOfCase& c) { return std::abs(std::log(c.ratio)); });
  return shift;
}

std::optional<EpochShift> epoch_shift(const std::vector<history::PastRun>& past, const std::string& epoch,
                                      const history::MeasuredRun& candidate, std::optional<double> tau) {
  const auto is_of_epoch = [&](const history::PastRun& run) { return run.is_valid && run.run.epoch == epoch; };
  if (std::ranges::any_of(past, is_of_epoch)) return std::nullopt;
  return shift_from(past, epoch, candidate, tau);
}

std::vector<std::string> stale_cases(const std::vector<history::PastRun>& past,
                                     const std::vector<std::vector<history::PastRun>>& others,
                                     const history::MeasuredRun& candidate, bool candidate_is_valid) {
  struct Last {
    std::string name;
    std::int64_t seconds;
  };
  std::map<std::string, Last> last;  // by key, sorted for the reader
  const auto note = [&](const std::vector<results::MeasuredCase>& cases, const std::string& started) {
    const std::int64_t seconds = seconds_of(started);
    for (const results::MeasuredCase& c : cases) {
      if (!has_value(c)) continue;
      const auto [found, is_new] = last.try_emplace(c.key, Last{{}, seconds});
      if (is_new) found->second.name = c.id.name();
      found->second.seconds = std::max(found->second.seconds, seconds);
    }
  };
  const auto note_all = [&](const std::vector<history::PastRun>& runs) {
    for (const history::PastRun& run : runs) {
      if (run.is_valid) note(run.run.cases, run.run.started);
    }
  };
  note_all(past);
  for (const std::vector<history::PastRun>& machine : others) note_all(machine);
  if (candidate_is_valid) note(candidate.cases, candidate.started);
  std::vector<std::string> stale;
  for (const auto& [key, value] : last) {
    const std::int64_t age = seconds_of(candidate.started) - value.seconds;
    if (age <= kStaleAfter || age > kForgottenAfter) continue;
    stale.push_back(fmt::format("{} (last on {})", value.name, format_timestamp(value.seconds)));
  }
  return stale;
}

}  // namespace tbench::gate
