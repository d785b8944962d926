// The steps of judging a run, in their order: what the earlier runs say of each case, whether the machine is as in
// them, which cases look regressed (suspects), and what running those again says.
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

// gate_reference.cpp: what the earlier runs say of each case.

/// One case in one past run. Points into the past.
struct CaseRun {
  const history::PastRun* past;
  const results::MeasuredCase* measured;
  Status status{};                                   // the worst of the processes
  std::optional<double> value;                       // ln of the median time in seconds, where every process is `ok`
  std::optional<double> device_value;                // GPU time per step, if every process has it
  std::optional<std::int64_t> peak_bytes;            // in the allocator's blocks
  std::optional<std::int64_t> requested_peak_bytes;  // bytes that tensors requested
  /// Counts as the normal level of the case: of a valid run, `ok`, not confirmed as a regression.
  bool is_reference{};
};

/// A case's runs of one epoch, oldest first, from its baseline on.
using CaseRuns = std::vector<CaseRun>;

/// Runs by the match_key of their case.
using RunsByCase = std::unordered_map<std::string, CaseRuns>;

[[nodiscard]] RunsByCase runs_by_case(const std::vector<history::PastRun>& past, const std::string& epoch);
/// Empty for a case that no run measured.
[[nodiscard]] const CaseRuns& runs_of(const RunsByCase& runs, const std::string& key);

/// Like the public overload, over runs that are grouped already.
[[nodiscard]] std::map<std::string, stats::DispersionPrior> known_dispersions(const RunsByCase& runs);

/// The reference runs, oldest first.
[[nodiscard]] std::vector<const CaseRun*> references_of(const CaseRuns& runs);
/// The last `count` of them, or all.
[[nodiscard]] std::vector<const CaseRun*> newest(const std::vector<const CaseRun*>& runs, std::size_t count);
[[nodiscard]] std::vector<double> values_of(const std::vector<const CaseRun*>& runs);

// gate_pool.cpp: what the runs of other machines say of each case.

/// Adds the valid runs of other machines to the runs of the candidate's machine, each moved by the difference of the
/// two machines' levels: the medians over their reference runs. A case takes part where both machines have three of
/// these, and where there are then enough for a screen.
/// @param measured  the candidate's epoch as measured; machines take part with their runs of the same software, each of
///                  their own machine epochs for itself
void add_other_machines(RunsByCase& runs, const std::vector<std::vector<history::PastRun>>& machines,
                        const std::string& measured);

// gate_machine.cpp: whether a run says anything about the build: ceilings, null control, driver, gaps.

/// Each ceiling of the candidate against its median over the last valid runs: of the device those that a case of the
/// candidate is held against, of the host all. Within 1 %, or within the interval that the next value of all of a
/// resource's ceilings together leaves in three of 1,000 runs, where that is wider; values of invalid runs count as far
/// as the valid ones' interval reaches. Ceilings that fewer than three valid runs measured are left out.
[[nodiscard]] std::vector<CeilingCheck> check_ceilings(const RunsByCase& runs, const history::MeasuredRun& candidate);

/// Whether the ceilings of a resource are all within their tolerance.
[[nodiscard]] bool are_within(const std::vector<CeilingCheck>& ceilings, Resource resource);

/// The epoch that a run belongs to: as measured, or the last one of its machine.
[[nodiscard]] std::string current_epoch(const std::vector<history::PastRun>& past, const std::string& measured);

/// Tells of a candidate whose device ceilings are off whether the machine changed for good, that is whether three of
/// the last five runs, this one included, were off, and every ceiling that is off now differs among them by no more
/// than its tolerance. Absent if not.
/// @param epoch  result of current_epoch
[[nodiscard]] std::optional<MachineChange> machine_change(const std::vector<history::PastRun>& past,
                                                          const std::string& epoch,
                                                          const history::MeasuredRun& candidate,
                                                          const std::vector<CeilingCheck>& ceilings);

/// Runs in a row before the candidate in which nothing could be gated; one that was not judged to its end is one.
[[nodiscard]] std::int64_t blind_runs_before(const std::vector<history::PastRun>& past);

/// @param known_dispersion  as CompareOptions::known_dispersion
[[nodiscard]] AaControl check_aa_control(const AaControlSides& sides,
                                         const std::map<std::string, stats::DispersionPrior>& known_dispersion);

/// Returns how the cases moved since the epoch of the last valid run, or nullopt if there is none.
/// @param epoch  of the candidate
[[nodiscard]] std::optional<EpochShift> shift_from(const std::vector<history::PastRun>& past, const std::string& epoch,
                                                   const history::MeasuredRun& candidate, std::optional<double> tau);

/// On the first valid run of an epoch, how the cases moved; otherwise nothing.
/// @param epoch  of the candidate
[[nodiscard]] std::optional<EpochShift> epoch_shift(const std::vector<history::PastRun>& past, const std::string& epoch,
                                                    const history::MeasuredRun& candidate, std::optional<double> tau);

/// Cases whose last valid value is more than 48 hours before the candidate, and less than 30 days.
/// @param others              the runs of other machines that count as well
/// @param candidate_is_valid  its values count
[[nodiscard]] std::vector<std::string> stale_cases(const std::vector<history::PastRun>& past,
                                                   const std::vector<std::vector<history::PastRun>>& others,
                                                   const history::MeasuredRun& candidate, bool candidate_is_valid);

// evidence/expected.cpp: the cases expected of every run.

/// Reports each expected case that the candidate lacks: MISSING, since when, and its possible new name.
/// @param judged  the candidate's cases: of those that are NEW, one may be a missing one under another name
[[nodiscard]] std::vector<CaseReport> missing_cases(const std::vector<history::PastRun>& past,
                                                    const history::MeasuredRun& candidate, const NightFacts& facts,
                                                    const std::vector<CaseReport>& judged);

// evidence/failure.cpp: faults that do not depend on other runs.

/// Returns ERROR, FLAKY or WRONG for a case that did not end as `ok` or `unstable` in every process, or nullopt if
/// it did.
[[nodiscard]] std::optional<Outcome> failure_of(const results::MeasuredCase& c);
/// `incorrect in 2 of 5 processes: REASON`.
[[nodiscard]] std::string failure_text(const results::MeasuredCase& c);

/// Returns why no GPU can be as fast as a process of the case reports, or nullopt if one can.
[[nodiscard]] std::optional<std::string> impossible_speed(const results::MeasuredCase& c,
                                                          const Environment& environment);

// gate_screen.cpp: which cases look regressed, and are measured again.

/// A case of the candidate on its way to a verdict. Points into the candidate and the past.
struct CaseVerdict {
  CaseReport result;
  const results::MeasuredCase* measured{};
  const CaseRuns* runs{};
  std::vector<const CaseRun*> reference;  // into `runs`
  std::optional<double> value;            // as CaseRun::value
  bool is_suspect{};                      // changed from one run to another
  bool has_failed{};                      // did not end as it should in some process, and did before
  bool creeps{};                          // its level may have risen slowly over many runs: worth running again
  bool creeps_clearly{};                  // it did, as far as the runs tell
  bool is_split{};                        // some of its processes alone are slower
  double limit{};                         // for a split: ln of the time above which a process is slow
};

/// The rise that a creep has to come to when it is run again. Half of it is there long before, since the screen looks
/// at many runs.
inline constexpr double kCreepThreshold = 0.005;

/// Screens for faults that need no machine to judge by: failures of cases that ran before, and speeds that are
/// impossible. All other cases are NOT_JUDGED.
void screen_failures(std::vector<CaseVerdict>& cases, const Environment& environment);

/// IMPOSSIBLE, in place of what their times were found to be, for speeds that no GPU has.
void screen_impossible(std::vector<CaseVerdict>& cases, const Environment& environment);

/// Fills in everything that needs no confirmation: verdicts of cases that are not suspects, what the suspects were
/// found by and since when.
void screen(std::vector<CaseVerdict>& cases, const std::map<std::string, stats::DispersionPrior>& known_dispersion,
            std::optional<double> tau);

/// The score, of a value or of a trend, beyond which nobody runs a case again.
inline constexpr double kClearScore = 4;

void become_suspect(CaseVerdict& c, const char* found_by);

/// Last good, first bad, and what differs between them.
/// @param bad  nullptr: the candidate itself, whose environment the caller compares
void put_since(CaseReport& c, const CaseRun* good, const CaseRun* bad);

// gate_kept_build.cpp: what the kept build says where the earlier runs are too few.

/// Runs the kept build on the cases, once. What differs from the candidate by more than two processes of one build do,
/// in either direction, is then to be confirmed. A case of which no such spread is known differs beyond its threshold.
/// @param cases  screened
/// @throws       what `run` throws
[[nodiscard]] KeptBuildRun screen_by_kept_build(std::vector<CaseVerdict>& cases, const Environment& environment,
                                                const RunOnce& run, std::optional<double> tau);

// gate_drift.cpp: what the median of one run does not show.

/// Some processes slower beyond the threshold, which the median of all does not show.
/// @param usual  ln of the time
/// @param limit  ln of the time from which on a process is slow
void find_split(CaseVerdict& c, const std::vector<const CaseRun*>& reference, double usual, double limit);

/// A rise over many runs, of whatever form: a baseline of one run, or of twenty, would miss one that is slow.
void find_creep(CaseVerdict& c);

/// Says of a case that creeps by how much and since when.
void tell_creep(CaseVerdict& c);

// gate_confirmation.cpp: the kept build and the candidate, run alternately.

/// Gives every suspect its verdict.
/// @param confirm       if empty, there is no kept build and the suspects stay UNCONFIRMED
/// @param max_suspects  run again at most, failures first, then the largest slowdowns
/// @throws              what `confirm` throws
void confirm_suspects(std::vector<CaseVerdict*> suspects, const Confirm& confirm, std::size_t max_suspects);

/// Evaluates cases that are faster: IMPROVED, confirmed where the blocks show it, too, otherwise RETRIED. If there are
/// more than `max_suspects`, the largest speed-ups are run again, and the others are confirmed where all of these are.
void confirm_improvements(std::vector<CaseVerdict*> faster, const Confirm& confirm, std::size_t max_suspects);

/// Evaluates cases that creep, against the pinned build and kCreepThreshold: CREEP, confirmed where it is beyond that,
/// and RETRIED where it is under half of that. Among cases that are not run again only those that creep clearly are
/// CREEP.
void confirm_creeps(std::vector<CaseVerdict*> suspects, const Confirm& confirm, std::size_t max_suspects);

/// Evaluates cases with slow processes: SPLIT, confirmed where the candidate's build has a larger share of them than
/// the kept one, otherwise RETRIED.
void confirm_splits(std::vector<CaseVerdict*> suspects, const Confirm& confirm, std::size_t max_suspects);

/// `2 of 5 processes slower by 48.0 to 52.0 %`.
/// @param limit  ln of the time from which on a process is slow
[[nodiscard]] std::string split_text(const results::MeasuredCase& c, double limit, Seconds usual);

}  // namespace tbench::gate
