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

/// Returns the families whose cases were timed in a regime, without ceilings, which are not part of the studies' grids.
Texts timed_families(std::span<const results::NamedResults> results, const Texts& families, Regime regime) {
  std::set<std::string> found;
  for (const results::NamedResults& result : results) {
    for (const Record& record : result.file.records) {
      if (!record.timing || record.timing->regime != regime) continue;
      const std::string& family = record.id.family();
      if (std::ranges::find(families, family) != families.end()) found.insert(family);
    }
  }
  return {found.begin(), found.end()};
}

/// Returns how the host waits for the steps of each family while it times them.
std::string waiting_line(std::span<const results::NamedResults> results, const Texts& families) {
  Texts parts;
  if (const Texts sustained = timed_families(results, families, Regime::kSustained); !sustained.empty()) {
    parts.push_back(fmt::format("{}: step after step, and the host waits after the last one", join(sustained, ", ")));
  }
  if (const Texts bursts = timed_families(results, families, Regime::kBurst); !bursts.empty()) {
    parts.push_back(fmt::format("{}: the host waits after each step, and the GPU rests", join(bursts, ", ")));
  }
  if (parts.empty()) return "";
  const bool has_gpu = std::ranges::any_of(
      results, [](const results::NamedResults& result) { return result.file.environment.gpu.has_value(); });
  return fmt::format("Timed by {}. {}", has_gpu ? "CUDA events on the GPU" : "a clock of the host", join(parts, "; "));
}

/// Returns how many steps of a case were traced, or an empty text without a trace.
std::string tracing_line(std::span<const results::NamedResults> results) {
  std::set<std::size_t> steps;
  for (const results::NamedResults& result : results) {
    for (const Record& record : result.file.records) {
      if (record.trace) steps.insert(static_cast<std::size_t>(record.trace->steps));
    }
  }
  if (steps.empty()) return "";
  const std::string range = *steps.begin() == *steps.rbegin()
                                ? fmt::format("{}", *steps.begin())
                                : fmt::format("{} to {}", *steps.begin(), *steps.rbegin());
  return fmt::format("Traced steps: {} a case, apart from the timed ones", range);
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
  for (std::string line : {waiting_line(results, families), tracing_line(results)}) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  Texts facts;
  if (const Texts seeds = recorded(results, "seed"); !seeds.empty()) facts.push_back("seed " + join(seeds, ", "));
  if (const Texts limits = power_limits(results); !limits.empty()) {
    facts.push_back("power limit " + join(limits, ", "));
  }
  if (!facts.empty()) lines.push_back(join(facts, ", "));
  return lines;
}

}  // namespace tbench::studies
