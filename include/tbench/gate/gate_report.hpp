// The gate's report on a run, the candidate: the verdicts on its cases and the evidence for them. gate.hpp judges,
// gate_output.hpp prints.
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
#include "tbench/results/outcome.hpp"

namespace tbench::gate {

using results::Headline;
using results::Outcome;

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
  Outcome outcome{Outcome::kSame};
  std::string
      found_by;         // the check that made it a suspect: history, baseline, change point, memory, status; else empty
  std::int64_t runs{};  // number of runs compared with
  std::optional<Seconds> reference;    // median of these runs; with few runs, the median of the middle run's processes
  std::optional<Seconds> candidate;    // median of the processes
  std::optional<double> ratio;         // candidate over reference
  std::optional<double> device_ratio;  // ratio of the GPU time per step; absent if too few runs have it
  std::optional<double> z;             // robust score against the earlier runs
  double threshold{};                  // tau, as a fraction
  std::optional<std::int64_t> peak_bytes;
  std::optional<double> confirmed_ratio;  // ratio in the confirmation: new over kept build
  std::optional<double> confirmed_low;    // its 95 % interval
  std::optional<double> confirmed_high;
  std::optional<double> adjusted_p;  // Holm
  std::int64_t blocks{};             // of the confirmation that measured both sides
  bool is_confirmed{};               // by running the kept build and the candidate's in turns
  bool is_expected{true};            // false if no earlier run had a valid value
  std::optional<RunMark> last_good;
  std::optional<RunMark> first_bad;
  std::vector<std::string> since;  // differences between the environments of the two runs
  std::string note;
  bool operator==(const CaseReport&) const = default;
};

/// The resource that a ceiling limits. Ceilings of the host vary from run to run and are independent of the GPU's
/// computation.
enum class Resource { kDevice, kHost };

/// A ceiling of the machine, compared with its median over the last runs.
struct CeilingCheck {
  std::string name;
  Resource resource{};
  double ratio{};      // ratio of the times, candidate over the median
  double tolerance{};  // as a fraction: from the ceiling's spread in earlier runs, at least 1 %
  bool is_within{};
  bool operator==(const CeilingCheck&) const = default;
};

/// A permanent change of the machine from this run on, with the ceilings that show it. A new epoch begins.
struct MachineChange {
  std::vector<CeilingCheck> ceilings;  // the ceilings that moved
  std::int64_t runs{};                 // runs in which they moved alike, this run included
  bool was_accepted{};                 // accepted by the user; if false, found because the ceilings moved alike
  bool operator==(const MachineChange&) const = default;
};

/// The comparison of a build with itself under two labels.
struct AaControl {
  std::int64_t cases{};
  std::vector<std::string> rejected;  // cases that differ at the 1 % level
  bool has_failed{};                  // more than one case was rejected
  bool operator==(const AaControl&) const = default;
};

struct ShiftOfCase {
  std::string name;
  double ratio{};  // candidate over the median of the epoch before
  bool operator==(const ShiftOfCase&) const = default;
};

/// The effect of a change of the machine, its settings, the libraries or the way of measuring, without a verdict.
struct EpochShift {
  std::string from;
  std::string to;
  std::int64_t cases{};
  double mean_ratio{1};  // geometric
  double low_ratio{1};   // ratio of the case that moved down most
  double high_ratio{1};
  std::vector<ShiftOfCase> beyond;  // cases that moved by more than their threshold, the largest first
  bool operator==(const EpochShift&) const = default;
};

/// The subject of a finding: a part of the evidence about a run.
enum class Subject { kWhole, kClock, kCeilings, kNullControl, kMachine, kHeartbeat };

/// A fact about the run as a whole that its cases do not show.
struct Finding {
  Outcome outcome{};
  Subject subject{};
  std::string text;      // with the numbers that it rests on
  bool stops_judging{};  // no case of the run is judged
  bool operator==(const Finding&) const = default;
};

/// A run of the kept build next to one of the first runs of an epoch that began with another machine or setting, and
/// thus has no earlier runs to compare with.
struct KeptBuildRun {
  std::int64_t cases{};                // cases that both builds measured; 0 if there is no kept build or it was not run
  std::vector<std::string> lacking;    // expected cases that the kept build has no time of
  std::vector<std::string> differing;  // cases that differ by more than two processes of the same build do
  bool operator==(const KeptBuildRun&) const = default;
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
  std::optional<AaControl> null_control;
  std::optional<EpochShift> epoch_shift;
  std::optional<KeptBuildRun> kept_build_run;  // absent if the epoch has enough earlier runs
  std::vector<Finding> findings;               // of gate_evidence
  bool is_partial{};                           // only some of the expected cases were asked for: judged, but never kept
  bool is_checked{true};                       // ceilings and a null control were there to check the machine
  std::vector<std::string> missing;            // names of the cases that are MISSING
  std::vector<std::string> stale;              // cases without a valid value for 48 hours
  std::vector<std::string> warnings;
  std::vector<CaseReport> cases;  // in the order of the run
  bool operator==(const GateReport&) const = default;
};

using results::kExitBlind;
using results::kExitNullControlFailed;
using results::kExitRegressed;
using results::kExitUncertain;
/// Number of consecutive runs without a gated case after which BLIND sets the exit status.
inline constexpr std::int64_t kMaxBlindRuns = 3;

/// Returns the exit status of the gravest outcome whose status is not 0, or 0 without such an outcome. kExitUncertain
/// counts only with `strict`.
[[nodiscard]] int exit_status(const GateReport& report, bool strict);

/// Returns the gravest outcome of the run and its cases; SAME for a run without cases.
[[nodiscard]] Outcome outcome_of(const GateReport& report);
/// Returns FAILED if the exit status is not 0 even without --strict, REVIEW if only with it, otherwise PASSED.
[[nodiscard]] results::Headline headline_of(const GateReport& report);

/// Whether the run can tell anything about the build: it is complete, the machine has not changed, and the null control
/// did not fail.
[[nodiscard]] bool is_judged(const GateReport& report);

/// Whether a case of a judged run counts as the normal level for later runs. An UNDECIDED case does: without its runs
/// there would never be enough to decide it.
[[nodiscard]] bool is_baseline(const CaseReport& c);

/// Counts the IMPROVED cases whose improvement was not confirmed when the kept build and this one ran in turns.
[[nodiscard]] std::size_t unconfirmed_improvements(const GateReport& report);

/// Whether the candidate's build may be kept as the last good one: its run was judged and the machine was checked, no
/// outcome is graver than HOST, and every IMPROVED case was confirmed. On a machine that has just changed, the kept
/// build must also have been run on every case next to it, since the change hides the effect of the build.
[[nodiscard]] bool is_good(const GateReport& report);

[[nodiscard]] std::size_t count_of(const GateReport& report, Outcome outcome);
/// Counts the outcomes of the cases.
[[nodiscard]] results::OutcomeCounts count_outcomes(const GateReport& report);
/// Counts the outcomes of the cases and of the run as a whole.
[[nodiscard]] results::OutcomeCounts count_all_outcomes(const GateReport& report);

}  // namespace tbench::gate

template <>
struct tbench::EnumNames<tbench::gate::Subject> {
  static constexpr std::array<std::string_view, 6> kNames{"whole",        "clock",   "ceilings",
                                                          "null control", "machine", "heartbeat"};
};

template <>
struct tbench::EnumNames<tbench::gate::Resource> {
  static constexpr std::array<std::string_view, 2> kNames{"device", "host"};
};
