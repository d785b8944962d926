#include "studies/ranks/collective_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace tbench::studies {

void CollectiveTimes::add(CollectiveOp op, std::int64_t gpus, double bytes, Seconds time) {
  if (gpus <= 1 || !(bytes > 0) || !(time.value > 0)) {
    throw std::invalid_argument{
        fmt::format("CollectiveTimes: {} of {} bytes between {} GPUs in {} s", to_string(op), bytes, gpus, time.value)};
  }
  measured_[{op, gpus}].insert_or_assign(bytes, time);
}

std::optional<std::int64_t> CollectiveTimes::source(CollectiveOp op, std::int64_t gpus) const {
  std::optional<std::int64_t> nearest;
  for (const auto& [key, sizes] : measured_) {
    if (key.first != op || (nearest && key.second > gpus)) continue;
    nearest = key.second;  // the keys are in ascending order
  }
  return nearest;
}

Seconds CollectiveTimes::between(const Sizes& sizes, double bytes) {
  const auto above = sizes.lower_bound(bytes);
  if (above == sizes.begin()) return above->second;
  const auto below = std::prev(above);
  if (above == sizes.end()) return below->second * (bytes / below->first);
  const double share = std::log(bytes / below->first) / std::log(above->first / below->first);
  return below->second * std::pow(above->second / below->second, share);
}

Seconds CollectiveTimes::latency(CollectiveOp op, std::int64_t gpus, std::int64_t source) const {
  const auto of = [&](std::int64_t measured) { return measured_.at({op, measured}).begin()->second; };
  std::optional<std::int64_t> other;  // the measured number nearest to the source
  for (const auto& [key, sizes] : measured_) {
    if (key.first != op || key.second == source) continue;
    if (!other || std::abs(key.second - source) < std::abs(*other - source)) other = key.second;
  }
  if (!other || gpus == source) return of(source);
  const double slope = (of(*other) - of(source)).value / static_cast<double>(*other - source);
  return Seconds{std::max(0.0, of(source).value + slope * static_cast<double>(gpus - source))};
}

std::optional<Seconds> CollectiveTimes::time(CollectiveOp op, std::int64_t gpus, double bytes) const {
  const std::optional<std::int64_t> from = source(op, gpus);
  if (!from) return std::nullopt;
  const Seconds measured = between(measured_.at({op, *from}), bytes);
  if (*from == gpus) return measured;
  const double scale = bus_factor(op, gpus) / bus_factor(op, *from);
  const Seconds moving{std::max(0.0, (measured - latency(op, *from, *from)).value)};
  return latency(op, gpus, *from) + moving * scale;
}

}  // namespace tbench::studies
