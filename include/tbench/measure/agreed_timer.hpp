// The timer of a case that several processes run together: after every chunk they agree on one set of times, so that
// every rule of the sampler decides alike in all of them and all take the same number of steps.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// Gives every process the numbers of all of them, in one order. Returns in none before all have called it.
using Gather = std::function<std::vector<std::vector<double>>(std::span<const double> own)>;

/// Takes the times of a chunk from the process for which it took longest, as they are: steps that wait for each other
/// take as long everywhere, but for jitter, and the longest time of each step would add up the jitter of all processes.
class AgreedTimer final : public Timer {
 public:
  /// @param own          times this process; outlives the timer
  /// @param before_step  called before each step is enqueued
  AgreedTimer(
      Timer& own, Gather gather, std::function<void()> before_step = [] {});

  /// Waits for all processes, so that what they did before counts for none of their rules.
  void prepare(std::size_t max_steps, std::size_t phases) override;
  /// Begins when all processes are ready.
  /// @throws  as the own timer; std::logic_error if the processes run different steps; whatever Gather throws
  [[nodiscard]] Chunk time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) override;

  [[nodiscard]] bool can_flush_l2() const override { return false; }
  /// @throws  std::logic_error  processes that wait for each other take chained steps alone
  void begin_bursts(const BurstSetup& setup) override;
  [[nodiscard]] Chunk time_bursts(std::size_t count, std::size_t launches, const Step& launch,
                                  const std::function<void()>& while_busy) override;
  void end_bursts() noexcept override {}

  /// The latest end of a chunk, or of prepare(), in any process, since this timer was made. Stands still in between: a
  /// process that asks waits for none of the others.
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
