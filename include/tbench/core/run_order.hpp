// The cases that each shard of a selection runs, and their order. Programs that run cases follow it; programs that join
// results files restore it. Needs no table of cases.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tbench/core/case_id.hpp"
#include "tbench/core/units.hpp"

namespace tbench {

/// Returns whether a case belongs to the family that measures the GPU's own limits. Those cases come first in a run.
[[nodiscard]] bool is_ceiling(const CaseId& id);

/// One of `count` parts of a selection that together are all of it (`--tb_shard=index/count`).
struct Shard {
  std::int64_t index{1};  // from 1
  std::int64_t count{1};
  bool operator==(const Shard&) const = default;
};

/// Parses `2/4`. Returns nullopt unless 1 <= index <= count.
[[nodiscard]] std::optional<Shard> parse_shard(std::string_view text);
/// Formats a shard as `2/4`.
[[nodiscard]] std::string to_string(const Shard& shard);

// All cases except ceilings are distributed to shards. `place` is a case's index among the distributed cases, and
// `shared` is their number. A shard takes one case from each group of `count` consecutive cases, at a position that
// advances from group to group. Tables repeat with the periods of their axes, so a shard with a fixed position could
// get a single implementation only.

/// Returns the index, from 1, of the shard that has the case with index `place`.
[[nodiscard]] std::int64_t shard_of_place(std::int64_t place, std::int64_t count);
/// Returns `place` of the shard's n-th case, with n from 0: the inverse of shard_of_place().
[[nodiscard]] std::int64_t place_of(const Shard& shard, std::int64_t n);
/// Returns the number of cases that the shard has out of `shared`.
[[nodiscard]] std::int64_t size_of(const Shard& shard, std::int64_t shared);

/// Returns the shard's cases, in the order of `cases`. All selected ceilings belong to the first shard.
[[nodiscard]] std::vector<CaseId> cases_of(const Shard& shard, std::span<const CaseId> cases);

// Shards of about equal duration, for cases with known durations.

/// `place` of each of a shard's cases, ascending.
using Places = std::vector<std::int64_t>;

struct TimedCase {
  std::string name;
  Seconds time;
};

/// Distributes cases to shards. Assigns the longest case first (ties by name), each to the shard with the least time so
/// far (ties by fewest cases, then by index). Each shard gets a case if there are at least as many cases as shards.
/// @param cases  cases in the order of their places
/// @param count  number of shards, > 0
[[nodiscard]] std::vector<Places> places_by_time(std::span<const TimedCase> cases, std::int64_t count);

/// Returns the shard's cases, in the order of `cases`. All selected ceilings belong to the first shard.
[[nodiscard]] std::vector<CaseId> cases_at(const Shard& shard, const Places& places, std::span<const CaseId> cases);

/// Formats places as `0,3,9-12`; returns an empty string if there are none.
[[nodiscard]] std::string format_places(const Places& places);
/// Parses a text that format_places() has written. Returns nullopt for any other text.
[[nodiscard]] std::optional<Places> parse_places(std::string_view text);

/// Returns the sort key of a case in the random order of one of several processes. It depends only on the seed, the
/// process and the case's own name, so that adding or removing a case does not reorder the other cases.
/// @param process  index of the process, from 0
[[nodiscard]] std::uint64_t random_rank(const std::string& name, std::int64_t process, std::uint64_t seed);

}  // namespace tbench
