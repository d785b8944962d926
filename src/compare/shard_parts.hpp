// The shards among the files to merge: the cases that each should have, and those that are missing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/run_order.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::compare {

/// A file with a shard, and the cases that it should have.
struct Part {
  results::NamedResults results;
  Shard shard;
  std::int64_t shared{};         // number of cases that the shards divide among them
  std::optional<Places> places;  // of the shard's cases, if durations decided; else they follow from the shard

  [[nodiscard]] std::int64_t size() const {
    return places ? static_cast<std::int64_t>(places->size()) : size_of(shard, shared);
  }
  /// Returns the n-th case's `place`, its index among the distributed cases (core/run_order.hpp).
  /// @param n  from 0; below size()
  [[nodiscard]] std::int64_t place(std::int64_t n) const {
    return places ? places->at(static_cast<std::size_t>(n)) : place_of(shard, n);
  }
};

/// Returns an option that is a whole number, or nullopt if it is absent or not a whole number.
[[nodiscard]] std::optional<std::int64_t> number_in(const results::ResultFile& file, const std::string& option);

/// Returns the file's --tb_processes, or 1.
[[nodiscard]] std::int64_t processes_of(const results::ResultFile& file);

/// Returns whether the files are shards.
/// @throws  UsageError  if some are shards and others are not
[[nodiscard]] bool are_shards(std::span<const results::NamedResults> files);

/// Returns the files sorted by shard. Each file that is not a shard is one part; these parts keep their order.
/// @throws  UsageError  if places are malformed, or beyond the number of shared cases
[[nodiscard]] std::vector<Part> parts_of(std::vector<results::NamedResults> files);

/// Checks that the shards come from one division.
/// @throws  UsageError  if shards have different counts or different durations, a shard is given twice, two shards have
///                      the same case, or a shard has too many cases
void check_shards(std::span<const Part> parts);

/// Returns descriptions of the shards that are missing, and of the missing cases of the shards that are there.
[[nodiscard]] std::vector<std::string> missing_of(std::span<const Part> parts);

}  // namespace tbench::compare
