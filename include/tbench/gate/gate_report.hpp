// What the gate says of a run, the candidate: the verdicts on its cases and what they rest on. How it is judged is
// gate.hpp's, how it is printed gate_output.hpp's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/enums.hpp"
#include "tbench/core/units.hpp"

namespace tbench::gate {

enum class Verdict {
  kRegressed,    // confirmed by running the kept build and the candidate's in turns
  kCreep,        // slower step by step over many runs; not confirmed, because there is no pinned build
  kUnconfirmed,  // looks regressed; not confirmed, because there is no last good build
  kRetried,      // looked regressed, but not when run again
  kHost,         // the time moved, that of the GPU in it did not
  kClock,        // the time moved, the clock cycles did not
  kInvalid,      // no verdict: not `ok`, or the run or the confirmation failed
  kImproved,     // faster than the earlier runs
  kNew,          // nothing to compare with
  kPassed
};
inline constexpr std::array kAllVerdicts{
    Verdict::kRegressed, Verdict::kCreep,   Verdict::kUnconfirmed, Verdict::kRetried, Verdict::kHost,
    Verdict::kClock,     Verdict::kInvalid, Verdict::kImproved,    Verdict::kNew,     Verdict::kPassed};

/// Of cases that nothing is sure of: they fail a strict gate. What tells most of what is to be done comes first.
inline constexpr std::array kUncertain{Verdict::kUnconfirmed, Verdict::kCreep, Verdict::kHost, Verdict::kClock,
                                       Verdict::kInvalid};

/// REGRESSED, CREEP, UNCONFIRMED, RETRIED, HOST, CLOCK, INVALID, IMPROVED, NEW, PASSED.
[[nodiscard]] std::string_view to_string(Verdict verdict);
[[nodiscard]] std::optional<Verdict> parse_verdict(std::string_view text);

/// A run of the history, for a reader.
struct RunMark {
  std::string started;  // UTC
  std::string commit;
  bool operator==(const RunMark&) const = default;
};

struct CaseReport {
  std::string name;
  std::string family;
  std::string key;  // match_key
  Verdict verdict{Verdict::kPassed};
  std::string found_by;  // what made it a suspect: history, baseline, change point, memory, status; else empty
  std::int64_t runs{};   // that it was compared with
  std::optional<Seconds> reference;    // their median, or the baseline's
  std::optional<Seconds> candidate;    // median of the processes
  std::optional<double> ratio;         // candidate over the reference
  std::optional<double> device_ratio;  // the same of the GPU's time in a step; absent where too few runs know it
  std::optional<double> z;             // robust score against the earlier runs
  double threshold{};                  // tau, as a fraction
  std::optional<std::int64_t> peak_bytes;
  std::optional<double> confirmed_ratio;  // of the confirmation: new over kept build
  std::optional<double> confirmed_low;    // its 95 % interval
  std::optional<double> confirmed_high;
  std::optional<double> adjusted_p;  // Holm
  std::int64_t blocks{};             // of the confirmation that measured both sides
  std::optional<RunMark> last_good;
  std::optional<RunMark> first_bad;
  std::vector<std::string> since;  // what differs between those two's environments
  std::string note;
  bool operator==(const CaseReport&) const = default;
};

/// What a ceiling is a limit of. The host's wander from night to night, and say nothing of what the GPU computes.
enum class Resource { kDevice, kHost };

/// A ceiling of the machine against its median over the last runs.
struct CeilingCheck {
  std::string name;
  Resource resource{};
  double ratio{};      // of the times, candidate over the median
  double tolerance{};  // as a fraction: of what the ceiling did in earlier runs, at least 1 %
  bool is_within{};
  bool operator==(const CeilingCheck&) const = default;
};

/// The machine is another one from this run on, for good: what its ceilings did. A new epoch begins.
struct MachineChange {
  std::vector<CeilingCheck> ceilings;  // those that moved
  std::int64_t runs{};                 // in which they moved alike, this one included
  bool was_accepted{};                 // by the user; else found because they moved alike
  bool operator==(const MachineChange&) const = default;
};

/// The same build under two labels.
struct NullControl {
  std::int64_t cases{};
  std::vector<std::string> rejected;  // that differ at the 1 % level
  bool has_failed{};                  // more than one
  bool operator==(const NullControl&) const = default;
};

struct ShiftOfCase {
  std::string name;
  double ratio{};  // candidate over the median of the epoch before
  bool operator==(const ShiftOfCase&) const = default;
};

/// What a change of driver or libraries did, without a verdict.
struct EpochShift {
  std::string from;
  std::string to;
  std::int64_t cases{};
  double mean_ratio{1};             // geometric
  std::vector<ShiftOfCase> beyond;  // cases that moved by more than their threshold, the largest first
  bool operator==(const EpochShift&) const = default;
};

struct GateReport {
  std::string started;
  std::string commit;
  std::string fingerprint;
  std::string epoch;
  std::int64_t processes{};
  std::int64_t runs{};        // valid ones of this epoch in the history
  bool is_valid{true};        // false: ENVIRONMENT, the machine differs from earlier runs; nothing is gated
  bool host_is_valid{true};   // false: the host differs; cases that it limits are not gated
  std::int64_t blind_runs{};  // in a row, up to this one, in which nothing could be gated
  std::vector<CeilingCheck> ceilings;
  std::optional<MachineChange> machine_change;
  std::optional<NullControl> null_control;
  std::optional<EpochShift> epoch_shift;
  std::vector<std::string> missing;  // cases of the last valid run that the candidate lacks
  std::vector<std::string> stale;    // cases without a valid value for 48 hours
  std::vector<std::string> warnings;
  std::vector<CaseReport> cases;  // in the order of the run
  bool operator==(const GateReport&) const = default;
};

inline constexpr int kExitNullControlFailed = 5;
inline constexpr int kExitBlind = 6;
/// Runs in a row in which nothing could be gated, from which on the gate says so by its exit status.
inline constexpr std::int64_t kMaxBlindRuns = 3;

/// 0: nothing regressed, or the run is not valid; kExitRegressed (1); kExitNullControlFailed: two runs of one build
/// differ, so that nothing may fail; kExitBlind in place of these two where nothing could be gated in more than
/// kMaxBlindRuns runs in a row; with `strict` kExitUncertain (4) where nothing regressed and the run is not valid, or a
/// case is CREEP, UNCONFIRMED, HOST, CLOCK or INVALID.
[[nodiscard]] int exit_status(const GateReport& report, bool strict);

/// PASSED, REGRESSED, ENVIRONMENT, MACHINE_CHANGED or NULL_CONTROL_FAILED.
[[nodiscard]] std::string_view outcome_of(const GateReport& report);

/// Whether nothing in the run could be gated: the machine was not as in earlier runs, or the null control failed.
[[nodiscard]] bool is_blind(const GateReport& report);

/// Whether the candidate's build may be kept as the last good one: the run is valid, and every case was judged and
/// found right. Not on a machine that just changed: the change hides what the build did.
[[nodiscard]] bool is_good(const GateReport& report);

[[nodiscard]] std::size_t count_of(const GateReport& report, Verdict verdict);

}  // namespace tbench::gate

template <>
struct tbench::EnumNames<tbench::gate::Resource> {
  static constexpr std::array<std::string_view, 2> kNames{"device", "host"};
};
