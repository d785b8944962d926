// Checks that the files to merge come from one machine model, one build and one command line.
#pragma once

#include <map>
#include <span>
#include <string>

#include "tbench/core/environment.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::compare {

/// The facts about a machine on which its results depend, by the name that a reader knows. The GPU's UUID is not among
/// them.
using Facts = std::map<std::string, std::string>;
[[nodiscard]] Facts machine_facts(const Environment& environment);

/// Checks that all parts have the same machine model, build and command line.
/// @throws  NotComparable  if they differ; the message has every difference, its files, and what to do
void require_same_machine(std::span<const results::NamedResults> parts);

/// Returns the options of an undivided run: the options of the parts, without `shard`, `shard_places` and
/// `shared_cases`. Different filters become one filter that selects all their cases. Different `durations` and
/// `context.KEY` become a list of all values.
/// @param parts  parts that require_same_machine() accepts
/// @throws       NotComparable  if the filters differ and one of them excludes cases
[[nodiscard]] std::map<std::string, std::string> joined_options(std::span<const results::NamedResults> parts);

/// Returns labels in short: `'a.json'`, `'a.json' and 'b.json'`, `'a.json' and 2 more`.
[[nodiscard]] std::string listed(std::span<const std::string> labels);

}  // namespace tbench::compare
