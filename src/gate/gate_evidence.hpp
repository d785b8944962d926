// The evidence that a run needs before any of its cases is judged: it is whole, its clock is right, it was measured
// now, and the machine was checked. All functions depend only on the run and the history.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tbench/gate/gate.hpp"

namespace tbench::gate {

/// Minimum number of processes of a run.
inline constexpr std::size_t kMinProcesses = 3;

/// Returns the number of processes of the run: the largest number in which any case was measured.
[[nodiscard]] std::size_t processes_of(const std::vector<results::MeasuredCase>& cases);

[[nodiscard]] bool has_ceilings(const std::vector<results::MeasuredCase>& cases);

// evidence/whole.cpp

/// Returns INCOMPLETE if the run was interrupted, planned records are missing, or it has fewer than kMinProcesses
/// processes.
[[nodiscard]] std::optional<Finding> find_gaps(const history::MeasuredRun& run);

/// Returns INCOMPLETE if a ceiling with which a case is compared is not `ok` in kMinProcesses processes. Ceilings are
/// not expected if neither this run nor an earlier run has any.
[[nodiscard]] std::optional<Finding> find_missing_ceilings(const std::vector<history::PastRun>& past,
                                                           const history::MeasuredRun& run);

// evidence/facts.cpp

/// Returns the differences between two environments with the same GPU model: `power limit 700 -> 600 W`.
[[nodiscard]] std::vector<std::string> changed_facts(const Environment& then, const Environment& now);

/// Lists the measurement settings that changed since the last valid run: `min_time_s 0.5 -> 0.05`.
[[nodiscard]] std::vector<std::string> changed_way(const std::vector<history::PastRun>& past,
                                                   const history::MeasuredRun& run);

/// Returns ENVIRONMENT for the first run of an epoch if its machine or its measurement settings differ from the earlier
/// runs. The finding names these facts and how much the cases moved. It does not stop the judging.
/// @param epoch  epoch of the run
/// @param shift  filled in if it is absent
[[nodiscard]] std::optional<Finding> find_changed_facts(const std::vector<history::PastRun>& past,
                                                        const history::MeasuredRun& run, const NightFacts& facts,
                                                        const std::string& epoch, std::optional<EpochShift>& shift,
                                                        std::optional<double> tau);

/// Returns the facts in which the machine differs from the last run before the run's epoch, as long as the epoch has
/// fewer than kYoungRuns runs that count. Returns no facts for an epoch that began with other measurement settings or
/// other ceilings.
/// @param epoch  epoch of the run
[[nodiscard]] std::vector<std::string> facts_of_young_epoch(const std::vector<history::PastRun>& past,
                                                            const history::MeasuredRun& run, const NightFacts& facts,
                                                            const std::string& epoch);

// gate_evidence.cpp

/// Returns INCOMPLETE if the run is dated before an earlier run that counts, or at least an hour in the future.
[[nodiscard]] std::optional<Finding> find_wrong_clock(const history::MeasuredRun& run, const NightFacts& facts);

/// Returns REPLAYED if samples are equal to samples of an earlier run, or of another process of this run.
[[nodiscard]] std::optional<Finding> find_replay(const std::vector<history::PastRun>& past,
                                                 const history::MeasuredRun& run, const NightFacts& facts);

/// Returns ENVIRONMENT if other processes were on the GPU.
[[nodiscard]] std::optional<Finding> find_other_processes(const history::MeasuredRun& run);

/// Returns all of the above findings, and INCOMPLETE if the null control that earlier runs had is missing.
[[nodiscard]] std::vector<Finding> evidence_of(const std::vector<history::PastRun>& past,
                                               const history::MeasuredRun& run, const NightFacts& facts,
                                               bool has_null_control);

}  // namespace tbench::gate
