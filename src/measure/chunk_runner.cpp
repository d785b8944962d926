#include "chunk_runner.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "tbench/measure/stopping.hpp"

namespace tbench::measure {

namespace {

/// Device time of what is waited for at once: a chunk of steps; of bursts, whose rows are means over launches, one.
Seconds device_time(const Chunk& chunk, bool of_one_burst) {
  const Seconds sum{std::accumulate(chunk.phase_seconds.begin(), chunk.phase_seconds.end(), 0.0)};
  return of_one_burst ? sum * static_cast<double>(chunk.launches) / static_cast<double>(chunk.steps()) : sum;
}

void check_times(const Chunk& chunk) {
  for (std::size_t step = 0; step < chunk.steps(); ++step) {
    const double seconds = chunk.step_seconds(step);
    if (!std::isfinite(seconds) || seconds <= 0.0) {
      throw Incorrect{fmt::format("step {} of a chunk of {} took {} s by the timer: a time must be positive and finite",
                                  step, chunk.steps(), seconds)};
    }
  }
}

}  // namespace

Chunk ChunkRunner::steps(std::int64_t count, const std::function<void()>& while_busy) {
  return checked(
      false, [&](const Step& step) { return timer_.time_steps(static_cast<std::size_t>(count), step, while_busy); });
}

Chunk ChunkRunner::bursts(std::int64_t count, std::int64_t launches, const std::function<void()>& while_busy) {
  return checked(true, [&](const Step& step) {
    return timer_.time_bursts(static_cast<std::size_t>(count), static_cast<std::size_t>(launches), step, while_busy);
  });
}

Chunk ChunkRunner::checked(bool is_burst, const std::function<Chunk(const Step&)>& run) {
  const Step step = [this](PhaseMarker& marker) { subject_.launch(marker); };
  const auto escapes = [&](const Chunk& chunk) {
    return chunk.escaped > escape_tolerance(device_time(chunk, is_burst));
  };
  Chunk chunk = run(step);
  if (escapes(chunk)) {
    chunk = run(step);
  }
  if (escapes(chunk)) {
    throw Incorrect{fmt::format(
        "the timed region does not contain the work: the device went on for {:.3g} ms after the last event "
        "({} of {:.3g} ms)",
        to_milliseconds(chunk.escaped), is_burst ? "burst" : "chunk", to_milliseconds(device_time(chunk, is_burst)))};
  }
  check_times(chunk);
  return chunk;
}

}  // namespace tbench::measure
