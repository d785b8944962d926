// The parts in which gradients are reduce-scattered, so that no buffer of all of them is needed: pure counting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tbench::model {

/// Elements [begin, begin + count) of something.
struct ElementRange {
  std::int64_t begin{}, count{};
  [[nodiscard]] std::int64_t end() const { return begin + count; }
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

/// Elements of a leaf, and where they lie in a part's buffer.
struct ScatterPiece {
  std::size_t leaf{};
  ElementRange of_leaf;
  std::int64_t place{};
  friend bool operator==(const ScatterPiece&, const ScatterPiece&) = default;
};

/// The same range of every rank's share of the parameters. Its buffer holds [ranks, of_share.count] elements, row r has
/// the elements of rank r's share.
struct ScatterPart {
  ElementRange of_share;
  std::vector<ScatterPiece> pieces;
  std::vector<ElementRange> gaps;  // of the buffer, where no leaf is
};

/// @param leaves         where they lie among all elements: in order, not overlapping
/// @param ranks          have a share each, one after the other
/// @param share          elements of each
/// @param part_elements  of a buffer at most, but one of each rank at least
[[nodiscard]] std::vector<ScatterPart> scatter_parts(std::span<const ElementRange> leaves, std::int64_t ranks,
                                                     std::int64_t share, std::int64_t part_elements);

/// Returns for each part the leaves that no later one reads, in any order.
[[nodiscard]] std::vector<std::vector<std::size_t>> leaves_done_after(std::span<const ScatterPart> parts);

}  // namespace tbench::model
