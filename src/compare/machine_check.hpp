// Whether files to merge are of one machine model, one build and one command line, and who differs.
#pragma once

#include <map>
#include <span>
#include <string>

#include "tbench/core/environment.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::compare {

/// Facts, besides the GPU specimen, that a machine's results depend on, by the name that a reader knows.
using Facts = std::map<std::string, std::string>;
[[nodiscard]] Facts machine_facts(const Environment& environment);

/// @throws  NotComparable  unless machine, build and command line are the same in all: every difference, with the
/// files,
///                         and the remedy
void require_same_machine(std::span<const results::NamedResults> parts);

/// Returns the options of an undivided run: the options of the parts, without `shard`, `shard_places` and
/// `shared_cases`. Different filters become one that selects what they select together; different `durations` and
/// `context.KEY` become a list of all values.
/// @param parts  as require_same_machine leaves them
/// @throws       NotComparable  for different filters of which one excludes
[[nodiscard]] std::map<std::string, std::string> joined_options(std::span<const results::NamedResults> parts);

/// `'a.json'`, `'a.json' and 2 more`.
[[nodiscard]] std::string listed(std::span<const std::string> labels);

}  // namespace tbench::compare
