#include "model/data_parallel/scatter_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tbench::model {
namespace {

using ::testing::ElementsAre;

TEST(ScatterParts, AreTheSameRangeOfEveryShareByHand) {
  // Two ranks share 16 elements. The leaves have 5 and 6 elements; the second begins rank 1's share, at element 8.
  const std::vector<ElementRange> leaves{{0, 5}, {8, 6}};
  const std::vector<ScatterPart> parts = scatter_parts(leaves, 2, 8, 12);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].of_share, (ElementRange{0, 6}));
  EXPECT_THAT(parts[0].pieces, ElementsAre(ScatterPiece{0, {0, 5}, 0}, ScatterPiece{1, {0, 6}, 6}));
  EXPECT_THAT(parts[0].gaps, ElementsAre(ElementRange{5, 1}));
  EXPECT_EQ(parts[1].of_share, (ElementRange{6, 2}));
  EXPECT_TRUE(parts[1].pieces.empty());
  EXPECT_THAT(parts[1].gaps, ElementsAre(ElementRange{0, 2}, ElementRange{2, 2}));
}

TEST(ScatterParts, HoldEveryElementOnceAtItsPlaceInTheShare) {
  const std::vector<ElementRange> leaves{{0, 100}, {128, 64}, {192, 1}, {256, 700}};
  constexpr std::int64_t kShare = 320;
  for (const std::int64_t part_elements : {1, 3, 50, 192, 960, 5000}) {
    std::vector<int> seen(3 * kShare, 0);  // for each element, the number of pieces or gaps that contain it
    for (const ScatterPart& part : scatter_parts(leaves, 3, kShare, part_elements)) {
      EXPECT_LE(part.of_share.count, std::max<std::int64_t>(part_elements / 3, 1));
      const auto mark = [&](std::int64_t place) {
        const std::int64_t rank = place / part.of_share.count, column = place % part.of_share.count;
        const std::int64_t element = rank * kShare + part.of_share.begin + column;
        ++seen.at(static_cast<std::size_t>(element));
        return element;
      };
      for (const ScatterPiece& piece : part.pieces) {
        for (std::int64_t i = 0; i < piece.of_leaf.count; ++i) {
          EXPECT_EQ(mark(piece.place + i), leaves[piece.leaf].begin + piece.of_leaf.begin + i);
        }
      }
      for (const ElementRange& gap : part.gaps) {
        for (std::int64_t i = 0; i < gap.count; ++i) {
          const std::int64_t element = mark(gap.begin + i);
          EXPECT_TRUE(std::ranges::none_of(
              leaves, [&](const ElementRange& leaf) { return leaf.begin <= element && element < leaf.end(); }));
        }
      }
    }
    EXPECT_TRUE(std::ranges::all_of(seen, [](int times) { return times == 1; })) << part_elements;
  }
}

TEST(LeavesDoneAfter, NamesEachWithTheLastPartThatReadsIt) {
  // Shares have 8 elements, and their parts have 3. Leaf 0 ends in the second part, leaf 1 extends into rank 1's share,
  // and leaf 2 ends it.
  const std::vector<ElementRange> leaves{{0, 5}, {5, 6}, {11, 5}};
  const std::vector<ScatterPart> parts = scatter_parts(leaves, 2, 8, 6);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_THAT(leaves_done_after(parts),
              ElementsAre(testing::IsEmpty(), ElementsAre(0U), testing::UnorderedElementsAre(1U, 2U)));
}

}  // namespace
}  // namespace tbench::model
