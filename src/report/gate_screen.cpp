#include "gate_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "case_comparison.hpp"
#include "comparability.hpp"
#include "tbench/core/change_points.hpp"
#include "tbench/core/gate_statistics.hpp"
#include "tbench/report/comparison.hpp"

namespace tbench::report {
namespace {

constexpr double kLeastScale = 0.0025;  // no night repeats better than 0.25 %
constexpr double kGreatestScore = 4;
constexpr double kLeastCreep = 0.02;

double limit_of(const NightCase& c) { return std::log1p(c.threshold); }

void become_candidate(JudgedCase& c, const char* found_by) {
  c.is_candidate = true;
  c.result.found_by += (c.result.found_by.empty() ? "" : ", ") + std::string{found_by};
}

NightMark mark_of(const CaseNight& night) {
  return {.started = night.night->run.started, .commit = night.night->run.environment.commit};
}

/// Last good, first bad, and what differs between them.
/// @param bad  nullptr: tonight itself, whose environment the caller compares
void put_since(NightCase& c, const CaseNight* good, const CaseNight* bad) {
  if (good != nullptr) c.last_good = mark_of(*good);
  if (bad != nullptr) c.first_bad = mark_of(*bad);
  if (good == nullptr || bad == nullptr) return;
  ComparisonSide base;
  ComparisonSide next;
  base.environments = {good->night->run.environment};
  next.environments = {bad->night->run.environment};
  c.since = differences_of(base, next);
}

/// Walks back from tonight over the nights that were bad already. Nights without a valid value tell nothing.
void find_since(JudgedCase& c, const std::function<bool(const CaseNight&)>& was_bad) {
  const CaseNight* first_bad = nullptr;
  const CaseNight* last_good = nullptr;
  for (auto night = c.nights->rbegin(); night != c.nights->rend(); ++night) {
    if (!night->night->is_valid) continue;
    if (!was_bad(*night)) {
      last_good = &*night;
      break;
    }
    first_bad = &*night;
  }
  put_since(c.result, last_good, first_bad);
}

/// Nothing where no reference night knows its memory.
std::optional<std::int64_t> usual_peak(const std::vector<const CaseNight*>& reference) {
  std::vector<std::int64_t> peaks;
  for (const CaseNight* night : reference) {
    if (night->peak_bytes) peaks.push_back(*night->peak_bytes);
  }
  if (peaks.empty()) return std::nullopt;
  const auto middle = peaks.begin() + static_cast<std::ptrdiff_t>((peaks.size() - 1) / 2);
  std::ranges::nth_element(peaks, middle);
  return *middle;
}

/// The case does something else than it did: its times cannot be put beside each other.
bool work_changed(const JudgedCase& c) {
  const auto& before = c.reference.back()->measured->replicates.front().work;
  const auto& now = c.measured->replicates.front().work;
  return before && now && *before != *now;
}

void screen_memory(JudgedCase& c) {
  const std::optional<std::int64_t> usual = usual_peak(newest(c.reference, kScreenNights));
  c.result.peak_bytes = peak_of(*c.measured);
  if (!usual || !c.result.peak_bytes || memory_verdict(*usual, *c.result.peak_bytes) != Verdict::kRegressed) return;
  become_candidate(c, "memory");
  constexpr double kMebi = 1 << 20;
  c.result.note = fmt::format("memory {:+.1f} MiB", static_cast<double>(*c.result.peak_bytes - *usual) / kMebi);
  find_since(c, [&](const CaseNight& night) {
    return night.peak_bytes && memory_verdict(*usual, *night.peak_bytes) == Verdict::kRegressed;
  });
}

void screen_time(JudgedCase& c) {
  const std::vector<double> past = values_of(newest(c.reference, kScreenNights));
  const RobustScore score = robust_score(*c.value, past, kLeastScale);
  const double change = *c.value - score.centre;
  c.result.reference = Seconds{std::exp(score.centre)};
  c.result.ratio = std::exp(change);
  c.result.z = score.z;
  const double limit = limit_of(c.result);
  if (score.z < -kGreatestScore && change < -limit) c.result.verdict = NightVerdict::kImproved;
  if (score.z <= kGreatestScore || change <= limit) return;
  become_candidate(c, "history");
  find_since(c, [&](const CaseNight& night) { return night.value && *night.value > score.centre + limit; });
}

/// @return  whether a verdict on the time is still wanted from the baseline, for want of nights
bool screen_case(JudgedCase& c, std::optional<double> tau) {
  NightCase& result = c.result;
  const Replicate& worst = worst_of(*c.measured);
  result.nights = static_cast<std::int64_t>(std::min(c.reference.size(), kScreenNights));
  result.threshold = tau.value_or(default_threshold(c.measured->id, result.tonight));
  if (worst.status != Status::kOk) {
    result.verdict = NightVerdict::kInvalid;
    result.note = fmt::format("{}{}{}", to_string(worst.status), worst.reason.empty() ? "" : ": ", worst.reason);
    if (c.reference.empty() || !is_bad(worst.status)) return false;
    become_candidate(c, "status");
    find_since(c, [](const CaseNight& night) { return is_bad(night.status); });
    return false;
  }
  if (c.reference.empty()) {
    result.verdict = NightVerdict::kNew;
    return false;
  }
  if (work_changed(c)) {
    result.verdict = NightVerdict::kInvalid;
    result.note = "does other work (FLOP) than before; accept it as the new normal, or give the case another name";
    return false;
  }
  screen_memory(c);
  if (c.reference.size() < kLeastScreenNights) return true;
  screen_time(c);
  return false;
}

/// `diff` of the cases given, each against the first night of its reference: the baseline. By key.
std::map<std::string, CaseComparison> against_baseline(const std::vector<JudgedCase*>& cases,
                                                       const std::map<std::string, double>& known_spread,
                                                       std::optional<double> tau) {
  if (cases.empty()) return {};
  ComparisonSide base;
  ComparisonSide next;
  for (const JudgedCase* c : cases) {
    base.cases.push_back(*c->reference.front()->measured);
    next.cases.push_back(*c->measured);
  }
  // Within a series there is nothing to object to; work_changed has looked at the work.
  const Comparison comparison =
      compare(base, next, {.tau = tau, .cross = false, .force = true, .known_spread = known_spread});
  std::map<std::string, CaseComparison> by_key;
  for (const CaseComparison& c : comparison.cases) by_key.emplace(match_key(c.id), c);
  return by_key;
}

void take_from_baseline(JudgedCase& c, const CaseComparison& comparison) {
  c.result.reference = comparison.base.time;
  c.result.ratio = comparison.ratio;
  switch (comparison.verdict.value()) {
    case Verdict::kRegressed: {
      if (c.is_candidate) return;  // by its memory
      become_candidate(c, "baseline");
      const double limit = std::log(comparison.base.time->value) + limit_of(c.result);
      return find_since(c, [&](const CaseNight& night) { return night.value && *night.value > limit; });
    }
    case Verdict::kImproved:
      c.result.verdict = NightVerdict::kImproved;
      return;
    case Verdict::kClock:
      c.result.verdict = NightVerdict::kClock;
      return;
    case Verdict::kInsufficient:
      c.result.verdict = NightVerdict::kNew;
      c.result.note = fmt::format("{} nights, and fewer than {} processes: too little to compare", c.result.nights,
                                  kLeastReplicates);
      return;
    default:
      return;
  }
}

/// Whether the level rose over the nights, from before its first change to the last few nights; says since when. Half
/// of what matters makes a change: a creep's end is further up than the middle of its last segment.
bool rises(JudgedCase& c) {
  std::vector<double> values = values_of(c.reference);
  values.push_back(*c.value);
  const double least = std::max(kLeastCreep, limit_of(c.result));
  const ChangePointOptions options{.least_magnitude = least / 2};
  const std::vector<ChangePoint> changes = find_change_points(values, options);
  const auto rise = std::ranges::find_if(changes, [](const ChangePoint& change) { return change.magnitude > 0; });
  if (rise == changes.end()) return false;
  const std::span<const double> all{values};
  if (median(all.last(options.least_segment)) - median(all.first(changes.front().index)) < least) return false;
  if (!c.is_candidate) put_since(c.result, c.reference[rise->index - 1], c.reference[rise->index]);
  return true;
}

void find_creep(std::vector<JudgedCase>& cases, const std::map<std::string, double>& known_spread,
                std::optional<double> tau) {
  std::vector<JudgedCase*> rising;
  for (JudgedCase& c : cases) {
    const bool is_open =
        c.value && c.reference.size() >= kLeastScreenNights && c.result.verdict == NightVerdict::kPassed;
    if (is_open && rises(c)) rising.push_back(&c);
  }
  const std::map<std::string, CaseComparison> compared = against_baseline(rising, known_spread, tau);
  for (JudgedCase* c : rising) {
    const CaseComparison& comparison = compared.at(c->result.key);
    c->creeps = comparison.verdict == Verdict::kRegressed || comparison.verdict == Verdict::kInsufficient;
    if (c->is_candidate) continue;
    if (c->creeps) {
      c->result.found_by = "change point";
      c->result.reference = comparison.base.time;
      c->result.ratio = comparison.ratio;
    } else {
      c->result.first_bad.reset();
      c->result.last_good.reset();
      c->result.since.clear();
    }
  }
}

}  // namespace

void screen(std::vector<JudgedCase>& cases, const std::map<std::string, double>& known_spread,
            std::optional<double> tau) {
  std::vector<JudgedCase*> young;
  for (JudgedCase& c : cases) {
    if (screen_case(c, tau)) young.push_back(&c);
  }
  const std::map<std::string, CaseComparison> compared = against_baseline(young, known_spread, tau);
  for (JudgedCase* c : young) take_from_baseline(*c, compared.at(c->result.key));
  find_creep(cases, known_spread, tau);
}

}  // namespace tbench::report
