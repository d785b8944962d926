#include "tbench/measure/steady_clock_timer.hpp"

#include <algorithm>
#include <span>

#include "host_time.hpp"

namespace tbench::measure {

namespace {

/// Writes the moments of one step's marks into its row; counts, but does not keep, more than fit.
class ClockMarker final : public PhaseMarker {
 public:
  explicit ClockMarker(std::span<double> row) : row_{row} {}
  void mark() override {
    if (marks_ < row_.size()) {
      row_[marks_] = steady_now().value;
    }
    ++marks_;
  }
  [[nodiscard]] std::size_t marks() const { return marks_; }

 private:
  std::span<double> row_;
  std::size_t marks_{};
};

}  // namespace

void SteadyClockTimer::prepare(std::size_t max_steps, std::size_t phases) {
  phases_ = phases;
  marks_.resize(std::max(marks_.size(), max_steps * phases));
}

Chunk SteadyClockTimer::time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) {
  prepare(count, phases_);
  const Seconds cpu_begin = process_cpu_now();
  const Seconds begin = steady_now();
  for (std::size_t i = 0; i < count; ++i) {
    ClockMarker marker{std::span{marks_}.subspan(i * phases_, phases_)};
    step(marker);
    require_marks(i, marker.marks(), phases_);
  }
  const Seconds end = steady_now();
  const Seconds cpu_end = process_cpu_now();
  if (while_busy) {
    while_busy();
  }

  Chunk chunk{.phase_seconds = {},
              .phases = phases_,
              .wall = end - begin,
              .enqueue = {},
              .cpu = cpu_end - cpu_begin,
              .escaped = {}};
  double previous = begin.value;
  for (std::size_t i = 0; i < count * phases_; ++i) {
    chunk.phase_seconds.push_back(marks_[i] - previous);
    previous = marks_[i];
  }
  return chunk;
}

Seconds SteadyClockTimer::now() const { return steady_now(); }

void SteadyClockTimer::wait(Seconds duration) { sleep_for(duration); }

}  // namespace tbench::measure
