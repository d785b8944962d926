// The spread class of a measured time.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "tbench/compare/known_spreads.hpp"

namespace tbench::compare {
namespace {

constexpr Seconds kShortest{10e-6};  // events resolve shorter launches badly
constexpr Seconds kLong{100e-6};

/// Families without a class. Hosts of other ranks limit the cases of several ranks. Ceilings depend on the machine, not
/// on the code.
constexpr std::array<std::string_view, 4> kWithoutClass{"Ceiling", "Collective", "DataParallel", "Overlap"};

bool has_no_class(const CaseId& id) {
  const std::string_view family = id.family();
  return std::ranges::find(kWithoutClass, family.substr(0, family.find('/'))) != kWithoutClass.end();
}

std::optional<SpreadClass> class_of_kernel(const SpreadFacts& facts) {
  if (facts.host_bound || facts.time < kShortest) return std::nullopt;
  return facts.time < kLong ? SpreadClass::kShortKernel : SpreadClass::kKernel;
}

/// A long burst is host-bound if the GPU works during less than this share of it, because launches wait until they are
/// enqueued.
constexpr double kBusyShare = 0.75;

bool waits_for_launches(const results::Replicate& replicate) {
  const bool is_long_burst = replicate.regime == Regime::kBurst && *replicate.time >= kLong;
  return is_long_burst && replicate.device_time && *replicate.device_time / *replicate.time < kBusyShare;
}

}  // namespace

SpreadFacts spread_facts(const CaseId& id, const results::Replicate& replicate) {
  const std::string* const execution = id.find("exec");
  return {.regime = has_no_class(id) ? std::nullopt : replicate.regime,
          .time = replicate.time.value(),
          .is_graph = execution != nullptr && *execution == to_string(Execution::kGraph),
          .is_traced = replicate.device_time.has_value(),
          .host_bound = replicate.host_bound.value_or(false) || waits_for_launches(replicate),
          .at_power_limit = replicate.at_power_limit};
}

SpreadFacts of_both(const SpreadFacts& a, const SpreadFacts& b) {
  return {.regime = a.regime == b.regime ? a.regime : std::nullopt,
          .time = Seconds{std::sqrt(a.time.value * b.time.value)},
          .is_graph = a.is_graph,
          .is_traced = a.is_traced && b.is_traced,
          .host_bound = a.host_bound || b.host_bound,
          .at_power_limit = a.at_power_limit || b.at_power_limit};
}

std::optional<SpreadClass> class_of_time(const SpreadFacts& facts) {
  if (!facts.regime) return std::nullopt;
  if (*facts.regime == Regime::kBurst) return class_of_kernel(facts);
  if (!facts.is_graph && !facts.is_traced) return std::nullopt;
  if (facts.at_power_limit) return SpreadClass::kPowerLimit;
  if (facts.is_graph) return SpreadClass::kGraph;
  return facts.host_bound ? SpreadClass::kHostBoundStep : SpreadClass::kStep;
}

std::optional<SpreadClass> class_of_device_time(const SpreadFacts& facts) {
  if (facts.regime != Regime::kSustained || !facts.is_traced) return std::nullopt;
  if (facts.at_power_limit) return SpreadClass::kPowerLimit;
  return facts.host_bound && !facts.is_graph ? SpreadClass::kHostBoundDevice : SpreadClass::kDevice;
}

}  // namespace tbench::compare
