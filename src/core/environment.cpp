#include "tbench/core/environment.hpp"

#include <fmt/format.h>

#include <algorithm>

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
    return fmt::format("another device: {} against {}", device_name(a), device_name(b));
  }
  if (const auto difference = build_difference(a, b)) return "another build: " + *difference;
  if (const auto difference = version_difference(a, b)) return "another version of " + *difference;
  if (a.clock_policy != b.clock_policy) {
    return fmt::format("another clock policy: {} against {}", a.clock_policy, b.clock_policy);
  }
  return std::nullopt;
}

std::optional<std::string> worker_difference(const Environment& first, const Environment& now) {
  if (auto other = incompatibility(first, now)) return other;
  if (first.commit != now.commit) return fmt::format("another build: commit {} against {}", first.commit, now.commit);
  if (first.gpu && first.gpu->uuid != now.gpu->uuid) {
    return fmt::format("another GPU: {} against {}", first.gpu->uuid, now.gpu->uuid);
  }
  return std::nullopt;
}

}  // namespace tbench
