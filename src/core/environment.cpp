#include "tbench/core/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tbench {
namespace {

std::string device_name(const Environment& environment) {
  return environment.gpu ? environment.gpu->name : fmt::format("no GPU ({})", environment.cpu_name);
}

std::string value_or_absent(const std::map<std::string, std::string>& versions, const std::string& name) {
  const auto found = versions.find(name);
  return found == versions.end() ? "absent" : found->second;
}

/// Returns the first version that differs, as "name: old against new", or nullopt if all versions are equal.
std::optional<std::string> version_difference(const Environment& a, const Environment& b) {
  std::map<std::string, std::string> names = a.versions;
  names.insert(b.versions.begin(), b.versions.end());
  for (const auto& [name, version] : names) {
    const std::string in_a = value_or_absent(a.versions, name);
    const std::string in_b = value_or_absent(b.versions, name);
    if (in_a != in_b) return fmt::format("{}: {} against {}", name, in_a, in_b);
  }
  return std::nullopt;
}

/// Returns whether two descriptions are of the same machine, whenever it measured.
bool is_same(const Machine& a, const Machine& b) {
  return a.gpu_uuid == b.gpu_uuid && a.cpu_name == b.cpu_name && a.cpu_cores == b.cpu_cores;
}

}  // namespace

std::string build_name(const Environment& environment) {
  constexpr std::size_t kDigits = 12;
  const std::string& digest = environment.sources_digest;
  const std::string& commit = environment.commit;
  const std::size_t end = std::min(commit.find('-'), commit.size());
  const std::string name =
      commit == "unknown" ? digest.substr(0, kDigits) : commit.substr(0, std::min(end, kDigits)) + commit.substr(end);
  return environment.variant.empty() ? name : fmt::format("{} ({})", name, environment.variant);
}

std::optional<std::string> build_difference(const Environment& a, const Environment& b) {
  if (a.sources_digest != b.sources_digest) {
    return fmt::format("sources {:.12} against {:.12}", a.sources_digest, b.sources_digest);
  }
  if (a.build_type != b.build_type) return fmt::format("build type {} against {}", a.build_type, b.build_type);
  if (a.variant != b.variant) return fmt::format("variant '{}' against '{}'", a.variant, b.variant);
  const bool are_known = !a.compile_options.empty() && !b.compile_options.empty();
  if (are_known && a.compile_options != b.compile_options) {
    return fmt::format("compile options '{}' against '{}'", a.compile_options, b.compile_options);
  }
  return std::nullopt;
}

std::string build_key(const Environment& environment) {
  std::string key = environment.sources_digest + environment.build_type;
  for (const std::string* const part : {&environment.compile_options, &environment.variant}) {
    if (!part->empty()) key += "\n" + *part;
  }
  return key;
}

std::optional<std::string> incompatibility(const Environment& a, const Environment& b) {
  if (device_name(a) != device_name(b)) {
    return fmt::format("different device: {} against {}", device_name(a), device_name(b));
  }
  if (const auto difference = build_difference(a, b)) return "different build: " + *difference;
  if (const auto difference = version_difference(a, b)) return "different version of " + *difference;
  if (a.clock_policy != b.clock_policy) {
    return fmt::format("different clock policy: {} against {}", a.clock_policy, b.clock_policy);
  }
  return std::nullopt;
}

std::optional<std::string> worker_difference(const Environment& first, const Environment& now) {
  if (auto other = incompatibility(first, now)) return other;
  if (first.commit != now.commit) return fmt::format("different build: commit {} against {}", first.commit, now.commit);
  if (first.gpu && first.gpu->uuid != now.gpu->uuid) {
    return fmt::format("another GPU: {} against {}", first.gpu->uuid, now.gpu->uuid);
  }
  return std::nullopt;
}

std::vector<Machine> machines_of(const Environment& environment) {
  if (!environment.machines.empty()) return environment.machines;
  return {{.gpu_uuid = environment.gpu ? environment.gpu->uuid : "",
           .cpu_name = environment.cpu_name,
           .cpu_cores = environment.cpu_cores,
           .date = environment.date}};
}

std::string gpu_uuid(const Environment& environment, std::int64_t machine) {
  return machines_of(environment).at(static_cast<std::size_t>(machine)).gpu_uuid;
}

std::vector<std::string> gpu_uuids(const Environment& environment) {
  std::set<std::string> uuids;
  for (const Machine& machine : machines_of(environment)) uuids.insert(machine.gpu_uuid);
  uuids.erase("");
  return {uuids.begin(), uuids.end()};
}

std::vector<std::int64_t> add_machines(Environment& environment, const Environment& other) {
  std::vector<Machine> all = machines_of(environment);
  std::vector<std::int64_t> places;
  for (const Machine& machine : machines_of(other)) {
    const auto found = std::ranges::find_if(all, [&](const Machine& known) { return is_same(known, machine); });
    places.push_back(found - all.begin());
    if (found == all.end()) {
      all.push_back(machine);
    } else {
      found->date = std::min(found->date, machine.date);
    }
  }
  if (all.size() == 1) return places;
  const bool is_one_gpu = std::ranges::all_of(all, [&](const Machine& m) { return m.gpu_uuid == all[0].gpu_uuid; });
  if (environment.gpu && !is_one_gpu) environment.gpu->uuid.clear();
  environment.machines = std::move(all);
  return places;
}

}  // namespace tbench
