// Shards among the files to merge: what each should have, and what is missing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/run_order.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::compare {

/// A file of shards, and what it should have.
struct Part {
  results::NamedResults results;
  Shard shard;
  std::int64_t shared{};         // cases that all shards have one each of
  std::optional<Places> places;  // of the shard's, where durations decided; else they follow from the shard

  [[nodiscard]] std::int64_t size() const {
    return places ? static_cast<std::int64_t>(places->size()) : size_of(shard, shared);
  }
  /// The place of the n-th case, which is not beyond the shard's last.
  [[nodiscard]] std::int64_t place(std::int64_t n) const {
    return places ? places->at(static_cast<std::size_t>(n)) : place_of(shard, n);
  }
};

/// An option that is a whole number; nothing if there is none.
[[nodiscard]] std::optional<std::int64_t> number_in(const results::ResultFile& file, const std::string& option);

/// --tb_processes
[[nodiscard]] std::int64_t processes_of(const results::ResultFile& file);

/// @throws  UsageError  for shards beside files that are none
[[nodiscard]] bool are_shards(std::span<const results::NamedResults> files);

/// The files by shard. Files that are no shards are one part each of a selection without shards, in their order.
/// @throws  UsageError  for places that are not written as they are, or beyond the shared cases
[[nodiscard]] std::vector<Part> parts_of(std::vector<results::NamedResults> files);

/// @throws  UsageError  for shards of different numbers or by different durations, one that is there twice, has a place
///                      of another, or has cases that are not its own
void check_shards(std::span<const Part> parts);

/// Shards, and cases of those that are there.
[[nodiscard]] std::vector<std::string> missing_of(std::span<const Part> parts);

}  // namespace tbench::compare
