// The timer of machines without a GPU: a step has run when its launch returns.
#pragma once

#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// There is no queue here: `enqueue` is 0, `wall` is all drain, and nothing can escape. `while_busy` is called after
/// the last step, outside the times. Work that a step hands to other threads must have ended when its launch returns.
class SteadyClockTimer final : public Timer {
 public:
  void prepare(std::size_t max_steps, std::size_t phases) override;
  [[nodiscard]] Chunk time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) override;
  [[nodiscard]] Seconds now() const override;
  void wait(Seconds duration) override;

 private:
  std::size_t phases_{};
  std::vector<double> marks_;  // moments of the marks, kept to allocate nothing inside the timed region
};

}  // namespace tbench::measure
