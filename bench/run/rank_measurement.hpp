// A worker's part of a case that all ranks run together: the group of ranks, and the timer on which they agree.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/run/stall_watchdog.hpp"
#include "tbench/core/record.hpp"
#include "tbench/core/units.hpp"
#include "tbench/measure/agreed_timer.hpp"
#include "tbench/measure/clock_monitor.hpp"
#include "tbench/measure/sampler.hpp"
#include "tbench/measure/step_tracer.hpp"
#include "tbench/ranks/group.hpp"
#include "tbench/ranks/launch.hpp"

namespace tbench::bench {

class RankMeasurement {
 public:
  /// Waits for the other ranks' workers. If another rank hangs, this worker waits in the driver and cannot give up. It
  /// then reports this through `activity`, as a sign of life, which the hanging rank does not give.
  /// @param timeout   time after which a supervisor gives up on its worker. A worker gives up waiting for another rank
  ///                  after half of it, early enough to report this before its own supervisor gives up.
  /// @param activity  also called on another thread; outlives this object
  /// @throws          std::runtime_error  if the other workers do not come
  RankMeasurement(const ranks::Launch& launch, bool on_gpu, Seconds timeout, measure::Timer& own,
                  const measure::ProgressCallback& activity);

  [[nodiscard]] ranks::Group& group() { return group_; }
  [[nodiscard]] measure::Timer& timer() { return timer_; }
  /// Returns a monitor without readings: each rank would read its own clocks and base its own decisions on them.
  [[nodiscard]] measure::ClockMonitor& monitor() { return monitor_; }
  /// Labels the records that failed because of another rank. Reports an activity first, because leaving a group with a
  /// hanging rank may take long.
  void mark_consequences(std::vector<Record>& records) const;

 private:
  RankMeasurement(const ranks::Launch& launch, const std::string& group, bool on_gpu, Seconds limit,
                  measure::Timer& own, const measure::ProgressCallback& activity);

  const measure::ProgressCallback& activity_;
  std::atomic<std::int64_t> steps_{};
  ranks::Group group_;
  measure::AgreedTimer timer_;
  measure::NoClockMonitor monitor_;
  StallWatchdog watch_;  // last member, because its thread reads the others
};

/// Returns the record of a case for which the other ranks did not come.
[[nodiscard]] std::vector<Record> lost_record(const CaseId& id, const std::string& reason);

/// Makes a tracer that runs on all ranks or on none: start() throws on all ranks if it fails on one. If only some ranks
/// had a tracer, a rank without one would continue and not run the steps that the others trace.
/// @param own     tracer of this rank
/// @param gather  collects from all ranks
[[nodiscard]] std::unique_ptr<measure::StepTracer> make_agreed_tracer(std::unique_ptr<measure::StepTracer> own,
                                                                      measure::Gather gather);

}  // namespace tbench::bench
