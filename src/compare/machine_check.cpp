#include "compare/machine_check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "tbench/compare/sides.hpp"
#include "tbench/core/text.hpp"

namespace tbench::compare {
namespace {

using results::NamedResults;

constexpr const char* kAbsent = "none";

std::string switched(const std::optional<bool>& value) { return value ? (*value ? "on" : "off") : "unknown"; }

Facts build_facts(const Environment& environment) {
  Facts facts = environment.versions;
  facts["sources"] = fmt::format("{:.12}", environment.sources_digest);
  facts["build type"] = environment.build_type;
  if (!environment.compile_options.empty()) facts["compile options"] = environment.compile_options;
  if (!environment.variant.empty()) facts["variant"] = environment.variant;
  return facts;
}

/// Returns whether an option may differ between the parts of a run: the shard and its durations (which shard_parts.cpp
/// compares), the filter, the user's notes, and the settings of a regime, which a file has only if it has cases of this
/// regime.
bool is_of_part(const std::string& option) {
  static const std::set<std::string> kOfParts{
      "shard",      "shard_places",      "durations",        "filter",
      "min_time_s", "min_warmup_time_s", "burst_min_time_s", "burst_min_warmup_time_s",
      "l2"};
  return kOfParts.contains(option) || option.starts_with("context.");
}

Facts command_facts(const std::map<std::string, std::string>& options) {
  Facts facts;
  for (const auto& [name, value] : options) {
    if (!is_of_part(name)) facts[name] = value;
  }
  if (options.contains("shard")) facts["filter"] = options.contains("filter") ? options.at("filter") : "";
  return facts;
}

/// Returns the settings of the regimes. They must be the same in all files that have them.
Facts regime_facts(const std::map<std::string, std::string>& options) {
  Facts facts;
  for (const auto& [name, value] : options) {
    const bool is_of_regime = name == "l2" || name.ends_with("min_time_s") || name.ends_with("min_warmup_time_s");
    if (is_of_regime) facts[name] = value;
  }
  return facts;
}

/// Adds `NAME: VALUE in FILES, VALUE in FILES` for every fact that has several values among the parts.
void add_differences(std::vector<std::string>& differences, std::span<const NamedResults> parts,
                     const std::function<Facts(const NamedResults&)>& facts_of, bool may_be_absent = false) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> labels;  // by fact and value
  std::vector<Facts> all;
  for (const NamedResults& part : parts) {
    for (const auto& [name, value] : all.emplace_back(facts_of(part))) labels[name];
  }
  for (auto& [name, values] : labels) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto found = all[i].find(name);
      if (found != all[i].end() || !may_be_absent) {
        values[found == all[i].end() ? kAbsent : found->second].push_back(parts[i].label);
      }
    }
    if (values.size() < 2) continue;
    std::vector<std::string> texts;
    for (const auto& [value, files] : values) texts.push_back(fmt::format("{} in {}", value, listed(files)));
    differences.push_back(fmt::format("{}: {}", name, join(texts, ", ")));
  }
}

void refuse(const std::vector<std::string>& differences, const char* what, const char* remedy) {
  if (differences.empty()) return;
  throw NotComparable{fmt::format("{}: {}; {}", what, join(differences, "; "), remedy)};
}

std::set<std::string> values_of(std::span<const NamedResults> parts, const std::string& option) {
  std::set<std::string> values;
  for (const NamedResults& part : parts) {
    const auto found = part.file.options.find(option);
    if (found != part.file.options.end()) values.insert(found->second);
  }
  return values;
}

/// Returns an extended regular expression with the filters as its alternatives.
std::string joined_filters(const std::set<std::string>& filters) {
  if (filters.size() == 1) return *filters.begin();
  std::vector<std::string> alternatives;
  for (const std::string& filter : filters) {
    if (filter.starts_with('-')) {
      throw NotComparable{
          fmt::format("--benchmark_filter={} excludes cases, and no filter selects what it and the other files' do "
                      "together; measure parts that are selected, or shards (--tb_shard)",
                      filter)};
    }
    alternatives.push_back(fmt::format("({})", filter));
  }
  return join(alternatives, "|");
}

}  // namespace

std::string listed(std::span<const std::string> labels) {
  constexpr std::size_t kShown = 2;
  if (labels.size() > kShown) return fmt::format("'{}' and {} more", labels.front(), labels.size() - 1);
  std::vector<std::string> quoted;
  for (const std::string& label : labels) quoted.push_back(fmt::format("'{}'", label));
  return join(quoted, " and ");
}

Facts machine_facts(const Environment& environment) {
  Facts facts{{"GPU", environment.gpu ? environment.gpu->name : kAbsent},
              {"processor", fmt::format("{}, {} cores", environment.cpu_name, environment.cpu_cores)},
              {"operating system", environment.operating_system},
              {"clock policy", environment.clock_policy}};
  if (!environment.gpu) return facts;
  const GpuFacts& gpu = *environment.gpu;
  constexpr double kGibi = 1 << 30;
  facts["GPU memory"] = fmt::format("{:.0f} GiB", std::round(static_cast<double>(gpu.memory_bytes) / kGibi));
  facts["SMs"] = fmt::format("{}", gpu.sm_count);
  facts["ECC"] = switched(gpu.ecc);
  facts["MIG"] = switched(gpu.mig);
  facts["power limit"] = gpu.power_limit_w ? fmt::format("{:.0f} W", *gpu.power_limit_w) : "unknown";
  return facts;
}

void require_same_machine(std::span<const NamedResults> parts) {
  std::vector<std::string> differences;
  add_differences(differences, parts, [](const NamedResults& part) { return machine_facts(part.file.environment); });
  refuse(differences, "different machines", "merge the files of each kind apart");
  add_differences(differences, parts, [](const NamedResults& part) { return build_facts(part.file.environment); });
  refuse(differences, "different builds", "merge the files of each build apart, or measure again with one");
  add_differences(differences, parts, [](const NamedResults& part) { return command_facts(part.file.options); });
  add_differences(
      differences, parts, [](const NamedResults& part) { return regime_facts(part.file.options); },
      /*may_be_absent=*/true);
  refuse(differences, "different options",
         "only --tb_shard, or --benchmark_filter, may differ: measure again with the same others");
}

std::map<std::string, std::string> joined_options(std::span<const NamedResults> parts) {
  std::map<std::string, std::string> options;
  for (const NamedResults& part : parts) options.insert(part.file.options.begin(), part.file.options.end());
  for (auto& [name, value] : options) {
    const std::set<std::string> values = values_of(parts, name);
    if (name == "filter") value = joined_filters(values);
    if (name == "durations" || name.starts_with("context."))
      value = join(std::vector(values.begin(), values.end()), ", ");
  }
  options.erase("shard");
  options.erase("shard_places");
  options.erase("shared_cases");
  return options;
}

}  // namespace tbench::compare
