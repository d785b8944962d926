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
                   EmulatedBackward<128, BackwardBlocks::kStay>, EmulatedBackward<128, BackwardBlocks::kOneItem>,
                   EmulatedBackward<256, BackwardBlocks::kOneItem>>;
TYPED_TEST_SUITE(EmulatedBackwardSm90Test, Attentions);

/// Those that know more ways to add dQ up than together.
template <class Attention>
class EmulatedBackwardSumsSm90Test : public testing::Test {};
using StayingAttentions =
    testing::Types<EmulatedBackward<64, BackwardBlocks::kStay>, EmulatedBackward<80, BackwardBlocks::kStay>,
                   EmulatedBackward<128, BackwardBlocks::kStay>>;
TYPED_TEST_SUITE(EmulatedBackwardSumsSm90Test, StayingAttentions);

/// How dQ is added up, and by heads among how many blocks a head's tiles are dealt.
struct Sums {
  BackwardSums kind{};
  int shares{1};
};
/// Those that the kernel knows.
std::vector<Sums> sums_of(BackwardBlocks blocks) {
  using enum BackwardSums;
  if (blocks == BackwardBlocks::kOneItem) return {{kTogether}};
  return {{kTogether}, {kApart}, {kByHeads}, {kByHeads, 2}};
}

TYPED_TEST(EmulatedBackwardSm90Test, IsRightHoweverManyItemsABlockHas) {
  const bool stays = TypeParam::kBlocks == BackwardBlocks::kStay;
  for (std::size_t row = 0;
       const Lengths& lengths : {Lengths{1, 1, true}, {70, 400, false}, {400, 400, true}, {257, 130, false}}) {
    TypeParam attention{lengths, 1};
    ++row;
    for (const int blocks : stays ? std::vector{1, 3, 5, 7} : std::vector{1}) {
      for (std::size_t column = 0; const auto& [sums, shares] : sums_of(TypeParam::kBlocks)) {
        if (!is_run(row + static_cast<std::size_t>(blocks / 2) + column++, stays ? 4 : 1)) continue;
        if (shares > block_count(lengths.kv, kBackwardKeys)) continue;
        SCOPED_TRACE(testing::Message() << lengths.q << " x " << lengths.kv << ", " << blocks << " blocks, sums "
                                        << static_cast<int>(sums) << ", " << shares << " shares");
        attention.next_order();
        for (const Comparison& one : attention.backward(blocks, sums, shares)) EXPECT_EQ(one.failure, "");
      }
    }
  }
}

template <class Attention>
void expect_faults_found(const Sums& way) {
  const auto& [sums, shares] = way;
  std::vector<FaultRow> rows{kBackwardFaults.begin(), kBackwardFaults.end()};
  const Names any{"dq", "dk", "dv"};
  rows.push_back({"release", PlantedFault::kBackwardRelease, any, When::kSometimes});
  rows.push_back({"parity", PlantedFault::kBackwardParity, any, When::kSometimes});
  if (Attention::kBlocks == BackwardBlocks::kStay) {
    rows.push_back({"kept", PlantedFault::kBackwardKept, any, When::kSometimes});
  }
  const bool by_heads = sums == BackwardSums::kByHeads;
  if (by_heads) rows.push_back({"first sums", PlantedFault::kDqFirstSums, {"dq"}, When::kAlways});
  // By heads a tile of queries gives way to another one only within the third tile of keys; and without turns, with
  // few steps, races are seldom lost.
  const Lengths lengths = sums == BackwardSums::kTogether ? kFaultLengths : Lengths{300, 300, true};
  expect_all_found<Attention>(
      rows, {"dq", "dk", "dv"}, [&](auto& attention) { return attention.backward(1, way.kind, way.shares); }, lengths);
}

TYPED_TEST(EmulatedBackwardSm90Test, FaultsAreFound) { expect_faults_found<TypeParam>({BackwardSums::kTogether}); }
TYPED_TEST(EmulatedBackwardSumsSm90Test, FaultsAreFoundOfSumsApart) {
  expect_faults_found<TypeParam>({BackwardSums::kApart});
}
TYPED_TEST(EmulatedBackwardSumsSm90Test, FaultsAreFoundOfSumsByHeads) {
  expect_faults_found<TypeParam>({BackwardSums::kByHeads});
}
TYPED_TEST(EmulatedBackwardSumsSm90Test, FaultsAreFoundOfSumsByHeadsInShares) {
  expect_faults_found<TypeParam>({BackwardSums::kByHeads, 2});
}

TYPED_TEST(EmulatedBackwardSm90Test, AKeyWhoseScoresAreMinusInfinityCountsNothing) {
  for (const auto& [sums, shares] : sums_of(TypeParam::kBlocks)) {
    expect_key_of_no_weight<TypeParam>([&](auto& attention) { return attention.backward(1, sums, shares); });
  }
}

}  // namespace
}  // namespace tbench::kernels::sm90
