// Whether results files may become one: what has to be the same in all of them, and who differs.
#pragma once

#include <map>
#include <span>
#include <string>

#include "tbench/results/result_file.hpp"

namespace tbench::fleet {

/// What a machine's results depend on besides which GPU of its model it is, by name, as a reader calls it.
using Facts = std::map<std::string, std::string>;
[[nodiscard]] Facts machine_facts(const Environment& environment);

/// @throws  compare::NotComparable  unless machine, build and command line are the same in all: every difference, with
///                                  the files, and the remedy
void check_same_kind(std::span<const results::NamedResults> parts);

/// The options of an undivided run: those of the parts, without `shard` and `shared_cases`. Of different filters, one
/// that selects what they do together; of different `context.KEY`, all values.
/// @param parts  as check_same_kind leaves them
/// @throws       compare::NotComparable  for different filters of which one excludes
[[nodiscard]] std::map<std::string, std::string> joined_options(std::span<const results::NamedResults> parts);

/// `'a.json'`, `'a.json' and 2 more`.
[[nodiscard]] std::string listed(std::span<const std::string> labels);

}  // namespace tbench::fleet
