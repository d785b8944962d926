// Whether two sides may be compared, and how their environments differ.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tbench/compare/comparison_input.hpp"
#include "tbench/core/text.hpp"

namespace tbench::compare {
namespace {

using Texts = std::vector<std::string>;

std::string device_of(const Environment& environment) {
  return environment.gpu ? environment.gpu->name : environment.cpu_name;
}

/// What a device is told apart by: a MIG slice is another device than the whole GPU.
std::string device_identity(const Environment& environment) {
  if (!environment.gpu) return "CPU " + environment.cpu_name;
  const GpuFacts& gpu = *environment.gpu;
  return fmt::format("{} ({} SMs, {} bytes)", gpu.name, gpu.sm_count, gpu.memory_bytes);
}

std::set<std::string> values_of(const ComparisonSide& side, std::string (*of)(const Environment&)) {
  std::set<std::string> values;
  for (const Environment& environment : side.environments) values.insert(of(environment));
  return values;
}

std::string listed(const std::set<std::string>& values) {
  const Texts texts(values.begin(), values.end());
  return join(texts, ", ");
}

std::map<std::string, std::string> facts_of(const ComparisonSide& side) {
  std::map<std::string, std::set<std::string>> sets;
  const auto known = [](const std::optional<bool>& value) { return value ? (*value ? "on" : "off") : "unknown"; };
  for (const Environment& environment : side.environments) {
    for (const auto& [name, version] : environment.versions) sets[name].insert(version);
    sets["commit"].insert(fmt::format("{:.12}", environment.commit));
    sets["build type"].insert(environment.build_type);
    sets["clock policy"].insert(environment.clock_policy);
    sets["device"].insert(device_identity(environment));
    if (!environment.gpu) continue;
    sets["ECC"].insert(known(environment.gpu->ecc));
    sets["MIG"].insert(known(environment.gpu->mig));
    if (environment.gpu->power_limit_w) {
      sets["power limit"].insert(fmt::format("{:.0f} W", *environment.gpu->power_limit_w));
    }
  }
  std::map<std::string, std::string> facts;
  for (const auto& [name, values] : sets) facts[name] = listed(values);
  return facts;
}

std::optional<double> work_of(const results::MeasuredCase& c) {
  for (const results::Replicate& replicate : c.replicates) {
    if (replicate.work) return replicate.work->value;
  }
  return std::nullopt;
}

/// Cases with the same name whose work differs.
std::string work_difference(std::span<const CasePair> pairs) {
  std::size_t count = 0;
  std::string first;
  for (const auto& [base, next] : pairs) {
    const std::optional<double> in_base = work_of(*base);
    const std::optional<double> in_next = work_of(*next);
    if (!in_base || !in_next || *in_base == *in_next) continue;
    if (count++ == 0) first = fmt::format("{}: {:.6g} against {:.6g} FLOP", base->id.name(), *in_base, *in_next);
  }
  if (count == 0) return "";
  return fmt::format("the work of {} case{} differs, first {}", count, count == 1 ? "" : "s", first);
}

/// How the replicates of both sides were timed, if they contradict each other: "burst, sustained" or "L2 cold, L2
/// warm". Replicates that do not say (a CPU's caches) contradict nothing.
std::string contradiction_of(const CasePair& pair) {
  std::set<std::string> regimes;
  std::set<std::string> caches;
  for (const results::MeasuredCase* side : {pair.first, pair.second}) {
    for (const results::Replicate& replicate : side->replicates) {
      if (replicate.regime) regimes.insert(std::string{to_string(*replicate.regime)});
      if (replicate.l2) caches.insert(fmt::format("L2 {}", to_string(*replicate.l2)));
    }
  }
  if (regimes.size() > 1) return listed(regimes);
  return caches.size() > 1 ? listed(caches) : "";
}

/// Cases with the same name that were timed in different ways, between the sides or within one.
std::string way_difference(std::span<const CasePair> pairs) {
  std::size_t count = 0;
  std::string first;
  for (const CasePair& pair : pairs) {
    const std::string contradiction = contradiction_of(pair);
    if (contradiction.empty() || count++ > 0) continue;
    first = fmt::format("{}: {}", pair.first->id.name(), contradiction);
  }
  if (count == 0) return "";
  return fmt::format("{} case{} timed in different ways, first {}", count, count == 1 ? " was" : "s were", first);
}

}  // namespace

std::string device_names(const ComparisonSide& side) { return listed(values_of(side, &device_of)); }

Texts differences_of(const ComparisonSide& base, const ComparisonSide& next) {
  if (base.environments.empty() || next.environments.empty()) return {};
  std::map<std::string, std::string> in_base = facts_of(base);
  std::map<std::string, std::string> in_next = facts_of(next);
  Texts differences;
  std::set<std::string> names;
  for (const auto& [name, value] : in_base) names.insert(name);
  for (const auto& [name, value] : in_next) names.insert(name);
  for (const std::string& name : names) {
    const std::string& a = in_base[name];
    const std::string& b = in_next[name];
    if (a != b) {
      differences.push_back(fmt::format("{}: {} against {}", name, a.empty() ? "absent" : a, b.empty() ? "absent" : b));
    }
  }
  return differences;
}

Texts objections(const ComparisonSide& base, const ComparisonSide& next, std::span<const CasePair> pairs) {
  Texts found;
  for (const auto& [side, name] : {std::pair{&base, "base"}, std::pair{&next, "new"}}) {
    const auto devices = values_of(*side, &device_identity);
    if (devices.size() > 1) {
      found.push_back(fmt::format("the {} side comes from several devices: {}", name, listed(devices)));
    }
  }
  const auto policy = [](const Environment& environment) { return environment.clock_policy; };
  std::set<std::string> policies = values_of(base, policy);
  policies.merge(values_of(next, policy));
  if (policies.size() > 1) found.push_back(fmt::format("different clock policies: {}", listed(policies)));
  if (std::string work = work_difference(pairs); !work.empty()) found.push_back(std::move(work));
  if (std::string way = way_difference(pairs); !way.empty()) found.push_back(std::move(way));
  return found;
}

bool devices_differ(const ComparisonSide& base, const ComparisonSide& next) {
  if (base.environments.empty() || next.environments.empty()) return false;
  return values_of(base, &device_identity) != values_of(next, &device_identity);
}

}  // namespace tbench::compare
