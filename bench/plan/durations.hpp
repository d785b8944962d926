// Planning by durations: the table of case durations, the estimate shown before the first case, the cases of a shard,
// the time that is left, and whether it is enough for another case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bench/cli/options.hpp"
#include "bench/plan/run_plan.hpp"
#include "bench/plan/selection.hpp"
#include "tbench/core/environment.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/core/units.hpp"
#include "tbench/results/durations.hpp"

namespace tbench::bench {

/// The table of durations by which a run is planned.
struct RunDurations {
  results::DurationTable table;
  std::optional<std::string> gpu;  // the GPU model present; absent if there is none, or if it is not used
  bool is_given{};                 // whether --tb_durations gave the table

  /// Whether the cases run on the GPU model of the table; only then does the table tell which cases fit.
  [[nodiscard]] bool is_of_this_gpu() const { return gpu == table.gpu(); }
};

/// Returns the table of --tb_durations. Without this option it returns the built-in table of the GPU model, or the
/// H100's table if the model has none. Returns nullopt with --tb_durations=off. Without --tb_durations it also returns
/// nullopt for runs on a CPU (--tb_device=cpu), and for the smoke suite, which samples for a shorter time than the
/// tables assume.
/// @param gpu  the GPU model present; nullopt if there is none, or if it is not used
/// @throws     UsageError  naming the file, if it is not a table
[[nodiscard]] std::optional<RunDurations> choose_durations(const Options& options, Suite suite,
                                                           const std::optional<std::string>& gpu);

/// Returns a note that the table of --tb_durations only gives estimates because it is for another GPU model. Returns
/// nullopt in all other cases.
[[nodiscard]] std::optional<std::string> mismatch_note(const Options& options, const RunDurations& durations);

/// Returns the `oom` record of a case that did not fit in any of the runs from which the table was made, without
/// running it. Returns nullopt if the table is of another GPU model or of GPUs with less memory (by over 1 %), and with
/// --tb_try_oom.
/// @param durations  null if unknown
[[nodiscard]] std::optional<Record> known_oom(const CaseId& id, const RunDurations* durations,
                                              const Environment& environment, const Options& options);

/// Returns the positions of the cases that belong to the shard, balanced by the durations. The result depends only on
/// the selection, the shard and the table.
[[nodiscard]] Places shard_places(const Selection& selection, const Shard& shard, const results::DurationTable& table);

/// Adds the inputs that decided which cases the run has: `durations`, and for a shard `shard_places`.
/// @param places  positions of the shard's cases; absent if durations did not decide
void record_durations(std::map<std::string, std::string>& recorded, const Options& options,
                      const std::optional<RunDurations>& durations, const std::optional<Places>& places);

/// Returns the announcement of a run: `65 cases and 6 ceilings in 3 processes, about 8 min on an NVIDIA H100 80GB HBM3;
/// 12 cases without a measured duration are estimated from their neighbours`
/// @param selected   names of the selected cases; the plan's other cases are their ceilings
/// @param durations  null: the text gives only the numbers of cases
[[nodiscard]] std::string plan_text(std::span<const ScheduledCase> plan, const std::set<std::string>& selected,
                                    const RunDurations* durations);

/// Predicts the time of a run's cases: the table's time, multiplied by the measured over the expected time of the cases
/// done so far. The cases of the same family decide once there are enough of them.
class ExpectedTimes {
 public:
  ExpectedTimes(std::span<const ScheduledCase> plan, const results::DurationTable& table);

  /// Adds the measured time of a case.
  /// @param index  position in the plan
  void finished(std::size_t index, Seconds took);
  /// Returns an upper estimate for one case: scaled like the whole, but never less than the table's time.
  [[nodiscard]] Seconds at_most(std::size_t index) const;
  /// Returns the time of the cases from `index` on.
  [[nodiscard]] Seconds remaining(std::size_t index) const;

 private:
  struct Sums {
    Seconds expected, measured;
  };
  [[nodiscard]] double overall_factor() const;
  [[nodiscard]] double factor_of(const std::string& family) const;

  std::vector<std::string> families_;  // by position in the plan
  std::vector<Seconds> times_;
  std::map<std::string, Sums> done_;  // by family
  Sums all_done_;
};

/// Whether --tb_stop_after leaves time for a case.
/// @param times    null without a table; then there is time until the limit has passed
/// @param elapsed  time since the program began
/// @param is_first whether it is the run's first case, which always runs, so that every run makes progress
[[nodiscard]] bool has_time_for(std::size_t index, const ExpectedTimes* times, Seconds elapsed, Seconds stop_after,
                                bool is_first);

/// Returns the command line that continues a run: the original words, with --tb_resume.
/// @param words  the program and its arguments
[[nodiscard]] std::string resume_command(std::span<const std::string> words);

}  // namespace tbench::bench
