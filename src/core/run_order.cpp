#include "tbench/core/run_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "tbench/core/text.hpp"

namespace tbench {
namespace {

/// Returns the index, from 0, that a shard's case has in its round of `count` consecutive cases.
std::int64_t column_of(const Shard& shard, std::int64_t round) {
  const std::int64_t turned = (shard.index - 1 - round % shard.count) % shard.count;
  return turned < 0 ? turned + shard.count : turned;
}

/// A limit beyond any selection, so that a huge range in a damaged file is refused instead of filling the memory.
constexpr std::int64_t kMaxPlaces = 10'000'000;

struct Load {
  Seconds time;
  Places places;
};

/// Parses `3` or `9-12` as the first and the last index. Returns nullopt for other text.
std::optional<std::pair<std::int64_t, std::int64_t>> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::optional<std::int64_t> first = parse_integer(text.substr(0, dash));
  if (dash == std::string_view::npos) return first ? std::optional{std::pair{*first, *first}} : std::nullopt;
  const std::optional<std::int64_t> last = parse_integer(text.substr(dash + 1));
  if (!first || !last || *last <= *first) return std::nullopt;
  return std::pair{*first, *last};
}

}  // namespace

bool is_ceiling(const CaseId& id) { return id.family() == "Ceiling"; }

std::optional<Shard> parse_shard(std::string_view text) {
  const std::vector<std::string> parts = split(text, '/');
  if (parts.size() != 2) return std::nullopt;
  const std::optional<std::int64_t> index = parse_integer(parts.front());
  const std::optional<std::int64_t> count = parse_integer(parts.back());
  if (!index || !count || *index < 1 || *index > *count) return std::nullopt;
  return Shard{.index = *index, .count = *count};
}

std::string to_string(const Shard& shard) { return fmt::format("{}/{}", shard.index, shard.count); }

std::int64_t shard_of_place(std::int64_t place, std::int64_t count) {
  const std::int64_t round = place / count;
  return (place % count + round % count) % count + 1;
}

std::int64_t place_of(const Shard& shard, std::int64_t n) { return n * shard.count + column_of(shard, n); }

std::int64_t size_of(const Shard& shard, std::int64_t shared) {
  const std::int64_t rounds = shared / shard.count;
  return rounds + (column_of(shard, rounds) < shared % shard.count ? 1 : 0);
}

std::vector<CaseId> cases_of(const Shard& shard, std::span<const CaseId> cases) {
  std::vector<CaseId> own;
  std::int64_t place = 0;
  for (const CaseId& id : cases) {
    const std::int64_t owner = is_ceiling(id) ? 1 : shard_of_place(place++, shard.count);
    if (owner == shard.index) own.push_back(id);
  }
  return own;
}

std::vector<Places> places_by_time(std::span<const TimedCase> cases, std::int64_t count) {
  std::vector<std::size_t> order(cases.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return std::tie(cases[b].time, cases[a].name, a) < std::tie(cases[a].time, cases[b].name, b);
  });
  std::vector<Load> loads(static_cast<std::size_t>(count));
  for (const std::size_t place : order) {
    const auto least = std::ranges::min_element(loads, {}, [](const Load& load) {
      return std::pair{load.time.value, load.places.size()};
    });
    least->time = least->time + cases[place].time;
    least->places.push_back(static_cast<std::int64_t>(place));
  }
  std::vector<Places> shards;
  for (Load& load : loads) {
    std::ranges::sort(load.places);
    shards.push_back(std::move(load.places));
  }
  return shards;
}

std::vector<CaseId> cases_at(const Shard& shard, const Places& places, std::span<const CaseId> cases) {
  std::vector<CaseId> own;
  std::int64_t place = 0;
  for (const CaseId& id : cases) {
    const bool is_own = is_ceiling(id) ? shard.index == 1 : std::ranges::binary_search(places, place++);
    if (is_own) own.push_back(id);
  }
  return own;
}

std::string format_places(const Places& places) {
  std::vector<std::string> ranges;
  for (std::size_t begin = 0; begin < places.size();) {
    std::size_t end = begin + 1;
    while (end < places.size() && places[end] == places[end - 1] + 1) ++end;
    const std::int64_t last = places[end - 1];
    ranges.push_back(end - begin == 1 ? fmt::format("{}", last) : fmt::format("{}-{}", places[begin], last));
    begin = end;
  }
  return join(ranges, ",");
}

std::optional<Places> parse_places(std::string_view text) {
  Places places;
  if (text.empty()) return places;
  for (const std::string& part : split(text, ',')) {
    const auto range = parse_range(part);
    const std::int64_t least = places.empty() ? 0 : places.back() + 1;
    if (!range || range->first < least || range->second >= kMaxPlaces) return std::nullopt;
    for (std::int64_t place = range->first; place <= range->second; ++place) places.push_back(place);
  }
  return places;
}

/// FNV-1a, then the finalizer of splitmix64.
std::uint64_t random_rank(const std::string& name, std::int64_t process, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add_byte = [&hash](std::uint64_t byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const std::uint64_t number : {seed, static_cast<std::uint64_t>(process)}) {
    for (int shift = 0; shift < 64; shift += 8) add_byte((number >> shift) & 0xff);
  }
  for (const char letter : name) add_byte(static_cast<unsigned char>(letter));
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

}  // namespace tbench
