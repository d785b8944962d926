#include "tbench/compare/case_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compare/known_judgement.hpp"
#include "tbench/compare/case_values.hpp"
#include "tbench/core/run_order.hpp"

namespace tbench::compare {
namespace {

// Thresholds below which a change does not matter, since hosts, drivers and temperature cause such changes. They depend
// on the family and on the time.
constexpr double kModelThreshold = 0.02;
constexpr double kLongThreshold = 0.03;
constexpr double kShortThreshold = 0.05;
constexpr Seconds kShort{100e-6};

// Memory repeats exactly, but the allocator rounds. Smaller differences are not changes.
constexpr std::int64_t kMinMemoryBytes = 1 << 20;
constexpr double kMinMemoryChange = 0.005;
// A case that became faster may need this much more memory.
constexpr std::int64_t kPaidMemoryBytes = 64 << 20;
constexpr double kPaidMemoryChange = 0.02;

/// The part of the time's change that must also appear in another measure of the step.
constexpr double kMinSharedPart = 0.5;

using Values = std::vector<double>;

std::optional<double> clock_of(const results::Replicate& replicate) {
  return replicate.time && replicate.sm_clock ? std::optional{replicate.sm_clock->value} : std::nullopt;
}

std::optional<double> cycles_of(const results::Replicate& replicate) {
  if (!replicate.time || !replicate.sm_clock) return std::nullopt;
  return replicate.time->value * replicate.sm_clock->value;
}

void put_dispersion(SideOfCase& side, const results::MeasuredCase& c, const Values& times) {
  side.dispersion = stats::standard_deviation(times);
  if (side.dispersion) return;
  const auto timed = std::ranges::find_if(c.replicates, [](const results::Replicate& r) { return r.time.has_value(); });
  if (timed == c.replicates.end()) return;
  side.dispersion = timed->relative_half_width;
  side.dispersion_is_within = side.dispersion.has_value();
}

double threshold_of(const CaseComparison& c, const CompareOptions& options) {
  return options.tau.value_or(default_threshold(c.id, c.base.time));
}

std::optional<stats::DispersionPrior> prior_of(const std::string& key, const CompareOptions& options) {
  const auto found = options.known_dispersion.find(key);
  if (found == options.known_dispersion.end()) return std::nullopt;
  return found->second;
}

/// Returns the interval of the ratio, or nullopt if the dispersion is so large that a bound is not finite.
std::optional<stats::Interval> ratios(stats::Interval logarithms) {
  const stats::Interval interval{.low = std::exp(logarithms.low), .high = std::exp(logarithms.high)};
  return std::isfinite(interval.low) && std::isfinite(interval.high) ? std::optional{interval} : std::nullopt;
}

/// Fills in the interval of a case with one process per side from the dispersion inside each process, the only one
/// known.
void put_interval_within(CaseComparison& c) {
  if (!c.base.dispersion_is_within || !c.next.dispersion_is_within) return;
  const double half_width = std::hypot(*c.base.dispersion, *c.next.dispersion);
  c.ratio_interval = ratios({.low = std::log(*c.ratio) - half_width, .high = std::log(*c.ratio) + half_width});
  c.interval_is_within = c.ratio_interval.has_value();
}

/// Returns the difference of the mean logarithms; absent unless every replicate that has a time has the measure too.
std::optional<double> difference_of(const results::MeasuredCase& base, const results::MeasuredCase& next,
                                    std::optional<double> (*measure)(const results::Replicate&)) {
  const Values in_base = logarithms(base.replicates, measure);
  const Values in_next = logarithms(next.replicates, measure);
  const bool all_known = in_base.size() == logarithms(base.replicates, time_of).size() &&
                         in_next.size() == logarithms(next.replicates, time_of).size();
  if (!all_known || in_base.empty() || in_next.empty()) return std::nullopt;
  return stats::mean(in_next) - stats::mean(in_base);
}

std::vector<const results::Replicate*> replicates_of(const results::MeasuredCase& base,
                                                     const results::MeasuredCase& next) {
  std::vector<const results::Replicate*> replicates;
  for (const results::MeasuredCase* const side : {&base, &next}) {
    for (const results::Replicate& replicate : side->replicates) replicates.push_back(&replicate);
  }
  return replicates;
}

bool both_ok(const CaseComparison& c) { return c.base.status == Status::kOk && c.next.status == Status::kOk; }

Outcome time_outcome(const CaseComparison& c, std::optional<double> adjusted_p, double false_discovery_rate) {
  if (!is_tested(c)) return known_outcome(c, adjusted_p, false_discovery_rate);
  const stats::ModeratedTest& test = *c.time_test;
  const double limit = std::log1p(c.threshold);
  const bool rejected = *adjusted_p <= false_discovery_rate;
  const bool excludes_zero = test.interval.low > 0 || test.interval.high < 0;
  if (rejected && excludes_zero && std::abs(test.difference) > limit) {
    if (!shares_change(test.difference, c.device_difference)) return Outcome::kHost;
    if (!shares_change(test.difference, c.cycle_difference)) return Outcome::kClock;
    return test.difference > 0 ? Outcome::kRegressed : Outcome::kImproved;
  }
  return test.interval.low > -limit && test.interval.high < limit ? Outcome::kSame : Outcome::kUndecided;
}

/// Returns whether the machine supports the case on neither side, or its memory is too small for it on both.
bool can_run_on_no_side(const CaseComparison& c) {
  const bool cannot_run = c.base.status == Status::kUnsupported || c.base.status == Status::kOom;
  return cannot_run && c.next.status == c.base.status && !is_not_comparable(c.base) && !is_not_comparable(c.next);
}

/// Returns REGRESSED, IMPROVED or SAME, or nullopt if the memory of a side is unknown.
std::optional<Outcome> memory_outcome(const CaseComparison& c) {
  const std::optional<Peaks> peaks = comparable_peaks(c);
  return peaks ? std::optional{compare::memory_outcome(peaks->base, peaks->next)} : std::nullopt;
}

/// Returns WRONG or ERROR if an `ok` case now fails or runs out of memory, IMPROVED for the reverse, otherwise nullopt.
std::optional<Outcome> status_outcome(const CaseComparison& c) {
  if (c.base.status == Status::kOk && c.next.status == Status::kIncorrect) return Outcome::kWrong;
  if (c.base.status == Status::kOk && is_bad(c.next.status)) return Outcome::kError;
  if (is_bad(c.base.status) && c.next.status == Status::kOk) return Outcome::kImproved;
  return std::nullopt;
}

/// Returns whether a faster case may need that much more memory.
bool is_paid_for(Outcome time, const CaseComparison& c) {
  if (time != Outcome::kImproved && time != Outcome::kLikelyFaster) return false;
  const Peaks peaks = comparable_peaks(c).value();
  return static_cast<double>(peaks.next - peaks.base) <=
         std::max(static_cast<double>(kPaidMemoryBytes), kPaidMemoryChange * static_cast<double>(peaks.base));
}

/// Returns the outcome of time and memory together. A regression in either is a regression, unless a shorter time pays
/// for the memory. An improvement in memory counts unless the time contradicts it.
Outcome combined(Outcome time, std::optional<Outcome> memory, const CaseComparison& c) {
  if (memory == Outcome::kRegressed) return is_paid_for(time, c) ? time : Outcome::kRegressed;
  const bool is_open = time == Outcome::kSame || time == Outcome::kUndecided;
  return memory == Outcome::kImproved && is_open ? Outcome::kImproved : time;
}

/// Returns the number of replicates per side with which the interval would lie on one side of the threshold.
std::optional<std::int64_t> replicates_to_decide(const CaseComparison& c) {
  if (c.outcome != Outcome::kUndecided) return std::nullopt;
  if (!is_tested(c)) return static_cast<std::int64_t>(kMinReplicates);
  const double room = std::abs(std::abs(c.time_test->difference) - std::log1p(c.threshold));
  for (std::int64_t count = kMinReplicates; count <= kMaxReplicates; ++count) {
    const auto replicates = static_cast<double>(count);
    constexpr double kTail = 0.025;
    const double half_width = stats::t_upper_quantile(kTail, 2 * replicates - 2) * c.time_test->standard_deviation *
                              std::sqrt(2 / replicates);
    if (half_width < room)
      return std::max(count, static_cast<std::int64_t>(std::min(c.base.replicates, c.next.replicates)) + 1);
  }
  return std::nullopt;
}

void add_note(std::string& note, const std::string& text) {
  if (text.empty()) return;
  if (!note.empty()) note += "; ";
  note += text;
}

std::string memory_note(const CaseComparison& c, std::optional<Outcome> memory) {
  if (!memory || memory == Outcome::kSame) return "";
  constexpr double kMebi = 1 << 20;
  const Peaks peaks = comparable_peaks(c).value();
  return fmt::format("memory {:+.1f} MiB", static_cast<double>(peaks.next - peaks.base) / kMebi);
}

std::string described(const SideOfCase& side) {
  std::string text{to_string(side.status)};
  if (side.of_status < side.replicates) text += fmt::format(" in {} of {}", side.of_status, side.replicates);
  return text;
}

}  // namespace

bool clocks_are_comparable(std::span<const results::Replicate* const> replicates) {
  std::set<results::ClockKind> kinds;
  for (const results::Replicate* const replicate : replicates) {
    if (replicate->clock_kind) kinds.insert(*replicate->clock_kind);
  }
  return kinds.size() < 2;
}

std::optional<Peaks> comparable_peaks(const CaseComparison& c) {
  const auto both = [](std::optional<std::int64_t> base, std::optional<std::int64_t> next) {
    return base && next ? std::optional{Peaks{.base = *base, .next = *next}} : std::nullopt;
  };
  const std::optional<Peaks> requested = both(c.base.requested_peak_bytes, c.next.requested_peak_bytes);
  return requested ? requested : both(c.base.peak_bytes, c.next.peak_bytes);
}

SideOfCase side_of_case(const results::MeasuredCase& c) {
  SideOfCase side;
  const results::Replicate& worst = worst_of(c);
  side.status = worst.status;
  side.reason = worst.reason;
  side.replicates = c.replicates.size();
  side.of_status = static_cast<std::size_t>(std::ranges::count(c.replicates, side.status, &results::Replicate::status));
  const Values times = log_times(c);
  if (!times.empty()) side.time = Seconds{std::exp(stats::mean(times))};
  put_dispersion(side, c, times);
  const Values device_times = logarithms(c.replicates, device_time_of);
  if (!device_times.empty()) side.device_time = Seconds{std::exp(stats::mean(device_times))};
  const Values clocks = logarithms(c.replicates, clock_of);
  if (!clocks.empty()) side.sm_clock = Hertz{std::exp(stats::mean(clocks))};
  Values peak_shares;
  Values shares;
  for (const results::Replicate& replicate : c.replicates) {
    if (replicate.peak_share_at_clock) peak_shares.push_back(*replicate.peak_share_at_clock);
    if (replicate.ceiling_share) shares.push_back(*replicate.ceiling_share);
  }
  side.peak_bytes = peak_of(c);
  side.requested_peak_bytes = requested_peak_of(c);
  if (!peak_shares.empty()) side.peak_share_at_clock = stats::mean(peak_shares);
  if (!shares.empty()) side.ceiling_share = stats::mean(shares);
  return side;
}

double default_threshold(const CaseId& id, std::optional<Seconds> time) {
  if (id.family() == "Model") return kModelThreshold;
  return time && *time < kShort ? kShortThreshold : kLongThreshold;
}

Outcome memory_outcome(std::int64_t base, std::int64_t next) {
  const auto change = static_cast<double>(next - base);
  const double limit = std::max(static_cast<double>(kMinMemoryBytes), kMinMemoryChange * static_cast<double>(base));
  if (change > limit) return Outcome::kRegressed;
  return change < -limit ? Outcome::kImproved : Outcome::kSame;
}

bool shares_change(double time_difference, std::optional<double> other_difference) {
  return !other_difference || (*other_difference * time_difference > 0 &&
                               std::abs(*other_difference) >= kMinSharedPart * std::abs(time_difference));
}

bool is_not_comparable(const SideOfCase& side) {
  return side.status == Status::kUnsupported && side.reason.starts_with(kNotComparable);
}

std::string status_note(const SideOfCase& base, const SideOfCase& next) {
  if (base.status == Status::kOk && next.status == Status::kOk) return "";
  if (is_not_comparable(base) && base.reason == next.reason) return base.reason;
  std::string note = base.status == next.status ? fmt::format("{} on both sides", to_string(base.status))
                                                : fmt::format("{} -> {}", described(base), described(next));
  const std::string& reason = next.status == Status::kOk ? base.reason : next.reason;
  if (!reason.empty()) note += fmt::format(" ({})", reason);
  return note;
}

bool is_tested(const CaseComparison& c) {
  return c.time_test && both_ok(c) && std::min(c.base.replicates, c.next.replicates) >= kMinReplicates;
}

std::optional<double> p_of(const CaseComparison& c) { return is_tested(c) || c.known_test ? c.p_value : std::nullopt; }

bool is_failed(const CaseComparison& c, bool strict) {
  if (!c.outcome || !results::is_failure(*c.outcome, strict)) return false;
  return *c.outcome != Outcome::kNotJudged || !(is_ceiling(c.id) || can_run_on_no_side(c));
}

CaseComparison measure_change(const results::MeasuredCase& base, const results::MeasuredCase& next,
                              const CompareOptions& options, std::optional<Apart> apart) {
  CaseComparison c;
  c.id = base.id;
  c.base = side_of_case(base);
  c.next = side_of_case(next);
  c.threshold = threshold_of(c, options);
  const Values in_base = logarithms(base.replicates, time_of);
  const Values in_next = logarithms(next.replicates, time_of);
  if (in_base.empty() || in_next.empty()) return c;
  c.ratio = *c.next.time / *c.base.time;
  c.device_difference = difference_of(base, next, device_time_of);
  if (c.device_difference) c.device_ratio = std::exp(*c.device_difference);
  if (clocks_are_comparable(replicates_of(base, next))) c.cycle_difference = difference_of(base, next, cycles_of);
  if (c.cycle_difference) c.cycle_ratio = std::exp(*c.cycle_difference);
  if (apart != Apart::kMachines) c.time_test = stats::moderated_t_test(in_base, in_next, prior_of(base.key, options));
  if (c.time_test) {
    c.ratio_interval = ratios(c.time_test->interval);
    c.p_value = c.time_test->p_value;
  } else {
    put_interval_within(c);
  }
  if (c.device_difference && std::min(c.base.replicates, c.next.replicates) >= kMinReplicates) {
    const auto test = stats::moderated_t_test(logarithms(base.replicates, device_time_of),
                                              logarithms(next.replicates, device_time_of));
    c.device_ratio_interval = ratios(test->interval);
  }
  if (is_tested(c)) {
    c.judged_by = Measure::kTime;
  } else if (apart) {
    add_known_test(c, base, next, options, *apart);
  }
  return c;
}

void decide(CaseComparison& c, std::optional<double> adjusted_p, std::size_t comparisons,
            const CompareOptions& options) {
  c.adjusted_p = adjusted_p;
  const std::optional<stats::ModeratedTest>& test = c.known_test ? c.known_test : c.time_test;
  if (test && has_time(c.base.status) && has_time(c.next.status)) {
    const double difference =
        smallest_detectable_difference(*test, options.false_discovery_rate, std::max<std::size_t>(1, comparisons));
    const double change_found = std::expm1(difference);
    if (std::isfinite(change_found)) c.smallest_detectable = std::max(c.threshold, change_found);
  }
  const std::optional<Outcome> memory = memory_outcome(c);
  const std::optional<Outcome> status = status_outcome(c);
  if (!status) c.outcome_of_time = time_outcome(c, adjusted_p, options.false_discovery_rate);
  c.outcome = status ? *status : combined(*c.outcome_of_time, memory, c);
  add_note(c.note, status_note(c.base, c.next));
  add_note(c.note, memory_note(c, memory));
  c.replicates_to_decide = replicates_to_decide(c);
}

}  // namespace tbench::compare
