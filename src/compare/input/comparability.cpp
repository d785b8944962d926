// Checks whether two sides may be compared, and finds the differences between their environments.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "compare/input/measuring_way.hpp"
#include "compare/input/plain_context.hpp"
#include "tbench/compare/sides.hpp"
#include "tbench/core/text.hpp"

namespace tbench::compare {
namespace {

using Texts = std::vector<std::string>;

/// Facts that older files do not have. Their absence is not a difference.
const std::string kAffinity = "CPU affinity";
const std::string kQuota = "CPU quota";
const std::string kOptions = "compile options";
const std::string kAbsent = "absent";

std::string device_of(const Environment& environment) {
  return environment.gpu ? environment.gpu->name : environment.cpu_name;
}

/// Returns the identity of a device: a MIG slice is another device than the whole GPU.
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

/// The values of each fact on a side. A fact has several values if the side's files differ in it.
using Facts = std::map<std::string, std::set<std::string>>;

/// Returns the facts of contexts, without the date, which differs in every file.
Facts facts_of(std::span<const PlainContext> contexts) {
  Facts sets;
  for (const PlainContext& context : contexts) {
    for (const auto& [name, value] : context) {
      if (name != "date") sets[name].insert(value);
    }
  }
  return sets;
}

Facts facts_of(std::span<const Environment> environments) {
  Facts sets;
  const auto known = [](const std::optional<bool>& value) { return value ? (*value ? "on" : "off") : "unknown"; };
  for (const Environment& environment : environments) {
    for (const auto& [name, version] : environment.versions) sets[name].insert(version);
    sets["commit"].insert(build_name(environment));
    if (!environment.compile_options.empty()) sets[kOptions].insert(environment.compile_options);
    sets["build type"].insert(environment.build_type);
    sets["clock policy"].insert(environment.clock_policy);
    sets["device"].insert(device_identity(environment));
    if (const std::optional<CpuLimits>& limits = environment.cpu_limits) {
      sets[kAffinity].insert(limits->affinity);
      sets[kQuota].insert(limits->quota ? fmt::format("{:g} CPUs", *limits->quota) : "none");
    }
    if (!environment.gpu) continue;
    sets["ECC"].insert(known(environment.gpu->ecc));
    sets["MIG"].insert(known(environment.gpu->mig));
    if (environment.gpu->power_limit_w) {
      sets["power limit"].insert(fmt::format("{:.0f} W", *environment.gpu->power_limit_w));
    }
  }
  return sets;
}

/// Returns the facts in which the sides differ.
/// @param with_mixed  also return the facts in which the files of one side differ
Texts differences(const Facts& base, const Facts& next, bool with_mixed) {
  std::set<std::string> names;
  for (const auto& [name, values] : base) names.insert(name);
  for (const auto& [name, values] : next) names.insert(name);
  const auto values_in = [](const Facts& facts, const std::string& name) {
    const auto found = facts.find(name);
    const std::string text = found == facts.end() ? "" : listed(found->second);
    return text.empty() ? kAbsent : text;
  };
  Texts found;
  for (const std::string& name : names) {
    const std::string a = values_in(base, name);
    const std::string b = values_in(next, name);
    const auto in_base = base.find(name);
    const bool is_mixed = in_base != base.end() && in_base->second.size() > 1;
    const bool is_untold = (a == kAbsent || b == kAbsent) && (name == kAffinity || name == kQuota || name == kOptions);
    if (is_untold) continue;
    if (a == b && !(with_mixed && is_mixed)) continue;
    found.push_back(fmt::format("{}: {} against {}", name, a, b));
  }
  return found;
}

std::optional<double> work_of(const results::MeasuredCase& c) {
  for (const results::Replicate& replicate : c.replicates) {
    if (replicate.work) return replicate.work->value;
  }
  return std::nullopt;
}

/// Returns a sentence about the cases whose work differs between the sides; empty if there are none.
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
  return fmt::format("the work of {} differs, first {}", counted(count, "case"), first);
}

/// Returns the regimes or L2 states of both sides' replicates if they differ: "burst, sustained" or "L2 cold, L2 warm".
/// Replicates without this information, such as the L2 state on a CPU, do not count.
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

/// Returns a sentence about the cases that were timed in different ways, between the sides or within one; empty if
/// there are none.
std::string way_difference(std::span<const CasePair> pairs) {
  std::size_t count = 0;
  std::string first;
  for (const CasePair& pair : pairs) {
    const std::string contradiction = contradiction_of(pair);
    if (contradiction.empty() || count++ > 0) continue;
    first = fmt::format("{}: {}", pair.first->id.name(), contradiction);
  }
  if (count == 0) return "";
  return fmt::format("{} timed in different ways, first {}", counted(count, "case was", "cases were"), first);
}

/// Returns the regimes in which the common cases were timed on the base side.
std::set<Regime> regimes_of(std::span<const CasePair> pairs) {
  std::set<Regime> regimes;
  for (const CasePair& pair : pairs) {
    for (const results::Replicate& replicate : pair.first->replicates) {
      if (replicate.regime) regimes.insert(*replicate.regime);
    }
  }
  return regimes;
}

/// Returns the values of each option on a side. Leaves out `default` for minimum times, which older files do not have.
std::map<std::string, std::set<std::string>> ways_of(const ComparisonSide& side, Regime regime) {
  std::map<std::string, std::set<std::string>> ways;
  for (const auto& options : side.options) {
    for (const auto& [name, value] : measuring_way(options, regime)) {
      if (!name.starts_with("min_") || value != kUnsaid) ways[name].insert(value);
    }
  }
  return ways;
}

/// Returns `measured otherwise: burst_min_time_s 0.1 against 0.2, samples default against 20`; empty if both sides were
/// measured alike.
std::string options_difference(const ComparisonSide& base, const ComparisonSide& next,
                               std::span<const CasePair> pairs) {
  std::set<std::string> found;
  for (const Regime regime : regimes_of(pairs)) {
    std::map<std::string, std::set<std::string>> in_next = ways_of(next, regime);
    for (const auto& [name, values] : ways_of(base, regime)) {
      const std::set<std::string>& others = in_next[name];
      if (values == others || others.empty()) continue;
      const bool is_burst = regime == Regime::kBurst && name.starts_with("min_");
      found.insert(fmt::format("{}{} {} against {}", is_burst ? "burst_" : "", name, listed(values), listed(others)));
    }
  }
  return found.empty() ? "" : fmt::format("measured otherwise: {}", listed(found));
}

}  // namespace

std::string device_names(const ComparisonSide& side) {
  std::set<std::string> names = values_of(side, &device_of);
  for (const PlainContext& context : side.contexts) names.insert(machine_of(context));
  names.erase("");
  return listed(names);
}

Texts gpu_uuids(const ComparisonSide& side) {
  std::set<std::string> known;
  for (const Environment& environment : side.environments) {
    for (std::string& uuid : tbench::gpu_uuids(environment)) known.insert(std::move(uuid));
  }
  return {known.begin(), known.end()};
}

Texts differences_of(const ComparisonSide& base, const ComparisonSide& next) {
  if (!base.environments.empty() && !next.environments.empty()) {
    return differences(facts_of(std::span{base.environments}), facts_of(std::span{next.environments}), false);
  }
  if (base.contexts.empty() || next.contexts.empty()) return {};
  return differences(facts_of(std::span{base.contexts}), facts_of(std::span{next.contexts}), true);
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
  if (std::string options = options_difference(base, next, pairs); !options.empty())
    found.push_back(std::move(options));
  return found;
}

bool devices_differ(const ComparisonSide& base, const ComparisonSide& next) {
  if (base.environments.empty() || next.environments.empty()) return false;
  return values_of(base, &device_identity) != values_of(next, &device_identity);
}

}  // namespace tbench::compare
