// Ceiling shares: which Ceiling cases the selected cases are compared with, the rates those reached in this run, and
// the time under which no launch can come by them.
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

/// The Ceiling cases that `cases` are compared with, each once, in the order in which they are first needed. None if
/// there is no Ceiling family. On a GPU, cases in bursts need three: their own; the same chained, for a burst too long
/// to be rested after; and the launch. Chained cases need the gap of the queue beside their own.
/// @throws  std::logic_error  if a family names an unknown ceiling
[[nodiscard]] std::vector<CaseId> ceilings_of(const std::vector<Family>& families, std::span<const CaseId> cases,
                                              bool on_gpu);

/// The rates that the ceilings reached, process by process.
class MeasuredCeilings {
 public:
  /// @param families  outlives this
  explicit MeasuredCeilings(const std::vector<Family>& families) : families_{families} {}

  /// Notes the rate of a Ceiling case that is `ok`: bytes per second, or FLOP/s where no bytes are counted; or the time
  /// of the launch, or the gap of the queue from a traced `queue_gap`, unless it is under 0.2 or over 5 us. Keeps the
  /// best of several repetitions. Ignores every other record.
  /// @param process  the process that measured it, from 0
  void learn(const Record& record, std::int64_t process);

  /// Fills in Record::ceiling_per_second from the same process and the record's own regime, or from the other regime
  /// where the ceiling is not measured in its own (memory is measured in bursts only). A burst too long to be rested
  /// after (cuda::is_rested_after) is held against what the GPU sustains. Leaves it absent for a record without a time,
  /// without a ceiling, or with a warm L2 cache where the ceiling counts bytes read from a cold one.
  ///
  /// For bursts, if the launch was measured with the same state of L2, fills in Record::floor, and says again whether
  /// the time is resolution_limited, by how much of it is a launch. For chained steps, and for `queue_gap` itself,
  /// fills in Record::queue_gap.
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
