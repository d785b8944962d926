#include "tbench/core/environment.hpp"

#include <fmt/format.h>

namespace tbench {
namespace {

std::string device_name(const Environment& environment) {
  return environment.gpu ? environment.gpu->name : fmt::format("no GPU ({})", environment.cpu_name);
}

std::string value_or_absent(const std::map<std::string, std::string>& versions, const std::string& name) {
  const auto found = versions.find(name);
  return found == versions.end() ? "absent" : found->second;
}

/// The first version that differs, as "name: old against new".
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

std::optional<std::string> incompatibility(const Environment& a, const Environment& b) {
  if (device_name(a) != device_name(b)) {
    return fmt::format("another device: {} against {}", device_name(a), device_name(b));
  }
  if (a.sources_digest != b.sources_digest) {
    return fmt::format("another build: sources {:.12} against {:.12}", a.sources_digest, b.sources_digest);
  }
  if (a.build_type != b.build_type) {
    return fmt::format("another build type: {} against {}", a.build_type, b.build_type);
  }
  if (const auto difference = version_difference(a, b)) return "another version of " + *difference;
  if (a.clock_policy != b.clock_policy) {
    return fmt::format("another clock policy: {} against {}", a.clock_policy, b.clock_policy);
  }
  return std::nullopt;
}

}  // namespace tbench
