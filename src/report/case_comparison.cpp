#include "case_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tbench::report {
namespace {

// Thresholds below which a change is of no interest: what hosts, drivers and temperatures do to steps of this length.
constexpr double kModelThreshold = 0.02;
constexpr double kLongThreshold = 0.03;
constexpr double kShortThreshold = 0.05;
constexpr Seconds kShort{100e-6};

// Memory repeats exactly, but the allocator rounds: less than this is no change.
constexpr std::int64_t kLeastBytes = 1 << 20;
constexpr double kLeastMemoryChange = 0.005;

/// Of the time's change, what has to be in the cycles too.
constexpr double kLeastCycleShare = 0.5;

using Values = std::vector<double>;

Values logarithms(std::span<const Replicate> replicates,
                  const std::function<std::optional<double>(const Replicate&)>& of) {
  Values values;
  for (const Replicate& replicate : replicates) {
    if (const std::optional<double> value = of(replicate)) values.push_back(std::log(*value));
  }
  return values;
}

std::optional<double> time_of(const Replicate& replicate) {
  return replicate.time ? std::optional{replicate.time->value} : std::nullopt;
}

std::optional<double> clock_of(const Replicate& replicate) {
  return replicate.time && replicate.sm_clock ? std::optional{replicate.sm_clock->value} : std::nullopt;
}

std::optional<double> cycles_of(const Replicate& replicate) {
  if (!replicate.time || !replicate.sm_clock) return std::nullopt;
  return replicate.time->value * replicate.sm_clock->value;
}

void put_spread(SideOfCase& side, const ComparedCase& c, const Values& times) {
  side.spread = standard_deviation(times);
  if (side.spread) return;
  const auto timed = std::ranges::find_if(c.replicates, [](const Replicate& r) { return r.time.has_value(); });
  if (timed == c.replicates.end()) return;
  side.spread = timed->relative_half_width;
  side.spread_is_within = side.spread.has_value();
}

double threshold_of(const CaseComparison& c, const CompareOptions& options) {
  return options.tau.value_or(default_threshold(c.id, c.base.time));
}

std::optional<SpreadPrior> prior_of(const std::string& key, const CompareOptions& options) {
  const auto found = options.known_spread.find(key);
  if (found == options.known_spread.end()) return std::nullopt;
  return SpreadPrior{.standard_deviation = found->second};
}

/// Nothing where the spread is so large that a bound is no number.
std::optional<Interval> ratios(Interval logarithms) {
  const Interval interval{.low = std::exp(logarithms.low), .high = std::exp(logarithms.high)};
  return std::isfinite(interval.low) && std::isfinite(interval.high) ? std::optional{interval} : std::nullopt;
}

/// With one process a side the only spread that there is comes from inside them.
void put_interval_within(CaseComparison& c) {
  if (!c.base.spread_is_within || !c.next.spread_is_within) return;
  const double half_width = std::hypot(*c.base.spread, *c.next.spread);
  c.ratio_interval = ratios({.low = std::log(*c.ratio) - half_width, .high = std::log(*c.ratio) + half_width});
  c.interval_is_within = c.ratio_interval.has_value();
}

std::optional<double> cycle_difference(const ComparedCase& base, const ComparedCase& next) {
  const Values in_base = logarithms(base.replicates, cycles_of);
  const Values in_next = logarithms(next.replicates, cycles_of);
  const bool all_known = in_base.size() == logarithms(base.replicates, time_of).size() &&
                         in_next.size() == logarithms(next.replicates, time_of).size();
  if (!all_known || in_base.empty() || in_next.empty()) return std::nullopt;
  return mean(in_next) - mean(in_base);
}

bool both_ok(const CaseComparison& c) { return c.base.status == Status::kOk && c.next.status == Status::kOk; }

/// Without clocks the time alone has to do.
bool cycles_agree(const ChangeOfCase& change) {
  return !change.cycle_difference || report::cycles_agree(change.time_test->difference, *change.cycle_difference);
}

Verdict time_verdict(const ChangeOfCase& change, std::optional<double> adjusted_p, double false_discovery_rate) {
  const CaseComparison& c = change.result;
  if (!both_ok(c)) return Verdict::kInvalid;
  if (!change.is_tested) return Verdict::kInsufficient;
  const ModeratedTest& test = *change.time_test;
  const double limit = std::log1p(c.threshold);
  const bool rejected = *adjusted_p <= false_discovery_rate;
  const bool excludes_zero = test.interval.low > 0 || test.interval.high < 0;
  if (rejected && excludes_zero && std::abs(test.difference) > limit) {
    if (!cycles_agree(change)) return Verdict::kClock;
    return test.difference > 0 ? Verdict::kRegressed : Verdict::kImproved;
  }
  return test.interval.low > -limit && test.interval.high < limit ? Verdict::kSame : Verdict::kAmbiguous;
}

/// REGRESSED, IMPROVED or SAME; nothing where a side's memory is unknown.
std::optional<Verdict> memory_verdict(const CaseComparison& c) {
  if (!c.base.peak_bytes || !c.next.peak_bytes) return std::nullopt;
  return report::memory_verdict(*c.base.peak_bytes, *c.next.peak_bytes);
}

/// `ok` that became a failure or ran out of memory, and the mirror image; nothing otherwise.
std::optional<Verdict> status_verdict(const CaseComparison& c) {
  if (c.base.status == Status::kOk && is_bad(c.next.status)) return Verdict::kRegressed;
  if (is_bad(c.base.status) && c.next.status == Status::kOk) return Verdict::kImproved;
  return std::nullopt;
}

/// A regression in anything is one; an improvement in memory counts where the time has nothing against it.
Verdict combined(Verdict time, std::optional<Verdict> memory) {
  if (memory == Verdict::kRegressed) return Verdict::kRegressed;
  const bool is_open = time == Verdict::kSame || time == Verdict::kInsufficient;
  return memory == Verdict::kImproved && is_open ? Verdict::kImproved : time;
}

void add_note(std::string& note, const std::string& text) {
  if (text.empty()) return;
  if (!note.empty()) note += "; ";
  note += text;
}

std::string memory_note(const CaseComparison& c, std::optional<Verdict> memory) {
  if (!memory || memory == Verdict::kSame) return "";
  constexpr double kMebi = 1 << 20;
  return fmt::format("memory {:+.1f} MiB", static_cast<double>(*c.next.peak_bytes - *c.base.peak_bytes) / kMebi);
}

std::string described(const SideOfCase& side) {
  std::string text{to_string(side.status)};
  if (side.of_status < side.replicates) text += fmt::format(" in {} of {}", side.of_status, side.replicates);
  return text;
}

}  // namespace

int severity(Status status) {
  if (is_failure(status)) return 4;
  if (status == Status::kOom) return 3;
  if (status == Status::kUnsupported) return 2;
  return status == Status::kOk ? 0 : 1;
}

SideOfCase side_of_case(const ComparedCase& c) {
  SideOfCase side;
  const auto worst =
      std::ranges::max_element(c.replicates, {}, [](const Replicate& replicate) { return severity(replicate.status); });
  side.status = worst->status;
  side.reason = worst->reason;
  side.replicates = c.replicates.size();
  side.of_status = static_cast<std::size_t>(std::ranges::count(c.replicates, side.status, &Replicate::status));
  const Values times = logarithms(c.replicates, time_of);
  if (!times.empty()) side.time = Seconds{std::exp(mean(times))};
  put_spread(side, c, times);
  const Values clocks = logarithms(c.replicates, clock_of);
  if (!clocks.empty()) side.sm_clock = Hertz{std::exp(mean(clocks))};
  Values shares;
  for (const Replicate& replicate : c.replicates) {
    if (replicate.ceiling_share) shares.push_back(*replicate.ceiling_share);
    if (replicate.peak_bytes) side.peak_bytes = std::max(side.peak_bytes.value_or(0), *replicate.peak_bytes);
  }
  if (!shares.empty()) side.ceiling_share = mean(shares);
  return side;
}

double default_threshold(const CaseId& id, std::optional<Seconds> time) {
  if (id.family() == "Model") return kModelThreshold;
  return time && *time < kShort ? kShortThreshold : kLongThreshold;
}

Verdict memory_verdict(std::int64_t base, std::int64_t next) {
  const auto change = static_cast<double>(next - base);
  const double limit = std::max(static_cast<double>(kLeastBytes), kLeastMemoryChange * static_cast<double>(base));
  if (change > limit) return Verdict::kRegressed;
  return change < -limit ? Verdict::kImproved : Verdict::kSame;
}

bool is_bad(Status status) { return is_failure(status) || status == Status::kOom; }

bool cycles_agree(double time_difference, double cycle_difference) {
  return cycle_difference * time_difference > 0 &&
         std::abs(cycle_difference) >= kLeastCycleShare * std::abs(time_difference);
}

std::string status_note(const SideOfCase& base, const SideOfCase& next) {
  if (base.status == Status::kOk && next.status == Status::kOk) return "";
  std::string note = base.status == next.status ? fmt::format("{} on both sides", to_string(base.status))
                                                : fmt::format("{} -> {}", described(base), described(next));
  const std::string& reason = next.status == Status::kOk ? base.reason : next.reason;
  if (!reason.empty()) note += fmt::format(" ({})", reason);
  return note;
}

ChangeOfCase measure_change(const ComparedCase& base, const ComparedCase& next, const CompareOptions& options) {
  ChangeOfCase change;
  CaseComparison& c = change.result;
  c.id = base.id;
  c.base = side_of_case(base);
  c.next = side_of_case(next);
  c.threshold = threshold_of(c, options);
  const Values in_base = logarithms(base.replicates, time_of);
  const Values in_next = logarithms(next.replicates, time_of);
  if (in_base.empty() || in_next.empty()) return change;
  c.ratio = *c.next.time / *c.base.time;
  change.cycle_difference = cycle_difference(base, next);
  if (change.cycle_difference) c.cycle_ratio = std::exp(*change.cycle_difference);
  change.time_test = moderated_t_test(in_base, in_next, prior_of(base.key, options));
  if (change.time_test) {
    c.ratio_interval = ratios(change.time_test->interval);
    c.p_value = change.time_test->p_value;
  } else {
    put_interval_within(c);
  }
  change.is_tested = change.time_test && both_ok(c) && std::min(in_base.size(), in_next.size()) >= kLeastReplicates;
  return change;
}

void decide(ChangeOfCase& change, std::optional<double> adjusted_p, std::size_t comparisons,
            const CompareOptions& options) {
  CaseComparison& c = change.result;
  c.adjusted_p = adjusted_p;
  if (change.time_test && both_ok(c)) {
    const double difference = smallest_detectable_difference(*change.time_test, options.false_discovery_rate,
                                                             std::max<std::size_t>(1, comparisons));
    const double change_found = std::expm1(difference);
    if (std::isfinite(change_found)) c.smallest_detectable = std::max(c.threshold, change_found);
  }
  const std::optional<Verdict> memory = memory_verdict(c);
  const std::optional<Verdict> status = status_verdict(c);
  c.verdict = status ? *status : combined(time_verdict(change, adjusted_p, options.false_discovery_rate), memory);
  add_note(c.note, status_note(c.base, c.next));
  add_note(c.note, memory_note(c, memory));
}

}  // namespace tbench::report
