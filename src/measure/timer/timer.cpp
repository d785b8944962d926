#include "tbench/measure/timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <stdexcept>

#include "measure/timer/host_time.hpp"

namespace tbench::measure {
namespace {

/// Writes the times of one step's marks into its row. Counts marks that do not fit without storing them.
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

double Chunk::step_seconds(std::size_t step) const {
  if (step >= steps()) {
    throw std::out_of_range{fmt::format("step {} of a chunk of {}", step, steps())};
  }
  const auto first = phase_seconds.begin() + static_cast<std::ptrdiff_t>(step * phases);
  return std::accumulate(first, first + static_cast<std::ptrdiff_t>(phases), 0.0);
}

void require_marks(std::size_t step, std::size_t marks, std::size_t phases) {
  if (marks != phases) {
    throw std::logic_error{fmt::format(
        "step {} of a chunk marked the end of {} phases, but has {}: its launch() must mark each phase once", step,
        marks, phases)};
  }
}

void require_bursts(std::size_t phases, std::size_t count, std::size_t launches) {
  if (phases == 0) {
    throw std::logic_error{"bursts asked of a timer that was not prepared for them: call begin_bursts()"};
  }
  if (count == 0 || launches == 0) {
    throw std::logic_error{fmt::format("{} bursts of {} launches asked for: both must be above 0", count, launches)};
  }
}

void SteadyClockTimer::prepare(std::size_t max_steps, std::size_t phases) {
  phases_ = phases;
  marks_.resize(std::max(marks_.size(), max_steps * phases));
}

Chunk SteadyClockTimer::time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) {
  return run(count, {.phases = phases_}, step, while_busy);
}

void SteadyClockTimer::begin_bursts(const BurstSetup& setup) {
  if (setup.flush_l2) {
    throw std::logic_error{"a flush of the L2 cache asked of the steady clock timer: ask can_flush_l2() first"};
  }
  bursts_ = setup;
}

Chunk SteadyClockTimer::time_bursts(std::size_t count, std::size_t launches, const Step& launch,
                                    const std::function<void()>& while_busy) {
  const std::size_t phases = bursts_.phases;
  require_bursts(phases, count, launches);
  Chunk chunk = run(count * launches, bursts_, launch, while_busy);
  chunk.launches = launches;
  for (std::size_t burst = 0; burst < count; ++burst) {
    for (std::size_t phase = 0; phase < phases; ++phase) {
      double sum = 0.0;
      for (std::size_t i = 0; i < launches; ++i) {
        sum += chunk.phase_seconds[(burst * launches + i) * phases + phase];
      }
      chunk.phase_seconds[burst * phases + phase] = sum / static_cast<double>(launches);
    }
  }
  chunk.phase_seconds.resize(count * phases);
  return chunk;
}

Chunk SteadyClockTimer::run(std::size_t count, const BurstSetup& setup, const Step& step,
                            const std::function<void()>& while_busy) {
  const std::size_t phases = setup.phases;
  LaunchChecker* const checker = setup.checker;
  marks_.resize(std::max(marks_.size(), count * phases));
  watched_begins_.resize(checker == nullptr ? 0 : count);
  const Seconds cpu_begin = process_cpu_now();
  const Seconds begin = steady_now();
  for (std::size_t i = 0; i < count; ++i) {
    if (checker != nullptr) {
      checker->redraw();
      checker->perturb();
      watched_begins_[i] = steady_now().value;
    }
    ClockMarker marker{std::span{marks_}.subspan(i * phases, phases)};
    step(marker);
    require_marks(i, marker.marks(), phases);
    if (checker != nullptr) {
      checker->after();
    }
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
              .escaped = {},
              .made_again = {}};
  double previous = begin.value;
  for (std::size_t i = 0; i < count * phases; ++i) {
    if (checker != nullptr && i % phases == 0) {
      previous = watched_begins_[i / phases];
    }
    chunk.phase_seconds.push_back(marks_[i] - previous);
    previous = marks_[i];
  }
  return chunk;
}

Seconds SteadyClockTimer::now() const { return steady_now(); }

void SteadyClockTimer::wait(Seconds duration) { sleep_for(duration); }

}  // namespace tbench::measure
