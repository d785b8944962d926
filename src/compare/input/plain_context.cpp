#include "compare/input/plain_context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "tbench/core/text.hpp"

namespace tbench::compare {
namespace {

using results::Json;

constexpr std::size_t kMaxFacts = 64;
constexpr std::size_t kMaxValue = 200;  // bytes
constexpr std::array<std::string_view, 2> kLeftOut{"json_schema_version", "load_avg"};

std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  if (value.is_number_integer()) return value.dump();
  return value.is_number() ? fmt::format("{:.6g}", value.get<double>()) : "";
}

std::string text_at(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? "" : text_of(*found);
}

/// Returns the caches as a text: `L1 Data 32768 B, L3 Unified 33554432 B by 8`.
std::string caches_of(const Json& caches) {
  std::vector<std::string> parts;
  for (const Json& cache : caches) {
    if (!cache.is_object()) continue;
    const std::string shared = text_at(cache, "num_sharing");
    parts.push_back(fmt::format("L{} {} {} B{}{}", text_at(cache, "level"), text_at(cache, "type"),
                                text_at(cache, "size"), shared.empty() ? "" : " by ", shared));
  }
  return join(parts, ", ");
}

std::string value_at(const PlainContext& context, const char* key) {
  const auto found = context.find(key);
  return found == context.end() ? "" : found->second;
}

}  // namespace

PlainContext plain_context(const Json& context) {
  PlainContext facts;
  for (const auto& [key, value] : context.items()) {
    if (facts.size() == kMaxFacts) break;
    if (key.size() > kMaxValue || std::ranges::find(kLeftOut, key) != kLeftOut.end()) continue;
    std::string text = key == "caches" && value.is_array() ? caches_of(value) : text_of(value);
    text.resize(std::min(text.size(), kMaxValue));
    if (!text.empty()) facts.emplace(key, std::move(text));
  }
  return facts;
}

std::string machine_of(const PlainContext& context) {
  const std::string cpus = value_at(context, "num_cpus");
  std::string host = value_at(context, "host_name");
  if (cpus.empty()) return host;
  return fmt::format("{} CPU{}{}", cpus, cpus == "1" ? "" : "s", host.empty() ? "" : fmt::format(" ({})", host));
}

std::string program_of(const PlainContext& context) {
  std::string program = value_at(context, "executable");
  const bool is_name =
      std::ranges::all_of(program, [](char letter) { return std::isprint(static_cast<unsigned char>(letter)) != 0; });
  return is_name && program.size() < kMaxValue ? program : "";
}

}  // namespace tbench::compare
