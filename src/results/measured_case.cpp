#include "tbench/results/measured_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "tbench/core/step_counts.hpp"
#include "tbench/core/text.hpp"

namespace tbench::results {
namespace {

/// The throttle reason for the board's power limit, as records name it.
constexpr std::string_view kPowerLimit = "sw_power_cap";

/// Returns the source of DeviceState::mean_sm_clock().
ClockKind clock_kind_of(const DeviceState& device) {
  if (device.sm_clock_counted) return ClockKind::kCounted;
  return device.clock_source == ClockSource::kPolled ? ClockKind::kPolled : ClockKind::kChunk;
}

}  // namespace

std::string match_key(const CaseId& id) {
  std::vector<CaseId::Parameter> parameters = id.parameters();
  std::ranges::sort(parameters);
  return CaseId{id.family(), std::move(parameters)}.name();
}

std::optional<std::uint64_t> samples_digest(std::span<const double> samples_s) {
  std::vector<double> different;
  for (const double sample : samples_s) {
    if (std::ranges::find(different, sample) == different.end()) different.push_back(sample);
    if (different.size() == kFewestDifferentSamples) break;
  }
  if (different.size() < kFewestDifferentSamples) return std::nullopt;
  // FNV-1a over 64-bit words. The upper half is then mixed into the lower half, since a product carries only upwards.
  constexpr std::uint64_t kBasis = 0xcbf29ce484222325;
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t digest = kBasis;
  for (const double sample : samples_s) {
    digest = (digest ^ std::bit_cast<std::uint64_t>(sample)) * kPrime;
    digest ^= digest >> 32U;
  }
  return digest;
}

MeasuredCase measured_case(const Record& record) {
  MeasuredCase measured{.id = record.id, .key = match_key(record.id), .replicates = {{}}};
  Replicate& replicate = measured.replicates.front();
  replicate.status = record.status;
  replicate.reason = record.reason;
  if (record.memory) {
    replicate.peak_bytes = record.memory->allocated_peak;
    replicate.requested_peak_bytes = record.memory->requested_peak;
  }
  if (record.work) {
    replicate.work = record.work->flop;
    replicate.ceiling = record.work->ceiling;
  }
  if (record.device && record.device->sm_clock_p50) {
    replicate.sm_clock = record.device->mean_sm_clock();
    replicate.clock_kind = clock_kind_of(*record.device);
  }
  if (record.device) {
    const auto& reasons = record.device->throttle_reasons;
    replicate.at_power_limit = std::ranges::find(reasons, kPowerLimit) != reasons.end();
  }
  if (!record.timing) return measured;
  if (!(record.timing->median.value > 0)) {
    throw std::runtime_error{
        fmt::format("{}: a median of {} s cannot be compared", record.id.name(), record.timing->median.value)};
  }
  replicate.time = record.timing->median;
  if (const auto device = device_time(record); device && device->value > 0) replicate.device_time = device;
  replicate.samples_digest = samples_digest(record.timing->samples_s);
  replicate.regime = record.timing->regime;
  replicate.l2 = record.timing->l2;
  replicate.host_bound = is_host_bound(record);
  replicate.relative_half_width = record.timing->relative_half_width;
  const std::map<std::string, double> counters = counters_of(record);
  if (const auto share = counters.find("peak_share_at_clock"); share != counters.end()) {
    replicate.peak_share_at_clock = share->second;
  }
  if (const auto share = counters.find("ceiling_share"); share != counters.end())
    replicate.ceiling_share = share->second;
  return measured;
}

CaseId case_of_name(const std::string& name) {
  if (name.find(':') == std::string::npos) return CaseId{name, {}};  // most names of other programs have no parameters
  try {
    return CaseId::parse(name);
  } catch (const std::invalid_argument&) {
    return CaseId{name, {}};
  }
}

}  // namespace tbench::results
