#include "studies/writeup/protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"

namespace tbench::studies {
namespace {

using Texts = std::vector<std::string>;

/// Returns `5 + 10`, `5 + as many as it needs`, or an empty text if the sampler chooses both counts.
std::string counts_of(const StudyProtocol& protocol) {
  constexpr const char* kChosen = "as many as needed";
  if (!protocol.warm_up && !protocol.samples) return "";
  const auto text = [&](const auto& count) { return count ? fmt::format("{}", *count) : std::string{kChosen}; };
  return fmt::format("{} + {}", text(protocol.warm_up), text(protocol.samples));
}

/// Returns the different values of an option in the files.
Texts recorded(std::span<const results::NamedResults> results, const std::string& option) {
  std::set<std::string> values;
  for (const results::NamedResults& result : results) {
    const auto found = result.file.options.find(option);
    if (found != result.file.options.end()) values.insert(found->second);
  }
  return {values.begin(), values.end()};
}

Texts power_limits(std::span<const results::NamedResults> results) {
  std::set<std::string> limits;
  for (const results::NamedResults& result : results) {
    const auto& gpu = result.file.environment.gpu;
    if (gpu && gpu->power_limit_w) limits.insert(fmt::format("{} W", render::format_thousands(*gpu->power_limit_w)));
  }
  return {limits.begin(), limits.end()};
}

}  // namespace

Texts protocol_lines(std::span<const std::reference_wrapper<const Study>> studies,
                     std::span<const results::NamedResults> results) {
  Texts families;
  Texts parts;
  for (const Study& study : studies) {
    for (const FamilyGrid& grid : study.grids) {
      if (std::ranges::find(families, grid.family) != families.end()) continue;
      families.push_back(grid.family);
      const std::string counts = counts_of(study.protocol);
      if (!counts.empty()) parts.push_back(fmt::format("{} {}", grid.family, counts));
    }
  }
  Texts lines;
  if (!parts.empty()) lines.push_back(fmt::format("Warm-up + timed steps: {}", join(parts, ", ")));
  Texts facts;
  if (const Texts seeds = recorded(results, "seed"); !seeds.empty()) facts.push_back("seed " + join(seeds, ", "));
  if (const Texts limits = power_limits(results); !limits.empty()) {
    facts.push_back("power limit " + join(limits, ", "));
  }
  if (!facts.empty()) lines.push_back(join(facts, ", "));
  return lines;
}

}  // namespace tbench::studies
