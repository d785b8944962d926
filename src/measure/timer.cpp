#include "tbench/measure/timer.hpp"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>

#include "host_time.hpp"

namespace tbench::measure {

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

}  // namespace tbench::measure
