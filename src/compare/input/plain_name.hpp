// Names in plain Google Benchmark JSON. The library appends to them how a benchmark is measured: `/iterations:100`,
// `/real_time`. Runs that differ in that alone are matched, but benchmarks of one file are never taken for one.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tbench/compare/sides.hpp"

namespace tbench::compare {

/// A name in its parts, in the order of BenchmarkName::str(), each with the slashes before it.
struct PlainName {
  std::string benchmark;  // function and arguments
  std::string counts;     // min_time, min_warmup_time, iterations, repeats
  std::string clock;      // process_time, manual_time, real_time
  std::string threads;
  std::string nth;  // `#2`: the second benchmark of a file that has the name
  bool operator==(const PlainName&) const = default;
};

[[nodiscard]] PlainName plain_name(const std::string& name);

/// `name`, of the `nth` benchmark that has it in its file, from 1.
[[nodiscard]] std::string nth_name(const std::string& name, std::size_t nth);

/// Gives the cases of plain sides, whose names are whole so far, the names and keys that they are matched by: without
/// `counts` and `clock`, as long as all benchmarks of every file stay apart; else with `clock`; else whole.
/// @param sides  of one file each, all that are compared with each other
void match_plain_names(std::span<ComparisonSide> sides);

}  // namespace tbench::compare
