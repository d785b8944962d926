// The steps in which a run is judged, in their order: collect the earlier runs of each case, check that the machine has
// not changed, find the cases that look regressed (suspects), and run the suspects again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tbench/gate/gate.hpp"

namespace tbench::gate {

// gate_reference.cpp: the earlier runs of each case.

/// One case in one past run. The pointers point into the past.
struct CaseRun {
  const history::PastRun* past;
  const results::MeasuredCase* measured;
  Status status{};                         // the worst status of its processes
  std::optional<double> value;             // ln of the median time in seconds, if every process is `ok`
  std::optional<double> device_value;      // ln of the GPU's time per step in seconds, if every process has it
  std::optional<std::int64_t> peak_bytes;  // in the allocator's blocks
  std::optional<std::int64_t> requested_peak_bytes;  // bytes that tensors requested
  /// Whether it counts as the normal level of the case: the run is valid, and the case is `ok` and no confirmed
  /// regression.
  bool is_reference{};
};

/// The runs of a case in one epoch from its baseline on, oldest first.
using CaseRuns = std::vector<CaseRun>;

/// The runs of every case, by its match_key.
using RunsByCase = std::unordered_map<std::string, CaseRuns>;

[[nodiscard]] RunsByCase runs_by_case(const std::vector<history::PastRun>& past, const std::string& epoch);
/// Returns the runs of a case; empty if no run measured it.
[[nodiscard]] const CaseRuns& runs_of(const RunsByCase& runs, const std::string& key);

/// Works like the public overload, for runs that are already grouped by case.
[[nodiscard]] std::map<std::string, stats::DispersionPrior> known_dispersions(const RunsByCase& runs);

/// Returns the reference runs, oldest first.
[[nodiscard]] std::vector<const CaseRun*> references_of(const CaseRuns& runs);
/// Returns the last `count` runs, or all if there are fewer.
[[nodiscard]] std::vector<const CaseRun*> newest(const std::vector<const CaseRun*>& runs, std::size_t count);
[[nodiscard]] std::vector<double> values_of(const std::vector<const CaseRun*>& runs);

// gate_pool.cpp: the runs of other machines of the same model.

/// Adds the valid runs of other machines to the runs of the candidate's machine. The values of a machine are shifted by
/// the difference between the two machines' levels, the medians over their reference runs. This applies to cases with
/// three reference runs on both machines, if a screen then has enough runs.
/// @param measured  epoch of the candidate as measured. Runs of other machines are added if their software is the same;
///                  each machine epoch has a level of its own
void add_other_machines(RunsByCase& runs, const std::vector<std::vector<history::PastRun>>& machines,
                        const std::string& measured);

// gate_machine.cpp: whether the run can tell anything about the build: ceilings, null control, driver and gaps.

/// Compares ceilings of the candidate with their medians over the last valid runs: the device's ceilings with which its
/// cases are compared, and all ceilings of the host. A ceiling may differ by 1 %, or by the half-width of its
/// prediction interval if that is wider. The intervals are so wide that in three of 1,000 runs chance takes any ceiling
/// of a resource out of its own. Values of invalid runs count if they lie within the interval of the valid runs.
/// Ceilings that fewer than three valid runs measured are left out.
[[nodiscard]] std::vector<CeilingCheck> check_ceilings(const RunsByCase& runs, const history::MeasuredRun& candidate);

/// Whether all ceilings of a resource are within their tolerances.
[[nodiscard]] bool are_within(const std::vector<CeilingCheck>& ceilings, Resource resource);

/// Returns the epoch of a run: the epoch as measured, or the last machine epoch that belongs to it.
[[nodiscard]] std::string current_epoch(const std::vector<history::PastRun>& past, const std::string& measured);

/// Returns the permanent change of the machine if the candidate's device ceilings show one: they were out of tolerance
/// in three of the last five runs, including this one, and the values of every such ceiling in these runs agree within
/// its tolerance. Otherwise returns nullopt.
/// @param epoch  result of current_epoch()
[[nodiscard]] std::optional<MachineChange> machine_change(const std::vector<history::PastRun>& past,
                                                          const std::string& epoch,
                                                          const history::MeasuredRun& candidate,
                                                          const std::vector<CeilingCheck>& ceilings);

/// Counts the consecutive runs right before the candidate in which no case could be gated. A run whose judgement was
/// not finished counts.
[[nodiscard]] std::int64_t blind_runs_before(const std::vector<history::PastRun>& past);

/// Compares the two sides of the A/A control.
/// @param known_dispersion  see CompareOptions::known_dispersion
[[nodiscard]] AaControl check_aa_control(const AaControlSides& sides,
                                         const std::map<std::string, stats::DispersionPrior>& known_dispersion);

/// Returns the shift of the cases from the epoch of the last valid run to the candidate, or nullopt without such a run.
/// @param epoch  epoch of the candidate
[[nodiscard]] std::optional<EpochShift> shift_from(const std::vector<history::PastRun>& past, const std::string& epoch,
                                                   const history::MeasuredRun& candidate, std::optional<double> tau);

/// Returns shift_from() for the first valid run of an epoch, otherwise nullopt.
/// @param epoch  epoch of the candidate
[[nodiscard]] std::optional<EpochShift> epoch_shift(const std::vector<history::PastRun>& past, const std::string& epoch,
                                                    const history::MeasuredRun& candidate, std::optional<double> tau);

/// Returns the cases whose last valid value is more than 48 hours and less than 30 days older than the candidate.
/// @param others              runs of other machines, whose values count, too
/// @param candidate_is_valid  whether the candidate's own values count
[[nodiscard]] std::vector<std::string> stale_cases(const std::vector<history::PastRun>& past,
                                                   const std::vector<std::vector<history::PastRun>>& others,
                                                   const history::MeasuredRun& candidate, bool candidate_is_valid);

// evidence/expected.cpp: the cases that every run is expected to have.

/// Reports each expected case that the candidate lacks as MISSING, with the date since when and a possible new name.
/// @param judged  the candidate's cases; a NEW one may be a missing case under another name
[[nodiscard]] std::vector<CaseReport> missing_cases(const std::vector<history::PastRun>& past,
                                                    const history::MeasuredRun& candidate, const NightFacts& facts,
                                                    const std::vector<CaseReport>& judged);

// evidence/failure.cpp: faults that do not depend on other runs.

/// Returns ERROR, FLAKY or WRONG for a case that did not end as `ok` or `unstable` in every process, or nullopt if
/// it did.
[[nodiscard]] std::optional<Outcome> failure_of(const results::MeasuredCase& c);
/// Describes a failure: `incorrect in 2 of 5 processes: REASON`.
[[nodiscard]] std::string failure_text(const results::MeasuredCase& c);

/// Returns why the speed that a process of the case reports is impossible on this GPU, or nullopt if it is possible.
[[nodiscard]] std::optional<std::string> impossible_speed(const results::MeasuredCase& c,
                                                          const Environment& environment);

// gate_screen.cpp: the cases that look regressed and are run again.

/// A case of the candidate and what is known of its verdict so far. The pointers point into the candidate and the past.
struct CaseVerdict {
  CaseReport result;
  const results::MeasuredCase* measured{};
  const CaseRuns* runs{};
  std::vector<const CaseRun*> reference;  // elements of `runs`
  std::optional<double> value;            // see CaseRun::value
  bool is_suspect{};                      // whether it changed from one run to the next
  bool has_failed{};                      // whether it failed in a process and did not fail in earlier runs
  bool creeps{};          // whether its level may have risen slowly over many runs, so that it is run again
  bool creeps_clearly{};  // whether the runs show such a rise clearly
  bool is_split{};        // whether only some of its processes are slower
  double limit{};         // for a split: ln of the time above which a process is slow
};

/// The rise that confirms a creep when the case is run again. The screen, which looks at many runs, finds a creep long
/// before it has reached half of this rise.
inline constexpr double kCreepThreshold = 0.005;

/// Finds the faults that can be judged even if the machine changed: failures of cases that ran before, and impossible
/// speeds. All other cases become NOT_JUDGED.
void screen_failures(std::vector<CaseVerdict>& cases, const Environment& environment);

/// Replaces the verdict of cases with impossible speeds by IMPOSSIBLE.
void screen_impossible(std::vector<CaseVerdict>& cases, const Environment& environment);

/// Fills in everything that needs no confirmation: the verdicts of cases that are not suspects, and for suspects the
/// reason and the date since when.
void screen(std::vector<CaseVerdict>& cases, const std::map<std::string, stats::DispersionPrior>& known_dispersion,
            std::optional<double> tau);

/// The score of a value or a trend above which a change is clear without running the case again.
inline constexpr double kClearScore = 4;

void become_suspect(CaseVerdict& c, const char* found_by);

/// Puts into the report the median time of `usual`, and the ratio of the candidate's median time to it. Leaves the
/// report as it is if a side has no time.
void put_change(CaseReport& c, const results::MeasuredCase& usual);

/// Puts into the report the last good run, the first bad run, and the differences between their environments.
/// @param bad  first bad run; null for the candidate itself, whose environment the caller compares
void put_since(CaseReport& c, const CaseRun* good, const CaseRun* bad);

// gate_kept_build.cpp: the run of the kept build where there are too few earlier runs.

/// Runs the cases once with the kept build. A case that differs from the candidate, in either direction, by more than
/// two processes of the same build do becomes a suspect. If no spread is known for a case, its threshold is the limit.
/// @param cases  cases after screen()
/// @throws       any exception of `run`
[[nodiscard]] KeptBuildRun screen_by_kept_build(std::vector<CaseVerdict>& cases, const Environment& environment,
                                                const RunOnce& run, std::optional<double> tau);

// gate_drift.cpp: changes that the median of one run does not show.

/// Finds a case of which only some processes are slower than the threshold, so that the median does not show it.
/// @param usual  ln of the usual time
/// @param limit  ln of the time above which a process is slow
void find_split(CaseVerdict& c, const std::vector<const CaseRun*>& reference, double usual, double limit);

/// Finds a rise of any form over many runs. A comparison with one earlier run, or with twenty, misses a slow rise.
void find_creep(CaseVerdict& c);

/// Puts the size of a creep and its date into the report.
void tell_creep(CaseVerdict& c);

// gate_confirmation.cpp: the kept build and the candidate, run alternately.

/// Gives every suspect its verdict.
/// @param confirm       runs the cases again; if empty, there is no kept build and the suspects stay UNCONFIRMED
/// @param max_suspects  maximum number of cases that are run again: failures first, then the largest slowdowns
/// @throws              any exception of `confirm`
void confirm_suspects(std::vector<CaseVerdict*> suspects, const Confirm& confirm, std::size_t max_suspects);

/// Gives cases that are faster their verdict: IMPROVED and confirmed if the blocks are faster, too, otherwise RETRIED.
/// If there are more than `max_suspects`, only the largest speed-ups are run again. The other cases count as confirmed
/// if all of these are.
void confirm_improvements(std::vector<CaseVerdict*> faster, const Confirm& confirm, std::size_t max_suspects);

/// Compares cases that creep with the pinned build. A rise above kCreepThreshold is a confirmed CREEP, and a rise below
/// half of it is RETRIED; between the two the case is a CREEP that is not confirmed. A case that is not run again is a
/// CREEP only if it creeps clearly.
void confirm_creeps(std::vector<CaseVerdict*> suspects, const Confirm& confirm, std::size_t max_suspects);

/// Gives cases with slow processes their verdict: SPLIT and confirmed if the candidate's build has a larger share of
/// slow processes than the kept build, otherwise RETRIED.
void confirm_splits(std::vector<CaseVerdict*> suspects, const Confirm& confirm, std::size_t max_suspects);

/// Describes a split: `2 of 5 processes slower by 48.0 to 52.0 %`.
/// @param limit  ln of the time above which a process is slow
[[nodiscard]] std::string split_text(const results::MeasuredCase& c, double limit, Seconds usual);

}  // namespace tbench::gate
