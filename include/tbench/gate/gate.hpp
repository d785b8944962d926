// Judging one run, called the candidate, against the earlier runs of its machine: is it valid, which cases look
// regressed (suspects), and does running those again confirm it.
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

/// Earlier runs that the screen and the ceilings are compared with, and how many a screen needs.
inline constexpr std::size_t kScreenRuns = 20;
inline constexpr std::size_t kMinScreenRuns = 8;
/// Runs of an epoch with fewer before them are judged by the kept build, too, if the epoch began with another fact.
inline constexpr std::size_t kYoungRuns = 3;
/// Runs that are searched for change points.
inline constexpr std::size_t kTrendRuns = 90;

/// Base and new build in turns, each in a fresh process: base, new, new, base.
struct ConfirmationBlock {
  std::vector<compare::ComparisonSide> base;
  std::vector<compare::ComparisonSide> next;
};
inline constexpr std::size_t kConfirmationBlocks = 6;
/// Blocks of a creep's confirmation, whose threshold is half as large. Ten blocks find 0.95 of the creeps that are
/// twice the threshold, six find 0.57.
inline constexpr std::size_t kCreepBlocks = 10;

/// Runs the cases given, and no others, in so many blocks.
using Confirm =
    std::function<std::vector<ConfirmationBlock>(const std::vector<std::string>& names, std::size_t blocks)>;

/// Runs the cases given once, in a process of its own.
using RunOnce = std::function<compare::ComparisonSide(const std::vector<std::string>& names)>;

/// Facts about a whole run from the history and from the clock on the wall, next to the earlier runs themselves.
struct NightFacts {
  std::string now;                                       // UTC
  std::int64_t later_runs{};                             // that count, were recorded before, and are dated later
  std::map<std::uint64_t, std::string> known_samples{};  // when an earlier run had samples of this one, by digest
  std::vector<history::ExpectedCase> expected{};
  bool expects_null_control{};  // the last judged run had one
  /// Runs of another machine or setting of the same model, where this one has fewer than kYoungRuns, oldest first.
  std::vector<history::PastRun> before{};
  bool is_partial{};  // the run was to measure a part of what is expected
};

struct GateOptions {
  std::optional<double> tau{};   // threshold, 0.02 for 2 %; absent: by family and length
  std::size_t max_suspects{40};  // confirmed at most; the others stay unconfirmed
  /// Keys of cases whose level in the candidate is the new normal, whatever it is. If there are any, the level of the
  /// machine is the new normal, too.
  std::set<std::string> accepted{};
  /// Earlier runs of other machines of the same model, one vector per machine, oldest first. The series of a case then
  /// has those too, moved to the level of the candidate's machine. Whether the candidate's machine is as usual, its own
  /// runs alone tell.
  std::vector<std::vector<history::PastRun>> other_machines{};
  /// Absent: a run that is no night, of one case with an injected slowdown for instance. Nothing is then asked of the
  /// run as a whole.
  std::optional<NightFacts> night{};
  Confirm confirm_last_good{};  // empty: there is no such build
  Confirm confirm_pinned{};
  RunOnce run_last_good{};  // of the build of confirm_last_good; empty: there is no such build
};

/// Some cases of one build, measured under two labels.
struct AaControlSides {
  compare::ComparisonSide a;
  compare::ComparisonSide b;
};

/// @param past       oldest first, all before the candidate
/// @param candidate  the run to judge; each case needs a replicate
/// @throws           what the confirmation throws
[[nodiscard]] GateReport judge_run(const std::vector<history::PastRun>& past, const history::MeasuredRun& candidate,
                                   const std::optional<AaControlSides>& null_control, const GateOptions& options);

/// How a run of the history was judged; absent if it was not.
/// @throws  UsageError  as History::read_judgement
[[nodiscard]] std::optional<GateReport> recorded_judgement(const history::History& history, std::int64_t run);
/// Records the report as the judgement of a run of the history.
/// @param accepted  as History::record
/// @throws          UsageError  as History::record
void record_judgement(history::History& history, std::int64_t run, const GateReport& report,
                      const std::set<std::string>& accepted);

/// The standard deviation of each case's ln(time) between the processes of a run, pooled over the last kScreenRuns
/// valid runs of `past` in the machine's epoch of `epoch`, which is as measured; its weight is how little the runs'
/// variances differ from each other, over all cases (stats::prior_degrees_of_freedom). Cases with too few degrees of
/// freedom are left out. For CompareOptions::known_dispersion.
[[nodiscard]] std::map<std::string, stats::DispersionPrior> known_dispersions(const std::vector<history::PastRun>& past,
                                                                              const std::string& epoch);

}  // namespace tbench::gate
