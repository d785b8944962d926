// A worker's part of a case that all ranks run together: the group of them, and the timer on which they agree.
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
  /// Waits for the other ranks' workers. While this one then waits for another that hangs, and cannot give up because
  /// it waits in the driver, it says so by `activity`: it gives a sign of life, and the rank that hangs does not.
  /// @param timeout  after which a supervisor gives its worker up. Who waits for another rank gives up after half of
  ///                 that: it then tells so in time, and the rank that hangs is the one that does not.
  /// @param activity  is called in another thread, too; outlives the measurement
  /// @throws         std::runtime_error  if they do not come
  RankMeasurement(const ranks::Launch& launch, bool on_gpu, Seconds timeout, measure::Timer& own,
                  const measure::ProgressCallback& activity);

  [[nodiscard]] ranks::Group& group() { return group_; }
  [[nodiscard]] measure::Timer& timer() { return timer_; }
  /// Clocks are read in each rank by itself, and would make each decide by itself: nobody reads them.
  [[nodiscard]] measure::ClockMonitor& monitor() { return monitor_; }
  /// Labels what failed because of another rank. To leave a group in which one hangs may take long: says so.
  void mark_consequences(std::vector<Record>& records) const;

 private:
  RankMeasurement(const ranks::Launch& launch, const std::string& group, bool on_gpu, Seconds limit,
                  measure::Timer& own, const measure::ProgressCallback& activity);

  const measure::ProgressCallback& activity_;
  std::atomic<std::int64_t> steps_{};
  ranks::Group group_;
  measure::AgreedTimer timer_;
  measure::NoClockMonitor monitor_;
  StallWatchdog watch_;  // the last: its thread reads the others
};

/// The records of a case to which the other ranks did not come.
[[nodiscard]] std::vector<Record> lost_record(const CaseId& id, const std::string& reason);

/// A rank that cannot be traced would go on without the steps that the others then make: start() throws on all ranks
/// if it does on one.
/// @param own     traces this rank
/// @param gather  of all ranks
[[nodiscard]] std::unique_ptr<measure::StepTracer> make_agreed_tracer(std::unique_ptr<measure::StepTracer> own,
                                                                      measure::Gather gather);

}  // namespace tbench::bench
