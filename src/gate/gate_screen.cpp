#include "gate/judging_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tbench/compare/case_comparison.hpp"
#include "tbench/compare/case_values.hpp"
#include "tbench/compare/comparison.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/stats/descriptive.hpp"
#include "tbench/stats/robust.hpp"

namespace tbench::gate {
namespace {

constexpr std::size_t kMinBaselineRuns = 3;  // with three runs, one outlier does not move the median
constexpr double kMinScale = 0.0025;         // smallest spread between runs: no run repeats better than 0.25 %
/// If runs differ by 0.45 %, a slowdown of 1 % beyond a threshold of 2 % exceeds this score in 94 % of the runs.
/// Running a case again sorts out chance results.
constexpr double kSuspectScore = 3;
RunMark mark_of(const CaseRun& run) {
  return {.started = run.past->run.started, .commit = run.past->run.environment.commit};
}

double limit_of(const CaseReport& c) { return std::log1p(c.threshold); }

/// Finds the first bad run: walks back from the candidate over the runs that were bad already. Runs on an invalid
/// machine are skipped.
void find_since(CaseVerdict& c, const std::function<bool(const CaseRun&)>& was_bad) {
  const CaseRun* first_bad = nullptr;
  const CaseRun* last_good = nullptr;
  for (auto run = c.runs->rbegin(); run != c.runs->rend(); ++run) {
    if (!run->past->is_valid) continue;
    if (!was_bad(*run)) {
      last_good = &*run;
      break;
    }
    first_bad = &*run;
  }
  put_since(c.result, last_good, first_bad);
}

using PeakOf = std::optional<std::int64_t> CaseRun::*;

/// Selects the peak of the bytes that tensors requested, if the candidate and every reference run with a peak have it.
/// Otherwise it selects the peak of the allocator's blocks, which depend on what ran before.
PeakOf comparable_peak(const std::vector<const CaseRun*>& reference, const results::MeasuredCase& candidate) {
  const bool all_know = std::ranges::all_of(
      reference, [](const CaseRun* run) { return !run->peak_bytes || run->requested_peak_bytes.has_value(); });
  return all_know && compare::requested_peak_of(candidate) ? &CaseRun::requested_peak_bytes : &CaseRun::peak_bytes;
}

/// Returns the usual peak in bytes, or nullopt if no reference run has a peak.
std::optional<std::int64_t> usual_peak(const std::vector<const CaseRun*>& reference, PeakOf peak_of) {
  std::vector<std::int64_t> peaks;
  for (const CaseRun* run : reference) {
    if (run->*peak_of) peaks.push_back(*(run->*peak_of));
  }
  if (peaks.empty()) return std::nullopt;
  const auto middle = peaks.begin() + static_cast<std::ptrdiff_t>((peaks.size() - 1) / 2);
  std::ranges::nth_element(peaks, middle);
  return *middle;
}

/// Returns whether the work of the case differs from earlier runs, so that their times cannot be compared.
bool work_changed(const CaseVerdict& c) {
  const auto& before = c.reference.back()->measured->replicates.front().work;
  const auto& now = c.measured->replicates.front().work;
  return before && now && *before != *now;
}

void screen_memory(CaseVerdict& c) {
  const std::vector<const CaseRun*> reference = newest(c.reference, kScreenRuns);
  const PeakOf peak_of = comparable_peak(reference, *c.measured);
  const std::optional<std::int64_t> usual = usual_peak(reference, peak_of);
  const std::optional<std::int64_t> now =
      peak_of == &CaseRun::peak_bytes ? compare::peak_of(*c.measured) : compare::requested_peak_of(*c.measured);
  c.result.peak_bytes = compare::peak_of(*c.measured);
  if (!usual || !now || compare::memory_outcome(*usual, *now) != Outcome::kRegressed) return;
  become_suspect(c, "memory");
  constexpr double kMebi = 1 << 20;
  c.result.note = fmt::format("memory {:+.1f} MiB", static_cast<double>(*now - *usual) / kMebi);
  find_since(c, [&](const CaseRun& run) {
    const std::optional<std::int64_t> then = run.*peak_of;
    return then && compare::memory_outcome(*usual, *then) == Outcome::kRegressed;
  });
}

/// Returns the difference of the GPU's time in a step from its usual value, in logarithms, or nullopt if the candidate
/// or too many of the runs do not have it.
std::optional<double> device_change(const CaseVerdict& c, const std::vector<const CaseRun*>& reference) {
  const std::optional<double> now = compare::device_value_of(*c.measured);
  std::vector<double> past;
  for (const CaseRun* run : reference) {
    if (run->device_value) past.push_back(*run->device_value);
  }
  if (!now || past.size() < kMinScreenRuns) return std::nullopt;
  return *now - stats::median(past);
}

/// Returns whether the host caused a change of the step. If the GPU's time by itself exceeds the threshold, the host
/// did not cause the change, and the case is run again.
bool is_of_host(double change, std::optional<double> of_device, double limit) {
  return !compare::shares_change(change, of_device) && !(change > 0 && *of_device > limit);
}

void screen_time(CaseVerdict& c) {
  const std::vector<const CaseRun*> reference = newest(c.reference, kScreenRuns);
  const std::vector<double> past = values_of(reference);
  const stats::RobustScore score = stats::robust_score(*c.value, past, kMinScale);
  const double change = *c.value - score.centre;
  c.result.reference = Seconds{std::exp(score.centre)};
  c.result.ratio = std::exp(change);
  c.result.z = score.z;
  const std::optional<double> of_device = device_change(c, reference);
  if (of_device) c.result.device_ratio = std::exp(*of_device);
  const double limit = limit_of(c.result);
  const bool is_faster = score.z < -kClearScore && change < -limit;
  const bool is_slower = score.z > kSuspectScore && change > limit;
  if (!is_faster && !is_slower) return find_split(c, reference, score.centre, score.centre + limit);
  if (is_of_host(change, of_device, limit)) {
    c.result.outcome = Outcome::kHost;
    return;
  }
  if (is_faster) {
    c.result.outcome = Outcome::kImproved;
    return;
  }
  become_suspect(c, "history");
  find_since(c, [&](const CaseRun& run) { return run.value && *run.value > score.centre + limit; });
}

/// Records the change of a case that too few runs have for a verdict: it is unknown which of the runs is the outlier.
void put_young(CaseVerdict& c) {
  const double usual = stats::median(values_of(c.reference));
  c.result.reference = Seconds{std::exp(usual)};
  c.result.ratio = std::exp(*c.value - usual);
  if (c.is_suspect) return;  // already a suspect by its memory
  c.result.outcome = Outcome::kNew;
  c.result.note = fmt::format("{}, and {} are needed", counted_in(c.reference, "earlier run"), kMinBaselineRuns);
}

/// Returns the median reference run, so that with few runs an outlier is not the reference.
const results::MeasuredCase& middle_of(const std::vector<const CaseRun*>& reference) {
  std::vector<const CaseRun*> sorted = reference;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::ranges::nth_element(sorted, middle, {}, [](const CaseRun* run) { return *run->value; });
  return *(*middle)->measured;
}

/// Screens one case.
/// @return  whether there are too few runs, so that the baseline must give the verdict on the time
bool screen_case(CaseVerdict& c, std::optional<double> tau) {
  CaseReport& result = c.result;
  const results::Replicate& worst = compare::worst_of(*c.measured);
  result.runs = static_cast<std::int64_t>(std::min(c.reference.size(), kScreenRuns));
  result.threshold = tau.value_or(compare::default_threshold(c.measured->id, result.candidate));
  if (worst.status != Status::kOk) {
    result.outcome = Outcome::kNotJudged;
    result.note = fmt::format("{}{}{}", to_string(worst.status), worst.reason.empty() ? "" : ": ", worst.reason);
    const std::optional<Outcome> failure = failure_of(*c.measured);
    if (!result.is_expected || !failure) return false;
    result.outcome = *failure;
    result.note = failure_text(*c.measured);
    c.has_failed = true;
    become_suspect(c, "status");
    find_since(c, [](const CaseRun& run) { return compare::is_bad(run.status); });
    return false;
  }
  if (c.reference.empty()) {
    result.outcome = Outcome::kNew;
    return false;
  }
  if (work_changed(c)) {
    result.outcome = Outcome::kNotJudged;
    result.note =
        "its FLOP count differs from earlier runs; accept it as the new normal (--accept), or rename the case";
    return false;
  }
  screen_memory(c);
  if (c.reference.size() < kMinBaselineRuns) {
    put_young(c);
    return false;
  }
  if (c.reference.size() < kMinScreenRuns) return true;
  screen_time(c);
  return false;
}

/// Compares each of the cases with its baseline, which is the median run of its reference, as `tbench diff` does.
/// Returns the comparisons by key.
std::map<std::string, compare::CaseComparison> against_baseline(
    const std::vector<CaseVerdict*>& cases, const std::map<std::string, stats::DispersionPrior>& known_dispersion,
    std::optional<double> tau) {
  if (cases.empty()) return {};
  compare::ComparisonSide base;
  compare::ComparisonSide next;
  for (const CaseVerdict* c : cases) {
    base.cases.push_back(middle_of(c->reference));
    next.cases.push_back(*c->measured);
  }
  // Runs of one series are comparable, and work_changed has compared the work.
  const compare::Comparison comparison =
      compare::compare(base, next, {.tau = tau, .cross = false, .force = true, .known_dispersion = known_dispersion});
  std::map<std::string, compare::CaseComparison> by_key;
  for (const compare::CaseComparison& c : comparison.cases) by_key.emplace(results::match_key(c.id), c);
  return by_key;
}

/// Says why the runs do not decide a case, with the interval of its change if it is known.
std::string undecided_note(const CaseReport& c, const compare::CaseComparison& comparison) {
  const std::string interval =
      comparison.ratio_interval
          ? fmt::format(" (95 % interval {} to {} %)", render::format_change(comparison.ratio_interval->low),
                        render::format_change(comparison.ratio_interval->high))
          : "";
  return fmt::format("{} give no spread between runs, and the processes of this run and the middle one do not decide{}",
                     counted(c.runs, "earlier run"), interval);
}

void take_from_baseline(CaseVerdict& c, const compare::CaseComparison& comparison) {
  put_change(c.result, middle_of(c.reference));
  c.result.device_ratio = comparison.device_ratio;
  switch (comparison.outcome.value()) {
    case Outcome::kLikelySlower:
    case Outcome::kRegressed: {
      if (c.is_suspect) return;  // already a suspect by its memory
      become_suspect(c, "baseline");
      const double limit = std::log(c.result.reference->value) + limit_of(c.result);
      return find_since(c, [&](const CaseRun& run) { return run.value && *run.value > limit; });
    }
    case Outcome::kLikelyFaster:
      c.result.outcome = Outcome::kImproved;
      return;
    case Outcome::kUndecided:
      c.result.outcome = Outcome::kUndecided;
      if (!c.is_suspect) c.result.note = undecided_note(c.result, comparison);
      return;
    default:
      c.result.outcome = *comparison.outcome;
  }
}

}  // namespace

void become_suspect(CaseVerdict& c, const char* found_by) {
  c.is_suspect = true;
  c.result.found_by += (c.result.found_by.empty() ? "" : ", ") + std::string{found_by};
}

void put_change(CaseReport& c, const results::MeasuredCase& usual) {
  const std::vector<double> times = compare::log_times(usual);
  if (times.empty() || !c.candidate) return;
  c.reference = Seconds{std::exp(stats::median(times))};
  c.ratio = *c.candidate / *c.reference;
}

void put_since(CaseReport& c, const CaseRun* good, const CaseRun* bad) {
  if (good != nullptr) c.last_good = mark_of(*good);
  if (bad != nullptr) c.first_bad = mark_of(*bad);
  if (good == nullptr || bad == nullptr) return;
  compare::ComparisonSide base;
  compare::ComparisonSide next;
  base.environments = {good->past->run.environment};
  next.environments = {bad->past->run.environment};
  c.since = compare::differences_of(base, next);
}

void screen(std::vector<CaseVerdict>& cases, const std::map<std::string, stats::DispersionPrior>& known_dispersion,
            std::optional<double> tau) {
  std::vector<CaseVerdict*> young;
  for (CaseVerdict& c : cases) {
    if (screen_case(c, tau)) young.push_back(&c);
  }
  const std::map<std::string, compare::CaseComparison> compared = against_baseline(young, known_dispersion, tau);
  for (CaseVerdict* c : young) take_from_baseline(*c, compared.at(c->result.key));
  for (CaseVerdict& c : cases) find_creep(c);
}

}  // namespace tbench::gate
