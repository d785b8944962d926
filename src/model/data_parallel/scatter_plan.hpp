// The parts in which gradients are reduce-scattered, so that no buffer for all gradients is needed. Pure arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tbench::model {

/// The elements [begin, begin + count) of a leaf, a share or a buffer.
struct ElementRange {
  std::int64_t begin{}, count{};
  [[nodiscard]] std::int64_t end() const { return begin + count; }
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

/// Elements of a leaf, and their offset in a part's buffer.
struct ScatterPiece {
  std::size_t leaf{};
  ElementRange of_leaf;
  std::int64_t place{};
  friend bool operator==(const ScatterPiece&, const ScatterPiece&) = default;
};

/// One range of elements, taken from every rank's share of the parameters. Its buffer holds [ranks, of_share.count]
/// elements; row r has the elements of rank r's share.
struct ScatterPart {
  ElementRange of_share;
  std::vector<ScatterPiece> pieces;
  std::vector<ElementRange> gaps;  // ranges of the buffer without a leaf
};

/// Divides the gradients into parts.
/// @param leaves         ranges of the leaves among all elements: in order, not overlapping
/// @param ranks          number of ranks, which have consecutive shares
/// @param share          number of elements in each share
/// @param part_elements  largest number of elements in a buffer; a buffer has at least one element per rank
[[nodiscard]] std::vector<ScatterPart> scatter_parts(std::span<const ElementRange> leaves, std::int64_t ranks,
                                                     std::int64_t share, std::int64_t part_elements);

/// Returns for each part the leaves that no later part reads, in any order.
[[nodiscard]] std::vector<std::vector<std::size_t>> leaves_done_after(std::span<const ScatterPart> parts);

}  // namespace tbench::model
