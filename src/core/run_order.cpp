#include "tbench/core/run_order.hpp"

#include <fmt/format.h>

#include "tbench/core/text.hpp"

namespace tbench {
namespace {

/// Where in its round (`count` cases that follow each other) a shard has its case.
std::int64_t column_of(const Shard& shard, std::int64_t round) {
  const std::int64_t turned = (shard.index - 1 - round % shard.count) % shard.count;
  return turned < 0 ? turned + shard.count : turned;
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
