#include "model/data_parallel/scatter_plan.hpp"

#include <algorithm>
#include <set>

namespace tbench::model {
namespace {

/// Adds one row of the part's buffer: the range `row` of the elements of all shares. The row starts at offset `place`.
void add_row(std::span<const ElementRange> leaves, ElementRange row, std::int64_t place, ScatterPart& part) {
  std::int64_t filled = row.begin;
  const auto add_gap = [&](std::int64_t end) {
    if (end > filled) part.gaps.push_back({place + filled - row.begin, end - filled});
  };
  auto leaf = std::ranges::upper_bound(leaves, row.begin, {}, &ElementRange::end);
  for (; leaf != leaves.end() && leaf->begin < row.end(); ++leaf) {
    const std::int64_t begin = std::max(leaf->begin, row.begin), end = std::min(leaf->end(), row.end());
    add_gap(begin);
    part.pieces.push_back({.leaf = static_cast<std::size_t>(leaf - leaves.begin()),
                           .of_leaf = {begin - leaf->begin, end - begin},
                           .place = place + begin - row.begin});
    filled = end;
  }
  add_gap(row.end());
}

}  // namespace

std::vector<ScatterPart> scatter_parts(std::span<const ElementRange> leaves, std::int64_t ranks, std::int64_t share,
                                       std::int64_t part_elements) {
  const std::int64_t rows = std::max<std::int64_t>(part_elements / ranks, 1);
  std::vector<ScatterPart> parts;
  for (std::int64_t begin = 0; begin < share; begin += rows) {
    ScatterPart part{.of_share = {begin, std::min(rows, share - begin)}, .pieces = {}, .gaps = {}};
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      add_row(leaves, {rank * share + begin, part.of_share.count}, rank * part.of_share.count, part);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<std::vector<std::size_t>> leaves_done_after(std::span<const ScatterPart> parts) {
  std::vector<std::vector<std::size_t>> done(parts.size());
  std::set<std::size_t> read_later;
  for (std::size_t part = parts.size(); part-- > 0;) {
    for (const ScatterPiece& piece : parts[part].pieces) {
      if (read_later.insert(piece.leaf).second) done[part].push_back(piece.leaf);
    }
  }
  return done;
}

}  // namespace tbench::model
