// Names in plain Google Benchmark JSON. The library appends suffixes that say how a benchmark is measured:
// `/iterations:100`, `/real_time`. Names that differ only in these suffixes match between files, but two benchmarks of
// one file always stay two cases.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tbench/compare/sides.hpp"

namespace tbench::compare {

/// The parts of a name, in the order of BenchmarkName::str(), each with the slash before it.
struct PlainName {
  std::string benchmark;  // function and arguments
  std::string counts;     // min_time, min_warmup_time, iterations, repeats
  std::string clock;      // process_time, manual_time, real_time
  std::string threads;
  std::string nth;  // `#2`: the second benchmark of a file that has the name
  bool operator==(const PlainName&) const = default;
};

/// Splits a name into its parts.
[[nodiscard]] PlainName plain_name(const std::string& name);

/// Returns the case name of the `nth` benchmark with this name in a file, from 1: `name`, `name#2` and so on.
[[nodiscard]] std::string nth_name(const std::string& name, std::size_t nth);

/// Gives the cases of plain sides, which have whole names so far, the names and keys by which they are matched. The new
/// names lack `counts` and `clock` if all benchmarks of every file still differ. Otherwise they have `clock`, or are
/// whole.
/// @param sides  all sides that are compared with each other, each from a single file
void match_plain_names(std::span<ComparisonSide> sides);

}  // namespace tbench::compare
