// What is said of a night: the verdicts on its cases and what they rest on. How a night is judged is gate.hpp's, how it
// is printed night_page.hpp's and night_export.hpp's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/units.hpp"

namespace tbench::report {

enum class NightVerdict {
  kRegressed,    // confirmed in the same night by running the kept build and tonight's in turns
  kCreep,        // slower step by step over many nights; not confirmed, for want of the pinned build
  kUnconfirmed,  // looks regressed; not confirmed, for want of the last good build
  kRetried,      // looked regressed, and did not when it was run again
  kClock,        // the time moved, the clock cycles did not
  kInvalid,      // no verdict: not `ok`, or the night or the confirmation failed
  kImproved,     // faster than the nights before
  kNew,          // nothing to compare with yet
  kPassed
};
inline constexpr std::array kAllNightVerdicts{
    NightVerdict::kRegressed, NightVerdict::kCreep, NightVerdict::kUnconfirmed,
    NightVerdict::kRetried,   NightVerdict::kClock, NightVerdict::kInvalid,
    NightVerdict::kImproved,  NightVerdict::kNew,   NightVerdict::kPassed};

/// REGRESSED, CREEP, UNCONFIRMED, RETRIED, CLOCK, INVALID, IMPROVED, NEW, PASSED.
[[nodiscard]] std::string_view to_string(NightVerdict verdict);
[[nodiscard]] std::optional<NightVerdict> parse_night_verdict(std::string_view text);

/// A run of the history, for a person.
struct NightMark {
  std::string started;  // UTC
  std::string commit;
  bool operator==(const NightMark&) const = default;
};

struct NightCase {
  std::string name;
  std::string family;
  std::string key;  // match_key
  NightVerdict verdict{NightVerdict::kPassed};
  std::string found_by;   // what made it a candidate: history, baseline, change point, memory, status; else empty
  std::int64_t nights{};  // that it was compared with
  std::optional<Seconds> reference;  // their median, or the baseline's
  std::optional<Seconds> tonight;    // median of the processes
  std::optional<double> ratio;       // tonight over the reference
  std::optional<double> z;           // robust score against the nights
  double threshold{};                // tau, as a fraction
  std::optional<std::int64_t> peak_bytes;
  std::optional<double> confirmed_ratio;  // of the confirmation: new over kept build
  std::optional<double> confirmed_low;    // its 95 % interval
  std::optional<double> confirmed_high;
  std::optional<double> adjusted_p;  // Holm
  std::int64_t blocks{};             // of the confirmation that could be used
  std::optional<NightMark> last_good;
  std::optional<NightMark> first_bad;
  std::vector<std::string> since;  // what differs between those two's environments
  std::string note;
  bool operator==(const NightCase&) const = default;
};

/// A ceiling of the machine against its median of the last nights.
struct CeilingCheck {
  std::string name;
  double ratio{};      // of the times, tonight over the median
  double tolerance{};  // as a fraction
  bool is_within{};
  bool operator==(const CeilingCheck&) const = default;
};

/// The same build under two labels.
struct NullControl {
  std::int64_t cases{};
  std::vector<std::string> rejected;  // that differ all the same, at 1 %
  bool has_failed{};                  // more than one
  bool operator==(const NullControl&) const = default;
};

struct ShiftOfCase {
  std::string name;
  double ratio{};  // tonight over the median of the epoch before
  bool operator==(const ShiftOfCase&) const = default;
};

/// Driver or libraries changed: what that did, without a verdict.
struct EpochShift {
  std::string from;
  std::string to;
  std::int64_t cases{};
  double mean_ratio{1};             // geometric
  std::vector<ShiftOfCase> beyond;  // cases that moved by more than their threshold, the largest first
  bool operator==(const EpochShift&) const = default;
};

struct NightReport {
  std::string started;
  std::string commit;
  std::string fingerprint;
  std::string epoch;
  std::int64_t processes{};
  std::int64_t nights{};  // valid ones of this epoch in the history
  bool is_valid{true};    // false: ENVIRONMENT, the machine was not as in the nights before; nothing is gated
  std::vector<CeilingCheck> ceilings;
  std::optional<NullControl> null_control;
  std::optional<EpochShift> epoch_shift;
  std::vector<std::string> missing;  // cases of the last valid night that tonight lacks
  std::vector<std::string> stale;    // cases without a valid value for 48 hours
  std::vector<std::string> warnings;
  std::vector<NightCase> cases;  // in the order of the run
  bool operator==(const NightReport&) const = default;
};

inline constexpr int kExitNullControlFailed = 5;

/// 0: nothing regressed, or the night is not valid; kExitRegressed (1); kExitNullControlFailed: two runs of one build
/// differ, so that nothing may fail; with `strict` kExitUncertain (4) where nothing regressed and the night is not
/// valid, or a case is CREEP, UNCONFIRMED, CLOCK or INVALID.
[[nodiscard]] int exit_status(const NightReport& report, bool strict);

/// PASSED, REGRESSED, ENVIRONMENT or NULL_CONTROL_FAILED.
[[nodiscard]] std::string_view outcome_of(const NightReport& report);

/// Whether tonight's build may be kept as the last good one: valid, nothing regressed and nothing left unconfirmed.
[[nodiscard]] bool is_good(const NightReport& report);

[[nodiscard]] std::size_t count_of(const NightReport& report, NightVerdict verdict);

}  // namespace tbench::report
