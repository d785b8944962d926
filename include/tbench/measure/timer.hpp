// Times a chunk of back-to-back steps. Two implementations: CUDA events, and a steady clock where there is no GPU.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tbench/core/units.hpp"
#include "tbench/measure/case.hpp"

namespace tbench::measure {

/// Times of one chunk of n steps with p phases each.
struct Chunk {
  std::vector<double> phase_seconds;  // [n, p], row by row: from the previous mark to this one
  std::size_t phases{};
  Seconds wall;     // host: from before the first step to the device's end
  Seconds enqueue;  // host: from before the first step to after the last was enqueued
  Seconds cpu;      // processor time of the process over `wall`
  /// Device time that passed after the last mark before the device was idle: work that the marks do not enclose.
  Seconds escaped;

  [[nodiscard]] std::size_t steps() const { return phases == 0 ? 0 : phase_seconds.size() / phases; }
  [[nodiscard]] double step_seconds(std::size_t step) const;
};

using Step = std::function<void(PhaseMarker&)>;

class Timer {
 public:
  virtual ~Timer() = default;

  /// Makes whatever time_steps() needs for up to `max_steps` steps of `phases` phases, so that nothing is created
  /// inside a timed region.
  virtual void prepare(std::size_t max_steps, std::size_t phases) = 0;

  /// Runs `step` `count` times back to back, without synchronising in between, and waits for the end.
  /// @param while_busy  called once everything is enqueued, before waiting: the moment to read clocks
  /// @throws  std::logic_error  if a step does not mark each of its phases exactly once
  [[nodiscard]] virtual Chunk time_steps(std::size_t count, const Step& step,
                                         const std::function<void()>& while_busy) = 0;

  /// Host time from an arbitrary origin.
  [[nodiscard]] virtual Seconds now() const = 0;
  /// Waits on the host, e.g. for a hot device to cool.
  virtual void wait(Seconds duration) = 0;
};

}  // namespace tbench::measure
