// Which cases of a selection a shard runs, and in which order a run has them: what runs cases decides by it, and what
// joins results files restores it. Needs no table of cases.
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

/// Whether a case belongs to the family that measures the GPU's own limits. A run has these first.
[[nodiscard]] bool is_ceiling(const CaseId& id);

/// One of `count` parts of a selection that together are all of it (`--tb_shard=index/count`).
struct Shard {
  std::int64_t index{1};  // from 1
  std::int64_t count{1};
  bool operator==(const Shard&) const = default;
};

/// `2/4`; nothing unless 1 <= index <= count.
[[nodiscard]] std::optional<Shard> parse_shard(std::string_view text);
/// `2/4`
[[nodiscard]] std::string to_string(const Shard& shard);

// The cases that are shared out are all but ceilings; `place` and `shared` count these alone, from 0. A shard has one
// of every `count` that follow each other, and each time the next one: tables repeat with the periods of their axes,
// and a shard that always took the same place could get nothing but one implementation.

/// The index of the shard that has the case at `place` (from 0).
[[nodiscard]] std::int64_t shard_of_place(std::int64_t place, std::int64_t count);
/// The place of the shard's n-th case (from 0): the inverse of shard_of_place.
[[nodiscard]] std::int64_t place_of(const Shard& shard, std::int64_t n);
/// How many of `shared` cases the shard has.
[[nodiscard]] std::int64_t size_of(const Shard& shard, std::int64_t shared);

/// Returns the shard's cases, in the order of `cases`. All selected ceilings belong to the first shard.
[[nodiscard]] std::vector<CaseId> cases_of(const Shard& shard, std::span<const CaseId> cases);

// Shards that take about as long as each other, where the durations of the cases are known.

/// Places of a shard, ascending.
using Places = std::vector<std::int64_t>;

struct TimedCase {
  std::string name;
  Seconds time;
};

/// The places of each shard: the longest case first, to the shard that has the least time so far (of equal ones, the
/// fewest cases, then the first); of equally long cases the first by name. Each of at most cases.size() shards has one.
/// @param cases  in the order of their places
/// @param count  of shards, > 0
[[nodiscard]] std::vector<Places> places_by_time(std::span<const TimedCase> cases, std::int64_t count);

/// Returns the shard's cases, in the order of `cases`. All selected ceilings belong to the first shard.
[[nodiscard]] std::vector<CaseId> cases_at(const Shard& shard, const Places& places, std::span<const CaseId> cases);

/// `0,3,9-12`; empty for none.
[[nodiscard]] std::string format_places(const Places& places);
/// Reads the text that format_places has written; returns nothing for another text.
[[nodiscard]] std::optional<Places> parse_places(std::string_view text);

/// Returns the place of a case in the random order of one of several processes. It follows from the seed, the process
/// and the own name of the case alone, so that a case that is added or taken away leaves the others in their order.
/// @param process  from 0
[[nodiscard]] std::uint64_t random_rank(const std::string& name, std::int64_t process, std::uint64_t seed);

}  // namespace tbench
