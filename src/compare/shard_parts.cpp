#include "compare/shard_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compare/machine_check.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench::compare {
namespace {

using results::NamedResults;
using results::ResultFile;

/// Returns the file's shard, or nullopt if the file is not a shard.
std::optional<Shard> shard_of(const ResultFile& file) {
  const auto found = file.options.find("shard");
  return found == file.options.end() ? std::nullopt : parse_shard(found->second);
}

/// Returns the number of runs of cases other than ceilings. A case has one run per process. Repetitions inside a
/// process count once.
std::int64_t runs_of_cases(const ResultFile& file) {
  const bool has_processes = processes_of(file) > 1;
  std::set<std::pair<std::string, std::int64_t>> runs;
  for (const Record& record : file.records) {
    if (!is_ceiling(record.id)) runs.emplace(record.id.name(), has_processes ? record.repetition_index : 0);
  }
  return static_cast<std::int64_t>(runs.size());
}

/// Returns the Places of a shard's cases, or nullopt if the file does not list them.
/// @throws  UsageError  if the places are malformed, or beyond the number of shared cases
std::optional<Places> places_of(const NamedResults& results, std::int64_t shared) {
  const auto found = results.file.options.find("shard_places");
  if (found == results.file.options.end()) return std::nullopt;
  std::optional<Places> places = parse_places(found->second);
  if (places && (places->empty() || places->back() < shared)) return places;
  throw UsageError{fmt::format("'{}': shard_places '{}' are not places of {} cases. Measure the shard again.",
                               results.label, found->second, shared)};
}

/// Checks that all shards were divided by the same durations.
/// @throws  UsageError  if a shard has other durations than the first, or has a case of another shard
void check_durations(std::span<const Part> parts) {
  const auto durations_of = [](const Part& part) {
    const auto found = part.results.file.options.find("durations");
    return part.places && found != part.results.file.options.end() ? found->second : std::string{"none"};
  };
  const Part& first = parts.front();
  std::map<std::int64_t, const Part*> owners;
  for (const Part& part : parts) {
    if (durations_of(part) != durations_of(first)) {
      throw UsageError{
          fmt::format("'{}' is a shard made with the durations {} and '{}' with {}: their cases are not parts of one "
                      "whole. Measure "
                      "one of them again with the other's --tb_durations (none: --tb_durations=off).",
                      first.results.label, durations_of(first), part.results.label, durations_of(part))};
    }
    if (!part.places) continue;
    for (const std::int64_t place : *part.places) {
      const auto [owner, is_new] = owners.emplace(place, &part);
      if (is_new) continue;
      throw UsageError{fmt::format("'{}' and '{}' both have place {} (shard_places): one was edited. Measure it again.",
                                   owner->second->results.label, part.results.label, place)};
    }
  }
}

/// Adds the shards without a file. If durations decided, the other files tell only how many cases these shards have
/// together.
void add_missing_shards(std::vector<std::string>& missing, const std::vector<Shard>& shards,
                        std::span<const Part> parts) {
  if (shards.empty()) return;
  const Part& first = parts.front();
  if (!first.places) {
    for (const Shard& shard : shards) {
      missing.push_back(fmt::format("shard {}, {} cases", to_string(shard), size_of(shard, first.shared)));
    }
    return;
  }
  std::int64_t rest = first.shared;
  for (const Part& part : parts) rest -= part.size();
  std::vector<std::string> names;
  for (const Shard& shard : shards) names.push_back(to_string(shard));
  missing.push_back(
      fmt::format("{} {}, {} cases", agreeing(names.size(), "shard", "shards"), join(names, " and "), rest));
}

}  // namespace

std::optional<std::int64_t> number_in(const ResultFile& file, const std::string& option) {
  const auto found = file.options.find(option);
  return found == file.options.end() ? std::nullopt : parse_integer(found->second);
}

std::int64_t processes_of(const ResultFile& file) { return number_in(file, "processes").value_or(1); }

std::vector<Part> parts_of(std::vector<NamedResults> files) {
  std::vector<Part> parts;
  for (NamedResults& one : files) {
    const std::optional<Shard> shard = shard_of(one.file);
    const std::int64_t shared = number_in(one.file, "shared_cases").value_or(0);
    std::optional<Places> places = shard ? places_of(one, shared) : std::nullopt;
    parts.push_back(
        {.results = std::move(one), .shard = shard.value_or(Shard{}), .shared = shared, .places = std::move(places)});
  }
  std::ranges::stable_sort(parts, {}, [](const Part& part) { return part.shard.index; });
  return parts;
}

bool are_shards(std::span<const NamedResults> files) {
  std::vector<std::string> shards;
  std::vector<std::string> others;
  for (const NamedResults& one : files) (shard_of(one.file) ? shards : others).push_back(one.label);
  if (shards.empty() || others.empty()) return !shards.empty();
  throw UsageError{fmt::format(
      "{} {} a shard (--tb_shard), {} {} none; merge the shards of one run, or files that are none", listed(shards),
      agreeing(shards.size(), "is", "are"), listed(others), agreeing(others.size(), "is", "are"))};
}

void check_shards(std::span<const Part> parts) {
  const Part& first = parts.front();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [results, shard, shared, places] = parts[i];
    if (shard.count != first.shard.count) {
      throw UsageError{fmt::format(
          "'{}' is shard {} and '{}' is shard {}: they are not parts of one division; give the shards of one",
          first.results.label, to_string(first.shard), results.label, to_string(shard))};
    }
    if (i > 0 && shard == parts[i - 1].shard) {
      throw UsageError{
          fmt::format("'{}' and '{}' are both shard {}; give each once (--tb_resume completes one that was "
                      "cut short)",
                      parts[i - 1].results.label, results.label, to_string(shard))};
    }
    const std::int64_t most = parts[i].size() * processes_of(results.file);
    if (runs_of_cases(results.file) <= most) continue;
    throw UsageError{fmt::format("'{}' has {} cases, though shard {} of {} has {}; measure it again", results.label,
                                 runs_of_cases(results.file), to_string(shard), shared, most)};
  }
  check_durations(parts);
}

std::vector<std::string> missing_of(std::span<const Part> parts) {
  const Part& first = parts.front();
  std::map<std::int64_t, const Part*> present;
  for (const Part& part : parts) present.emplace(part.shard.index, &part);
  std::vector<std::string> missing;
  std::vector<Shard> missing_shards;
  for (std::int64_t index = 1; index <= std::min(first.shard.count, std::max(first.shared, std::int64_t{1})); ++index) {
    const auto found = present.find(index);
    if (found == present.end()) {
      missing_shards.push_back({.index = index, .count = first.shard.count});
      continue;
    }
    const Part& part = *found->second;
    const std::int64_t size = part.size() * processes_of(part.results.file);
    const std::int64_t count = runs_of_cases(part.results.file);
    const std::string& label = part.results.label;
    if (count < size) {
      missing.push_back(fmt::format("{} of {} of shard {} ('{}')", size - count, size, to_string(part.shard), label));
    } else if (size == 0 && part.results.file.interrupted) {  // ceilings come first: a whole run has them
      missing.push_back(fmt::format("ceilings of shard {} ('{}')", to_string(part.shard), label));
    }
  }
  add_missing_shards(missing, missing_shards, parts);
  return missing;
}

}  // namespace tbench::compare
