// Hopper's backward kernels where there is no GPU: their barriers above all. Blocks of one to many items, of one to
// many steps; warps and copies in a random order.
#include <gtest/gtest.h>

#include <vector>

#include "emulated/emulated_backward_sm90.hpp"
#include "emulated/expect_emulated.hpp"

namespace tbench::kernels::sm90 {
namespace {

template <class Attention>
class EmulatedBackwardSm90Test : public testing::Test {};
using Attentions =
    testing::Types<EmulatedBackward<64, BackwardBlocks::kStay>, EmulatedBackward<80, BackwardBlocks::kStay>,
                   EmulatedBackward<128, BackwardBlocks::kStay>, EmulatedBackward<80, BackwardBlocks::kOneItem>,
                   EmulatedBackward<128, BackwardBlocks::kOneItem>, EmulatedBackward<256, BackwardBlocks::kOneItem>>;
TYPED_TEST_SUITE(EmulatedBackwardSm90Test, Attentions);

/// Those that the kernel knows.
std::vector<BackwardSums> sums_of(BackwardBlocks blocks) {
  if (blocks == BackwardBlocks::kOneItem) return {BackwardSums::kTogether};
  return {BackwardSums::kTogether, BackwardSums::kApart};
}

TYPED_TEST(EmulatedBackwardSm90Test, IsRightHoweverManyItemsABlockHas) {
  const bool stays = TypeParam::kBlocks == BackwardBlocks::kStay;
  for (const Lengths& lengths : {Lengths{1, 1, true}, {70, 400, false}, {400, 400, true}, {257, 130, false}}) {
    TypeParam attention{lengths, 1};
    for (const int blocks : stays ? std::vector{1, 3, 5, 7} : std::vector{1}) {
      for (const BackwardSums sums : sums_of(TypeParam::kBlocks)) {
        SCOPED_TRACE(testing::Message() << lengths.q << " x " << lengths.kv << ", " << blocks << " blocks, sums "
                                        << (sums == BackwardSums::kApart ? "apart" : "together"));
        attention.next_order();
        for (const Comparison& one : attention.backward(blocks, sums)) EXPECT_EQ(one.failure, "");
      }
    }
  }
}

TYPED_TEST(EmulatedBackwardSm90Test, FaultsAreFound) {
  std::vector<FaultRow> rows{kBackwardFaults.begin(), kBackwardFaults.end()};
  const Names any{"dq", "dk", "dv"};
  rows.push_back({"release", PlantedFault::kBackwardRelease, any, When::kSometimes});
  rows.push_back({"parity", PlantedFault::kBackwardParity, any, When::kSometimes});
  if (TypeParam::kBlocks == BackwardBlocks::kStay) {
    rows.push_back({"kept", PlantedFault::kBackwardKept, any, When::kSometimes});
  }
  for (const BackwardSums sums : sums_of(TypeParam::kBlocks)) {
    expect_all_found<TypeParam>(rows, {"dq", "dk", "dv"},
                                [sums](auto& attention) { return attention.backward(1, sums); });
  }
}

}  // namespace
}  // namespace tbench::kernels::sm90
