// Finds changes that the median of one run does not show: a rise over many runs, and a run of which some processes are
// slow.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/judging_steps.hpp"
#include "tbench/compare/case_values.hpp"
#include "tbench/core/text.hpp"
#include "tbench/stats/change_points.hpp"
#include "tbench/stats/descriptive.hpp"
#include "tbench/stats/robust.hpp"

namespace tbench::gate {
namespace {

/// Minimum rise, as a fraction, and minimum score of a case that is run again. By chance, 0.01 of 200 cases per run
/// reach both (simulated).
constexpr double kMinCreep = 0.004;
constexpr double kCreepScore = 3.5;
constexpr std::int64_t kTrendNights = 60;
constexpr std::size_t kMinTrendRuns = 20;
/// Significance level and minimum number of slow processes in a run, whose share is compared with the share in the last
/// runs.
constexpr double kSplitLevel = 0.01;
constexpr std::size_t kMinSplit = 2;

/// Numbers of a case's processes: all, and the slow ones.
struct Shares {
  std::size_t all{};
  std::size_t slow{};
};

Shares shares_of(const results::MeasuredCase& measured, double limit) {
  const std::vector<double> times = compare::log_times(measured);
  const auto slow = std::ranges::count_if(times, [&](double time) { return time > limit; });
  return {.all = times.size(), .slow = static_cast<std::size_t>(slow)};
}

/// Returns whether the processes up to the limit are about as fast as usual. If not, all processes are slower.
bool others_are_usual(const results::MeasuredCase& measured, double usual, double limit) {
  std::vector<double> times = compare::log_times(measured);
  std::erase_if(times, [&](double time) { return time > limit; });
  return !times.empty() && stats::median(times) < usual + (limit - usual) / 2;
}

/// Records the first run of the higher level and the run before it, from the change points.
void put_rise(CaseVerdict& c, const std::vector<double>& values, double rise) {
  const stats::ChangePointOptions options{.min_magnitude = rise / 2};
  const std::vector<stats::ChangePoint> changes = stats::find_change_points(values, options);
  const auto first =
      std::ranges::find_if(changes, [](const stats::ChangePoint& change) { return change.magnitude > 0; });
  if (first == changes.end() || first->index >= c.reference.size()) return;
  put_since(c.result, c.reference[first->index - 1], c.reference[first->index]);
}

/// Returns the reference runs of the last kTrendNights days, but at least this number of runs.
std::vector<const CaseRun*> trend_runs(const CaseVerdict& c) {
  constexpr std::int64_t kDay = std::int64_t{24} * 3600;
  const std::int64_t last = parse_timestamp(c.reference.back()->past->run.started).value_or(0);
  const auto is_recent = [&](const CaseRun* run) {
    return last - parse_timestamp(run->past->run.started).value_or(0) < kTrendNights * kDay;
  };
  const auto recent = static_cast<std::size_t>(std::ranges::count_if(c.reference, is_recent));
  return newest(c.reference, std::max<std::size_t>(recent, kTrendNights));
}

std::vector<double> trend_values(const CaseVerdict& c) {
  std::vector<double> values = values_of(trend_runs(c));
  values.push_back(*c.value);
  return values;
}

}  // namespace

void find_split(CaseVerdict& c, const std::vector<const CaseRun*>& reference, double usual, double limit) {
  const Shares now = shares_of(*c.measured, limit);
  if (now.slow < kMinSplit || !others_are_usual(*c.measured, usual, limit)) return;
  Shares together = now;
  for (const CaseRun* run : reference) {
    const Shares then = shares_of(*run->measured, limit);
    together.all += then.all;
    together.slow += then.slow;
  }
  if (stats::share_p_value(now.slow, now.all, together.slow, together.all) > kSplitLevel) return;
  become_suspect(c, "processes");
  c.is_split = true;
  c.limit = limit;
  c.result.note = split_text(*c.measured, limit, *c.result.reference);
}

void find_creep(CaseVerdict& c) {
  if (!c.value || c.result.outcome != Outcome::kSame || c.reference.size() < kMinTrendRuns) return;
  const stats::Trend trend = stats::trend_of(trend_values(c));
  c.creeps = trend.z > kCreepScore && trend.rise > kMinCreep;
  c.creeps_clearly = trend.z > kClearScore && trend.rise > std::log1p(kCreepThreshold);
}

void tell_creep(CaseVerdict& c) {
  const std::vector<double> values = trend_values(c);
  const double rise = stats::trend_of(values).rise;
  c.result.found_by = "creep";
  c.result.reference = Seconds{std::exp(*c.value - rise)};
  c.result.ratio = std::exp(rise);
  c.result.note = fmt::format("slower by {:.1f} % over {} runs", 100 * std::expm1(rise), values.size());
  put_rise(c, values, rise);
}

}  // namespace tbench::gate
