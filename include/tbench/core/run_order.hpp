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

// The cases that are shared out are those that are no ceilings; `place` and `shared` count these alone. Of every
// `count` that follow each other a shard has one, and each time the next one: tables repeat with the periods of their
// axes, and a shard that always took the same place could get nothing but one implementation.

/// The index of the shard that has the case at `place` (from 0).
[[nodiscard]] std::int64_t shard_of_place(std::int64_t place, std::int64_t count);
/// The place of the shard's n-th case (from 0): the inverse of shard_of_place.
[[nodiscard]] std::int64_t place_of(const Shard& shard, std::int64_t n);
/// How many of `shared` cases the shard has.
[[nodiscard]] std::int64_t size_of(const Shard& shard, std::int64_t shared);

/// The shard's cases, in the order of `cases`. All selected ceilings are the first shard's.
[[nodiscard]] std::vector<CaseId> cases_of(const Shard& shard, std::span<const CaseId> cases);

/// Where a case stands in the random order of one of several processes. It follows from the seed, the process and the
/// case's own name alone, so that a case that is added or taken away leaves the others in their order.
/// @param process  from 0
[[nodiscard]] std::uint64_t random_rank(const std::string& name, std::int64_t process, std::uint64_t seed);

}  // namespace tbench
