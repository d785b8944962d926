// The timer of machines without a GPU: a step has run when its launch returns.
#pragma once

#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// There is no queue here: `enqueue` is 0, `wall` is all drain, and nothing can escape. `while_busy` is called after
/// the last step, outside the times. Work that a step hands to other threads must have ended when its launch returns.
/// There is nothing to hide a launch from either: bursts are so many steps, and caches stay as they are.
class SteadyClockTimer final : public Timer {
 public:
  void prepare(std::size_t max_steps, std::size_t phases) override;
  [[nodiscard]] Chunk time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) override;
  [[nodiscard]] bool can_flush_l2() const override { return false; }
  /// @throws  std::logic_error  if a flush is asked for
  void begin_bursts(const BurstSetup& setup) override;
  [[nodiscard]] Chunk time_bursts(std::size_t count, std::size_t launches, const Step& launch,
                                  const std::function<void()>& while_busy) override;
  void end_bursts() noexcept override { burst_phases_ = 0; }
  [[nodiscard]] Seconds now() const override;
  void wait(Seconds duration) override;

 private:
  [[nodiscard]] Chunk run(std::size_t count, std::size_t phases, const Step& step,
                          const std::function<void()>& while_busy);

  std::size_t phases_{};
  std::size_t burst_phases_{};  // 0 outside begin_bursts() and end_bursts()
  std::vector<double> marks_;   // moments of the marks, kept to allocate nothing inside the timed region
};

}  // namespace tbench::measure
