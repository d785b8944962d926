#include "tbench/measure/agreed_timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace tbench::measure {
namespace {

// The fields of a process's message about its chunk; phase_seconds follows them.
enum Field : std::size_t { kNow, kSteps, kWall, kEnqueue, kCpu, kEscaped, kFields };

std::vector<double> numbers_of(const Chunk& chunk, Seconds now) {
  std::vector<double> numbers(kFields);
  numbers[kNow] = now.value;
  numbers[kSteps] = static_cast<double>(chunk.steps());
  numbers[kWall] = chunk.wall.value;
  numbers[kEnqueue] = chunk.enqueue.value;
  numbers[kCpu] = chunk.cpu.value;
  numbers[kEscaped] = chunk.escaped.value;
  numbers.insert(numbers.end(), chunk.phase_seconds.begin(), chunk.phase_seconds.end());
  return numbers;
}

double largest(const std::vector<std::vector<double>>& all, Field field) {
  return std::ranges::max(all, {}, [&](const std::vector<double>& numbers) { return numbers[field]; })[field];
}

double chunk_time(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin() + kFields, numbers.end(), 0.0);
}

std::logic_error bursts_are_for_one() {
  return std::logic_error{"bursts asked of processes that wait for each other: their cases take chained steps"};
}

}  // namespace

AgreedTimer::AgreedTimer(Timer& own, Gather gather, std::function<void()> before_step)
    : own_{own}, gather_{std::move(gather)}, before_step_{std::move(before_step)}, origin_{own.now()} {}

void AgreedTimer::prepare(std::size_t max_steps, std::size_t phases) {
  own_.prepare(max_steps, phases);
  const std::array now{(own_.now() - origin_).value};
  agreed_ = {std::ranges::max(gather_(now)).at(kNow)};
}

Chunk AgreedTimer::time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) {
  const std::array planned{static_cast<double>(count)};
  for (const std::vector<double>& other : gather_(planned)) {
    if (other == std::vector(planned.begin(), planned.end())) continue;
    throw std::logic_error{fmt::format("a chunk of {} steps here, of {} in another process", count, other.at(0))};
  }
  const Step announced = [&](PhaseMarker& marker) {
    before_step_();
    step(marker);
  };
  Chunk chunk = own_.time_steps(count, announced, while_busy);
  const std::vector<std::vector<double>> all = gather_(numbers_of(chunk, own_.now() - origin_));
  const std::vector<double>& slowest = std::ranges::max(all, {}, &chunk_time);
  agreed_ = {largest(all, kNow)};
  chunk.phase_seconds.assign(slowest.begin() + kFields, slowest.end());
  chunk.wall = {slowest[kWall]};
  chunk.enqueue = {slowest[kEnqueue]};
  chunk.cpu = {slowest[kCpu]};
  chunk.escaped = {largest(all, kEscaped)};
  return chunk;
}

void AgreedTimer::begin_bursts(const BurstSetup& /*setup*/) { throw bursts_are_for_one(); }

Chunk AgreedTimer::time_bursts(std::size_t /*count*/, std::size_t /*launches*/, const Step& /*launch*/,
                               const std::function<void()>& /*while_busy*/) {
  throw bursts_are_for_one();
}

}  // namespace tbench::measure
