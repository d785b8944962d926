// The durations of a run's cases: the table, what is said of the whole before the first case, which cases a
// shard has, how much time is left, and whether there is time for another case.
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

/// The table that a run plans by.
struct RunDurations {
  results::DurationTable table;
  std::optional<std::string> gpu;  // the model present; absent: none, or not to be used
  bool is_given{};                 // by --tb_durations

  /// Whether the cases run on the GPU model that the table is of: only then does it tell what fits.
  [[nodiscard]] bool is_of_this_gpu() const { return gpu == table.gpu(); }
};

/// Returns the table of --tb_durations, else the built-in one of the GPU, else the H100's table. Nothing with
/// --tb_durations=off. Nothing either without --tb_durations for runs of a CPU: --tb_device=cpu, and the smoke suite,
/// whose sampling is shorter than in the tables.
/// @param gpu  the model present; nothing: none, or not to be used
/// @throws     UsageError  naming the file, for one that is no table
[[nodiscard]] std::optional<RunDurations> choose_durations(const Options& options, Suite suite,
                                                           const std::optional<std::string>& gpu);

/// Why the table of --tb_durations only estimates: it is of another GPU model. Nothing where it is not.
[[nodiscard]] std::optional<std::string> mismatch_note(const Options& options, const RunDurations& durations);

/// A record of a case that every run behind the table found not to fit, without trying it again. Nothing where the
/// table is of another GPU model or of GPUs with less memory (over 1 %), and with --tb_try_oom.
/// @param durations  null: none are known
[[nodiscard]] std::optional<Record> known_oom(const CaseId& id, const RunDurations* durations,
                                              const Environment& environment, const Options& options);

/// The places that the shard has by the durations. The same wherever selection and table are the same.
[[nodiscard]] Places shard_places(const Selection& selection, const Shard& shard, const results::DurationTable& table);

/// Adds what decided which cases the run has: `durations`, and `shard_places` of a shard.
/// @param places  of the shard; absent: durations did not decide
void record_durations(std::map<std::string, std::string>& recorded, const Options& options,
                      const std::optional<RunDurations>& durations, const std::optional<Places>& places);

/// `65 cases and 6 ceilings in 3 processes, about 8 min on an NVIDIA H100 80GB HBM3; 12 cases without a measured
/// duration are estimated from their neighbours`
/// @param selected   names of the cases of the run; the others of the plan are the ceilings that they need
/// @param durations  null: only how many there are
[[nodiscard]] std::string plan_text(std::span<const ScheduledCase> plan, const std::set<std::string>& selected,
                                    const RunDurations* durations);

/// Expects what the cases of a run take: by the table, times what those that are done took over what the table
/// said, of the same family as far as that is known.
class ExpectedTimes {
 public:
  ExpectedTimes(std::span<const ScheduledCase> plan, const results::DurationTable& table);

  /// @param index  in the plan
  void finished(std::size_t index, Seconds took);
  /// Returns the time of one case: scaled as the whole is, but never less than the table says.
  [[nodiscard]] Seconds at_most(std::size_t index) const;
  /// Returns the time of the cases from `index` on.
  [[nodiscard]] Seconds remaining(std::size_t index) const;

 private:
  struct Sums {
    Seconds expected, measured;
  };
  [[nodiscard]] double overall_factor() const;
  [[nodiscard]] double factor_of(const std::string& family) const;

  std::vector<std::string> families_;  // by place in the plan
  std::vector<Seconds> times_;
  std::map<std::string, Sums> done_;  // by family
  Sums all_done_;
};

/// Whether --tb_stop_after leaves time for a case.
/// @param times    null: without a table, until the time is over
/// @param elapsed  since the program began
/// @param is_first whether no case of this run came before: it runs in any case, so that every run gets on
[[nodiscard]] bool has_time_for(std::size_t index, const ExpectedTimes* times, Seconds elapsed, Seconds stop_after,
                                bool is_first);

/// The command line that goes on with a run: as it was, with --tb_resume.
/// @param words  the program and its arguments
[[nodiscard]] std::string resume_command(std::span<const std::string> words);

}  // namespace tbench::bench
