#include "tbench/compare/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "compare/machine_check.hpp"
#include "tbench/compare/sides.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/run_order.hpp"
#include "tbench/core/text.hpp"
#include "tbench/stats/descriptive.hpp"
#include "tbench/stats/outliers.hpp"

namespace tbench::compare {
namespace {

using results::NamedResults;

constexpr std::size_t kMinMachines = 3;

/// ln of the times of a machine's ceilings, in seconds, by case name.
using LogTimes = std::map<std::string, std::vector<double>>;

struct Measured {
  std::vector<Machine> machines;
  std::vector<LogTimes> ceilings;  // by machine
};

/// Returns the names of the machines that measured a file, in the order of machines_of().
std::vector<std::string> machine_names(const NamedResults& one) {
  if (!one.file.environment.gpu) {
    throw UsageError{fmt::format("'{}': measured on a CPU; give results of GPUs", one.label)};
  }
  if (one.file.options.contains("merged_gpus")) {  // schema version 10 and earlier
    throw UsageError{fmt::format(
        "'{}': merged from the results of several GPUs, and its records do not name theirs; give the files that it was "
        "made from, or merge them again",
        one.label)};
  }
  std::vector<std::string> names;
  for (const tbench::Machine& machine : machines_of(one.file.environment)) {
    names.push_back(machine.gpu_uuid.empty() ? one.label : machine.gpu_uuid);
  }
  return names;
}

/// Adds a file to the machine of this name.
/// @return  the machine's index
std::size_t add_machine(Measured& all, const std::string& name, const std::string& file) {
  const auto found = std::ranges::find(all.machines, name, &Machine::name);
  const auto index = static_cast<std::size_t>(found - all.machines.begin());
  if (found == all.machines.end()) {
    all.machines.push_back({.name = name, .files = {}});
    all.ceilings.emplace_back();
  }
  all.machines[index].files.push_back(file);
  return index;
}

Measured measured(std::span<const NamedResults> files) {
  Measured all;
  for (const NamedResults& one : files) {
    std::vector<std::size_t> indexes;
    for (const std::string& name : machine_names(one)) indexes.push_back(add_machine(all, name, one.label));
    for (const Record& record : one.file.records) {
      if (!is_ceiling(record.id) || record.status != Status::kOk || !record.timing) continue;
      const std::size_t index = indexes.at(static_cast<std::size_t>(record.machine));
      all.ceilings[index][record.id.name()].push_back(std::log(record.timing->median.value));
    }
  }
  return all;
}

/// Returns whether GPUs that differ in the fact are not comparable. Differences in other facts are only reported.
bool is_other_kind(const std::string& fact) {
  return fact == "GPU" || fact == "SMs" || fact == "MIG" || fact == "clock policy";
}

/// Returns `GPU: NVIDIA H100 in 'a.json', NVIDIA H200 in 'b.json' and 2 more` for every fact in which the files differ.
std::vector<std::string> differences_of(std::span<const NamedResults> files, bool of_other_kinds) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> values;
  for (const NamedResults& one : files) {
    for (const auto& [fact, value] : machine_facts(one.file.environment)) {
      if (is_other_kind(fact) == of_other_kinds) values[fact][value].push_back(one.label);
    }
  }
  std::vector<std::string> differences;
  for (const auto& [fact, labels] : values) {
    if (labels.size() < 2) continue;
    std::vector<std::string> texts;
    for (const auto& [value, where] : labels) texts.push_back(fmt::format("{} in {}", value, listed(where)));
    differences.push_back(fmt::format("{}: {}", fact, join(texts, ", ")));
  }
  return differences;
}

void check_one_kind(std::span<const NamedResults> files) {
  const std::vector<std::string> differences = differences_of(files, /*of_other_kinds=*/true);
  if (differences.empty()) return;
  throw NotComparable{fmt::format("{}; give the files of one model, set up alike", join(differences, "; "))};
}

std::vector<std::string> warnings_of(std::span<const NamedResults> files, const Measured& all) {
  std::vector<std::string> warnings = differences_of(files, /*of_other_kinds=*/false);
  std::set<std::string> builds;
  for (const NamedResults& one : files) builds.insert(build_key(one.file.environment));
  if (builds.size() > 1) {
    warnings.push_back(fmt::format(
        "{} builds: where one of them measures a ceiling in another way, its machines look different", builds.size()));
  }
  for (std::size_t i = 0; i < all.machines.size(); ++i) {
    if (all.ceilings[i].empty()) {
      warnings.push_back(fmt::format(
          "{} has no ceilings: run it with --tb_ceilings=on, or --benchmark_filter=^Ceiling/", all.machines[i].name));
    }
  }
  return warnings;
}

/// Returns the ceilings of a resource that enough machines have, sorted by name.
std::vector<std::string> common_ceilings(const Measured& all, Resource resource) {
  std::map<std::string, std::size_t> machines;
  for (const LogTimes& times : all.ceilings) {
    for (const auto& [name, values] : times) {
      if (resource_of(CaseId::parse(name).at("what")) == resource) ++machines[name];
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, count] : machines) {
    if (count >= kMinMachines) names.push_back(name);
  }
  return names;
}

/// Returns how much slower each machine is than the others in these ceilings, as a difference of ln(time). Models
/// ln(time) as an effect of the ceiling plus an effect of the machine. Alternates between the median over machines and
/// the mean over ceilings until both converge, since not every machine has every ceiling.
std::vector<std::optional<double>> effects_of(const Measured& all, const std::vector<std::string>& ceilings) {
  std::vector<std::optional<double>> effects(all.machines.size());
  std::vector<std::map<std::string, double>> times(all.machines.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (const std::string& name : ceilings) {
      const auto found = all.ceilings[i].find(name);
      if (found != all.ceilings[i].end()) times[i][name] = stats::median(found->second);
    }
    if (!times[i].empty()) effects[i] = 0;
  }
  constexpr int kMaxTurns = 50;
  constexpr double kStill = 1e-9;
  double moved = 1;
  for (int turn = 0; turn < kMaxTurns && moved > kStill; ++turn) {
    moved = 0;
    std::map<std::string, double> centres;
    for (const std::string& name : ceilings) {
      std::vector<double> rest;
      for (std::size_t i = 0; i < times.size(); ++i) {
        if (const auto found = times[i].find(name); found != times[i].end())
          rest.push_back(found->second - *effects[i]);
      }
      centres[name] = stats::median(rest);
    }
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (!effects[i]) continue;
      std::vector<double> rest;
      for (const auto& [name, time] : times[i]) rest.push_back(time - centres.at(name));
      const double effect = stats::mean(rest);
      moved = std::max(moved, std::abs(effect - *effects[i]));
      effects[i] = effect;
    }
  }
  return effects;
}

std::optional<stats::DispersionPrior> known_of(const FleetOptions& options, const std::string& gpu, Resource resource) {
  const auto found = std::ranges::find_if(
      options.known, [&](const ResourceDispersion& known) { return known.gpu == gpu && known.resource == resource; });
  return found == options.known.end() ? std::nullopt : std::optional{found->spread};
}

/// Evaluates a resource.
/// @param level  probability of a false alarm in this resource
FleetResource judged(const Measured& all, Resource resource, std::vector<std::string> ceilings, double level,
                     const std::optional<stats::DispersionPrior>& known) {
  FleetResource result{.resource = resource,
                       .ceilings = std::move(ceilings),
                       .states = std::vector<std::optional<BaselineState>>(all.machines.size()),
                       .known = known};
  const std::vector<std::optional<double>> effects = effects_of(all, result.ceilings);
  std::vector<double> values;
  for (const std::optional<double>& effect : effects) {
    if (effect) values.push_back(*effect);
  }
  const stats::OutlierSearch search = stats::find_outliers(values, level, known).value();
  std::size_t next = 0;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    if (!effects[i]) continue;
    const stats::Deviation& deviation = search.deviations[next++];
    result.states[i] = BaselineState{.change = std::expm1(-deviation.difference),
                                     .score = -deviation.score,
                                     .is_slow = deviation.is_outlier && deviation.difference > 0,
                                     .is_fast = deviation.is_outlier && deviation.difference < 0};
  }
  result.machines = values.size();
  result.spread = search.standard_deviation;
  result.degrees_of_freedom = search.degrees_of_freedom;
  result.known_rejected = search.prior_rejected;
  result.detectable = -std::expm1(-search.detectable);
  return result;
}

}  // namespace

/// The spreads for the H200 come from the ten machines that `tbench fleet --alone --json` finds in
/// bench/results/nvidia_h200: nine with products on tensor cores, six with float32 products, and three with copies. A
/// test compares them with that output.
std::span<const ResourceDispersion> recorded_spreads() {
  static const std::array<ResourceDispersion, 3> kSpreads{
      {{"NVIDIA H200", Resource::kTensor, {.standard_deviation = 0.01152, .degrees_of_freedom = 8}},
       {"NVIDIA H200", Resource::kFloat32, {.standard_deviation = 0.00313, .degrees_of_freedom = 5}},
       {"NVIDIA H200", Resource::kMemory, {.standard_deviation = 0.00100, .degrees_of_freedom = 2}}}};
  return kSpreads;
}

std::optional<Resource> resource_of(std::string_view what) {
  static const std::map<std::string_view, Resource> kResources{
      {"gemm_fp32", Resource::kFloat32}, {"copy", Resource::kMemory},   {"read", Resource::kMemory},
      {"write", Resource::kMemory},      {"l2_read", Resource::kL2},    {"h2d_pinned", Resource::kLink},
      {"d2h_pinned", Resource::kLink},   {"launch", Resource::kLaunch}, {"event", Resource::kLaunch}};
  if (const auto found = kResources.find(what); found != kResources.end()) return found->second;
  return what.starts_with("gemm_") ? std::optional{Resource::kTensor} : std::nullopt;
}

Fleet compare_fleet(std::span<const NamedResults> files, const FleetOptions& options) {
  Measured all = measured(files);
  check_one_kind(files);
  Fleet fleet{.gpu = files.front().file.environment.gpu->name,
              .false_alarms = options.false_alarms,
              .machines = {},
              .resources = {},
              .warnings = warnings_of(files, all)};
  std::map<Resource, std::vector<std::string>> ceilings;
  for (const Resource resource : kAllOf<Resource>) {
    if (auto common = common_ceilings(all, resource); !common.empty()) ceilings.emplace(resource, std::move(common));
  }
  if (ceilings.empty()) {
    throw UsageError{
        fmt::format("{}, and no ceiling that three of them have; measure three or more with "
                    "--benchmark_filter=^Ceiling/",
                    counted_in(all.machines, "machine"))};
  }
  const double level = options.false_alarms / static_cast<double>(ceilings.size());
  for (auto& [resource, names] : ceilings) {
    fleet.resources.push_back(judged(all, resource, std::move(names), level, known_of(options, fleet.gpu, resource)));
  }
  fleet.machines = std::move(all.machines);
  return fleet;
}

bool has_slow(const Fleet& fleet) {
  return std::ranges::any_of(fleet.resources, [](const FleetResource& resource) {
    return std::ranges::any_of(resource.states, [](const auto& state) { return state && state->is_slow; });
  });
}

}  // namespace tbench::compare
