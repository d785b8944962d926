// The timer of a case that several processes run together. After every chunk the processes agree on one set of times,
// so that the sampler decides alike in all of them and all take the same number of steps.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// Collects the numbers of all processes, in the same order in every process. Blocks until all processes have called
/// it.
using Gather = std::function<std::vector<std::vector<double>>(std::span<const double> own)>;

/// Takes all times of a chunk from the process with the longest total. Steps that wait for each other take equally long
/// in every process, apart from jitter; taking the longest time of each single step would add up the jitter of all
/// processes.
class AgreedTimer final : public Timer {
 public:
  /// Wraps the timer of this process.
  /// @param own          timer of this process; outlives this object
  /// @param before_step  called before each step is enqueued
  AgreedTimer(
      Timer& own, Gather gather, std::function<void()> before_step = [] {});

  /// Waits for all processes, so that earlier work in any of them does not count towards the sampler's time limits.
  void prepare(std::size_t max_steps, std::size_t phases) override;
  /// Begins when all processes are ready.
  /// @throws  the exceptions of the own timer and of Gather; std::logic_error if the processes run different numbers of
  ///          steps
  [[nodiscard]] Chunk time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) override;

  [[nodiscard]] bool can_flush_l2() const override { return false; }
  /// Always throws: processes that wait for each other take chained steps only.
  /// @throws  std::logic_error
  void begin_bursts(const BurstSetup& setup) override;
  [[nodiscard]] Chunk time_bursts(std::size_t count, std::size_t launches, const Step& launch,
                                  const std::function<void()>& while_busy) override;
  void end_bursts() noexcept override {}

  /// The latest end of a chunk, or of prepare(), in any process, counted from the construction of this timer. Does not
  /// advance between chunks, so that reading it never waits for another process.
  [[nodiscard]] Seconds now() const override { return agreed_; }
  [[nodiscard]] bool is_continuous() const override { return false; }
  void wait(Seconds duration) override { own_.wait(duration); }

 private:
  Timer& own_;
  Gather gather_;
  std::function<void()> before_step_;
  Seconds origin_;
  Seconds agreed_;
};

}  // namespace tbench::measure
