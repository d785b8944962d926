// The evidence that a run needs before any of its cases is judged: that it is whole, that its clock is right, that it
// was measured now, that the machine was checked. Pure functions of the run and the history.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tbench/gate/gate.hpp"

namespace tbench::gate {

/// Processes that a run needs.
inline constexpr std::size_t kMinProcesses = 3;

/// Processes of the run: of the case that was measured in the most.
[[nodiscard]] std::size_t processes_of(const std::vector<results::MeasuredCase>& cases);

[[nodiscard]] bool has_ceilings(const std::vector<results::MeasuredCase>& cases);

// evidence/whole.cpp

/// INCOMPLETE: it was interrupted, records of its plan are missing, or there are fewer than kMinProcesses processes.
[[nodiscard]] std::optional<Finding> find_gaps(const history::MeasuredRun& run);

/// INCOMPLETE: a ceiling that a case is held against is not `ok` in kMinProcesses processes. Where neither this run nor
/// an earlier one has any ceiling, nobody expects them.
[[nodiscard]] std::optional<Finding> find_missing_ceilings(const std::vector<history::PastRun>& past,
                                                           const history::MeasuredRun& run);

// evidence/facts.cpp

/// Returns the differences between two environments of one model of GPU: `power limit 700 -> 600 W`.
[[nodiscard]] std::vector<std::string> changed_facts(const Environment& then, const Environment& now);

/// Lists the measurement settings that changed since the last valid run: `min_time_s 0.5 -> 0.05`.
[[nodiscard]] std::vector<std::string> changed_way(const std::vector<history::PastRun>& past,
                                                   const history::MeasuredRun& run);

/// ENVIRONMENT, though the run is judged: the first run of an epoch is of a machine or a way of measuring that differs
/// from the runs before in these facts, and its cases moved by so much.
/// @param epoch  of the run
/// @param shift  filled in where it is absent
[[nodiscard]] std::optional<Finding> find_changed_facts(const std::vector<history::PastRun>& past,
                                                        const history::MeasuredRun& run, const NightFacts& facts,
                                                        const std::string& epoch, std::optional<EpochShift>& shift,
                                                        std::optional<double> tau);

/// Returns the facts in which the machine differs from the one before the run's epoch, while the epoch has fewer than
/// kYoungRuns runs that count. Nothing for an epoch that began with another way of measuring or other ceilings.
/// @param epoch  of the run
[[nodiscard]] std::vector<std::string> facts_of_young_epoch(const std::vector<history::PastRun>& past,
                                                            const history::MeasuredRun& run, const NightFacts& facts,
                                                            const std::string& epoch);

// gate_evidence.cpp

/// INCOMPLETE: the run began before an earlier one that counts, or over an hour from now.
[[nodiscard]] std::optional<Finding> find_wrong_clock(const history::MeasuredRun& run, const NightFacts& facts);

/// REPLAYED: samples equal samples of an earlier run, or of another process of this one.
[[nodiscard]] std::optional<Finding> find_replay(const std::vector<history::PastRun>& past,
                                                 const history::MeasuredRun& run, const NightFacts& facts);

/// ENVIRONMENT: other processes were on the GPU.
[[nodiscard]] std::optional<Finding> find_other_processes(const history::MeasuredRun& run);

/// Returns all of the above findings, and INCOMPLETE if the null control that earlier runs had is missing.
[[nodiscard]] std::vector<Finding> evidence_of(const std::vector<history::PastRun>& past,
                                               const history::MeasuredRun& run, const NightFacts& facts,
                                               bool has_null_control);

}  // namespace tbench::gate
