// Judges one run, called the candidate, against the earlier runs of its machine: whether the run is valid, which cases
// look regressed (suspects), and whether running the suspects again confirms the regression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tbench/compare/sides.hpp"
#include "tbench/gate/gate_report.hpp"
#include "tbench/history/history.hpp"
#include "tbench/history/measured_run.hpp"
#include "tbench/stats/tests.hpp"

namespace tbench::gate {

/// Number of earlier runs that cases and ceilings are compared with, and the minimum that a screen needs.
inline constexpr std::size_t kScreenRuns = 20;
inline constexpr std::size_t kMinScreenRuns = 8;
/// Number of runs at the start of an epoch that are also compared with the kept build, if the epoch began because a
/// fact about the machine changed.
inline constexpr std::size_t kYoungRuns = 3;
/// Number of the last runs that are searched for change points.
inline constexpr std::size_t kTrendRuns = 90;

/// The base and the new build, run in turns, each time in a new process: base, new, new, base.
struct ConfirmationBlock {
  std::vector<compare::ComparisonSide> base;
  std::vector<compare::ComparisonSide> next;
};
inline constexpr std::size_t kConfirmationBlocks = 6;
/// Number of blocks that confirm a creep (a slow drift). Its threshold is half as large, so it needs more blocks: ten
/// blocks find 95 % of the creeps that are twice the threshold, six blocks find 57 %.
inline constexpr std::size_t kCreepBlocks = 10;

/// Runs only the given cases, in the given number of blocks.
using Confirm =
    std::function<std::vector<ConfirmationBlock>(const std::vector<std::string>& names, std::size_t blocks)>;

/// Runs the given cases once, in a separate process.
using RunOnce = std::function<compare::ComparisonSide(const std::vector<std::string>& names)>;

/// Facts about a run as a whole, from the history and from the system clock.
struct NightFacts {
  std::string now;                                       // UTC
  std::int64_t later_runs{};                             // judged runs recorded earlier but dated later
  std::map<std::uint64_t, std::string> known_samples{};  // start of the earlier run with the same samples, by digest
  std::vector<history::ExpectedCase> expected{};
  bool expects_null_control{};  // the last judged run had one
  /// Runs of another machine of the same model, or with another setting, oldest first, if this machine has fewer than
  /// kYoungRuns.
  std::vector<history::PastRun> before{};
  bool is_partial{};  // the run was asked for only some of the expected cases
};

struct GateOptions {
  std::optional<double> tau{};   // threshold, 0.02 for 2 %; if absent, depends on family and length
  std::size_t max_suspects{40};  // confirmed at most; the others stay unconfirmed
  /// Keys of cases whose level in the candidate is the new normal, whatever it is. If there are any, the level of the
  /// machine is the new normal, too.
  std::set<std::string> accepted{};
  /// Earlier runs of other machines of the same model, one vector per machine, oldest first. The series of a case then
  /// includes these runs, scaled to the level of the candidate's machine. Only its own runs decide whether the
  /// candidate's machine has changed.
  std::vector<std::vector<history::PastRun>> other_machines{};
  /// If absent, the run as a whole is not checked. It is absent for a run of one case with an injected slowdown, for
  /// instance.
  std::optional<NightFacts> night{};
  Confirm confirm_last_good{};  // empty if there is no such build
  Confirm confirm_pinned{};
  RunOnce run_last_good{};  // runs the build of confirm_last_good; empty if there is no such build
};

/// Some cases of the same build, measured under two labels.
struct AaControlSides {
  compare::ComparisonSide a;
  compare::ComparisonSide b;
};

/// Judges the candidate, and confirms its suspects if `options` can run a kept build.
/// @param past       oldest first, all before the candidate
/// @param candidate  the run to judge; each case needs a replicate
/// @throws           what the confirmation throws
[[nodiscard]] GateReport judge_run(const std::vector<history::PastRun>& past, const history::MeasuredRun& candidate,
                                   const std::optional<AaControlSides>& null_control, const GateOptions& options);

/// Returns the report of a run in the history, or nullopt if the run was not judged.
/// @throws  UsageError  as History::read_judgement
[[nodiscard]] std::optional<GateReport> recorded_judgement(const history::History& history, std::int64_t run);
/// Records the report as the judgement of a run of the history.
/// @param accepted  as History::record
/// @throws          UsageError  as History::record
void record_judgement(history::History& history, std::int64_t run, const GateReport& report,
                      const std::set<std::string>& accepted);

/// Returns, for CompareOptions::known_dispersion, the standard deviation of each case's ln(time) between the processes
/// of a run. It is pooled over the last kScreenRuns valid runs of `past` in the machine epoch that belongs to `epoch`,
/// the epoch as measured. The less the variances of the runs differ over all cases, the larger is its weight
/// (stats::prior_degrees_of_freedom). Cases with too few degrees of freedom are left out.
[[nodiscard]] std::map<std::string, stats::DispersionPrior> known_dispersions(const std::vector<history::PastRun>& past,
                                                                              const std::string& epoch);

}  // namespace tbench::gate
