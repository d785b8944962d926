// The numbers derived from a record; bench/counters.md gives their formulas.
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "tbench/core/record.hpp"
#include "tbench/core/step_counts.hpp"

namespace tbench {
namespace {

using Counters = std::map<std::string, double>;

void add_times(Counters& counters, const Record& record) {
  const Timing& timing = *record.timing;
  counters["median_ms"] = to_milliseconds(timing.median);
  counters["p10_ms"] = to_milliseconds(timing.p10);
  counters["p90_ms"] = to_milliseconds(timing.p90);
  counters["min_ms"] = to_milliseconds(timing.min);
  counters["mean_ms"] = to_milliseconds(timing.mean);
  if (timing.standard_deviation) counters["std_ms"] = to_milliseconds(*timing.standard_deviation);
  if (timing.relative_iqr) counters["relative_iqr"] = *timing.relative_iqr;
  if (timing.warm_up.first) counters["first_ms"] = to_milliseconds(*timing.warm_up.first);
  for (const PhaseTime& phase : timing.phases) counters[phase.name + "_ms"] = to_milliseconds(phase.median);
  if (timing.wall) counters["wall_ms"] = to_milliseconds(*timing.wall);
  counters["enqueue_ms"] = to_milliseconds(timing.enqueue);
  if (timing.drain) counters["drain_ms"] = to_milliseconds(*timing.drain);
  counters["host_bound"] = is_host_bound(record) ? 1 : 0;
  if (timing.regime != Regime::kBurst) return;
  counters["launches_per_sample"] = static_cast<double>(timing.launches_per_sample);
  counters["resolution_limited"] = timing.resolution_limited ? 1 : 0;
  if (timing.duty) counters["duty"] = *timing.duty;
}

/// Returns whether the data may be in caches: a burst without a flush before it, as on a CPU. Memory ceilings do not
/// limit such a burst.
bool may_lie_in_caches(const Timing& timing) { return timing.regime == Regime::kBurst && timing.l2 != L2State::kCold; }

void add_rates(Counters& counters, const Record& record, Seconds step) {
  if (!record.work) return;
  if (record.work->tokens > 0) {
    counters["tokens_per_second"] = static_cast<double>(record.work->tokens) / step.value;
  }
  if (record.work->bytes > 0) counters["bytes_per_second"] = static_cast<double>(record.work->bytes) / step.value;
  const auto bus = record.counters.find("bus_factor");
  if (bus != record.counters.end()) {
    counters["bus_bytes_per_second"] = bus->second * static_cast<double>(record.work->bytes) / step.value;
  }
  if (record.work->flop.value > 0) {
    const FlopPerSecond rate = record.work->flop / step;
    counters["flop_per_second"] = rate.value;
    if (record.peak_at_clock) counters["peak_share_at_clock"] = rate.value / record.peak_at_clock->value;
    if (record.boost_peak) {
      counters["mfu"] = (model_flop(*record.work) / step).value / record.boost_peak->value;
      counters["hfu"] = rate.value / record.boost_peak->value;
    }
  }
  if (record.floor) counters["floor_share"] = *record.floor / step;
  const CeilingNumerator held = ceiling_numerator(*record.work);
  if (!record.ceiling_per_second || held.value == 0) return;
  counters["ceiling_share"] = held.value / step.value / *record.ceiling_per_second;
  const bool is_above = counters["ceiling_share"] > kMostOfACeiling;
  counters["above_ceiling"] = is_above && !(held.is_of_bytes && may_lie_in_caches(*record.timing)) ? 1 : 0;
}

void add_trace(Counters& counters, const Record& record) {
  if (const auto device = device_time(record)) counters["device_ms"] = to_milliseconds(*device);
  if (const auto idle = idle_share(record)) counters["idle_share"] = *idle;
  if (record.queue_gap) counters["queue_gap_us"] = to_microseconds(*record.queue_gap);
  if (const auto host = host_share(record)) counters["host_share"] = *host;
  if (const auto budget = launch_budget(record)) counters["launch_budget_us"] = to_microseconds(*budget);
  counters["longest_gap_us"] = to_microseconds(record.trace->longest_gap);
  counters["kernels_per_step"] = kernels_per_step(*record.trace);
  counters["launches_per_step"] = record.trace->launches;
}

void add_device(Counters& counters, const Record& record) {
  if (!record.device) return;
  const DeviceState& device = *record.device;
  if (device.sm_clock_p50) counters["sm_clock_mhz"] = device.sm_clock_p50->value / 1e6;
  if (device.power) counters["power_w"] = device.power->value;
  if (!device.energy_per_step) return;
  counters["joules_per_step"] = device.energy_per_step->value;
  if (record.work && record.work->tokens > 0) {
    counters["joules_per_token"] = device.energy_per_step->value / static_cast<double>(record.work->tokens);
  }
}

}  // namespace

std::map<std::string, double> counters_of(const Record& record) {
  Counters counters = record.counters;
  if (record.timing) {
    add_times(counters, record);
    add_rates(counters, record, record.timing->median);
    add_device(counters, record);
    if (record.trace) add_trace(counters, record);
  }
  if (record.memory) {
    counters["peak_allocated_bytes"] = static_cast<double>(record.memory->allocated_peak);
    if (record.memory->requested_peak) {
      counters["peak_requested_bytes"] = static_cast<double>(*record.memory->requested_peak);
    }
    counters["peak_reserved_bytes"] = static_cast<double>(record.memory->reserved_peak);
  }
  std::erase_if(counters, [](const auto& entry) { return !std::isfinite(entry.second); });
  return counters;
}

}  // namespace tbench
