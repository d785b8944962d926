#include "tbench/measure/steady_clock_timer.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>

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
  return run(count, phases_, step, while_busy);
}

void SteadyClockTimer::begin_bursts(const BurstSetup& setup) {
  if (setup.flush_l2) {
    throw std::logic_error{"a flush of the L2 cache asked of the steady clock timer: ask can_flush_l2() first"};
  }
  burst_phases_ = setup.phases;
}

Chunk SteadyClockTimer::time_bursts(std::size_t count, std::size_t launches, const Step& launch,
                                    const std::function<void()>& while_busy) {
  require_bursts(burst_phases_, count, launches);
  Chunk chunk = run(count * launches, burst_phases_, launch, while_busy);
  chunk.launches = launches;
  for (std::size_t burst = 0; burst < count; ++burst) {
    for (std::size_t phase = 0; phase < burst_phases_; ++phase) {
      double sum = 0.0;
      for (std::size_t i = 0; i < launches; ++i) {
        sum += chunk.phase_seconds[(burst * launches + i) * burst_phases_ + phase];
      }
      chunk.phase_seconds[burst * burst_phases_ + phase] = sum / static_cast<double>(launches);
    }
  }
  chunk.phase_seconds.resize(count * burst_phases_);
  return chunk;
}

Chunk SteadyClockTimer::run(std::size_t count, std::size_t phases, const Step& step,
                            const std::function<void()>& while_busy) {
  marks_.resize(std::max(marks_.size(), count * phases));
  const Seconds cpu_begin = process_cpu_now();
  const Seconds begin = steady_now();
  for (std::size_t i = 0; i < count; ++i) {
    ClockMarker marker{std::span{marks_}.subspan(i * phases, phases)};
    step(marker);
    require_marks(i, marker.marks(), phases);
  }
  const Seconds end = steady_now();
  const Seconds cpu_end = process_cpu_now();
  if (while_busy) {
    while_busy();
  }

  Chunk chunk{.phase_seconds = {},
              .phases = phases,
              .wall = end - begin,
              .enqueue = {},
              .cpu = cpu_end - cpu_begin,
              .escaped = {}};
  double previous = begin.value;
  for (std::size_t i = 0; i < count * phases; ++i) {
    chunk.phase_seconds.push_back(marks_[i] - previous);
    previous = marks_[i];
  }
  return chunk;
}

Seconds SteadyClockTimer::now() const { return steady_now(); }

void SteadyClockTimer::wait(Seconds duration) { sleep_for(duration); }

}  // namespace tbench::measure
