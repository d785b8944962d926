// Ceiling shares: the Ceiling cases with which the selected cases are compared, the rates that they reached in this
// run, and the shortest time that a launch can have.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/families/family.hpp"
#include "tbench/core/record.hpp"

namespace tbench::bench {

/// Returns the Ceiling cases with which `cases` are compared, each once, in the order of first need; none without a
/// Ceiling family. On a GPU a case in bursts needs three: its own ceiling in bursts, the same ceiling in chained steps
/// (for a burst that is too long to be rested after), and the launch. A chained case needs its own ceiling and the
/// queue gap.
/// @param beside  ceilings that a study's tables need, too (Selection::ceilings); they come last
/// @throws  std::logic_error  if a family names an unknown ceiling
[[nodiscard]] std::vector<CaseId> ceilings_of(const std::vector<Family>& families, std::span<const CaseId> cases,
                                              std::span<const CaseId> beside, bool on_gpu);

/// The rates that the ceilings reached, by process.
class MeasuredCeilings {
 public:
  /// Begins without any measured ceiling.
  /// @param families  families that outlive this object
  explicit MeasuredCeilings(const std::vector<Family>& families) : families_{families} {}

  /// Notes the result of a Ceiling case that is `ok`. The result is its rate in bytes per second (in FLOP/s if it
  /// counts no bytes), the time of the launch, or the queue gap of a traced `queue_gap` if it is between 0.2 and 5 us.
  /// Keeps the best of several repetitions. Ignores all other records.
  /// @param process  the process that measured it, from 0
  void learn(const Record& record, std::int64_t process);

  /// Fills in Record::ceiling_per_second from the same process and regime, or from the other regime if the ceiling is
  /// not measured in the record's own (memory is measured in bursts only). A burst too long to be rested after
  /// (cuda::is_rested_after) is compared with the GPU's sustained rate. Leaves the field absent for a record without a
  /// time or without a ceiling, and for one with a warm L2 cache if the ceiling counts bytes read with a cold cache.
  ///
  /// For bursts, if the launch was measured with the same L2 state, also fills in Record::floor and updates
  /// resolution_limited from the launch's share of the time. For chained steps, and for `queue_gap` itself, fills in
  /// Record::queue_gap.
  void hold(Record& record, std::int64_t process) const;

 private:
  struct Rate {
    double per_second{};
    std::optional<L2State> l2;
    bool is_of_bytes{};
  };
  struct Launch {
    Seconds time;
    std::optional<L2State> l2;
  };
  void learn_launch(const Record& record, std::int64_t process);
  void learn_queue_gap(const Record& record, std::int64_t process);
  void hold_against_ceiling(Record& record, std::int64_t process) const;
  void hold_against_launch(Record& record, std::int64_t process) const;

  const std::vector<Family>& families_;
  std::map<std::pair<std::int64_t, std::string>, Rate> rates_;  // by process and case name
  std::map<std::int64_t, Launch> launches_;                     // by process
  std::map<std::int64_t, Seconds> queue_gaps_;                  // by process
};

}  // namespace tbench::bench
