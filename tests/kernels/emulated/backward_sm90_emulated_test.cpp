// Tests the sm90 backward kernels without a GPU, above all their barriers. CTAs have one to many work tiles of one to
// many steps. Warps and copies run in a random order.
#include <gtest/gtest.h>

#include <vector>

#include "emulated/emulated_backward_sm90.hpp"
#include "emulated/expect_emulated.hpp"

namespace tbench::kernels::sm90 {
namespace {

template <class Attention>
class EmulatedBackwardSm90Test : public testing::Test {};
using Attentions =
    testing::Types<EmulatedBackward<64, BwdSchedule::kPersistent>, EmulatedBackward<80, BwdSchedule::kPersistent>,
                   EmulatedBackward<128, BwdSchedule::kPersistent>, EmulatedBackward<128, BwdSchedule::kOneTilePerCta>,
                   EmulatedBackward<256, BwdSchedule::kOneTilePerCta>>;
TYPED_TEST_SUITE(EmulatedBackwardSm90Test, Attentions);

/// Tests the kernels that can accumulate dQ in other ways than kAtomic.
template <class Attention>
class EmulatedBackwardSumsSm90Test : public testing::Test {};
using StayingAttentions =
    testing::Types<EmulatedBackward<64, BwdSchedule::kPersistent>, EmulatedBackward<80, BwdSchedule::kPersistent>,
                   EmulatedBackward<128, BwdSchedule::kPersistent>>;
TYPED_TEST_SUITE(EmulatedBackwardSumsSm90Test, StayingAttentions);

/// The accumulation of dQ and, with kPerHead, the number of CTAs per head.
struct Sums {
  DqAccumulation kind{};
  int shares{1};
};
/// Returns the accumulations that the kernel has.
std::vector<Sums> sums_of(BwdSchedule blocks) {
  using enum DqAccumulation;
  if (blocks == BwdSchedule::kOneTilePerCta) return {{kAtomic}};
  return {{kAtomic}, {kPerKvTile}, {kPerHead}, {kPerHead, 2}};
}

TYPED_TEST(EmulatedBackwardSm90Test, IsRightHoweverManyItemsABlockHas) {
  const bool stays = TypeParam::kBlocks == BwdSchedule::kPersistent;
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
  rows.push_back({"release", InjectedFault::kBackwardRelease, any, When::kSometimes});
  rows.push_back({"parity", InjectedFault::kBackwardParity, any, When::kSometimes});
  if (Attention::kBlocks == BwdSchedule::kPersistent) {
    rows.push_back({"kept", InjectedFault::kBackwardKept, any, When::kSometimes});
  }
  const bool by_heads = sums == DqAccumulation::kPerHead;
  if (by_heads) rows.push_back({"first sums", InjectedFault::kDqFirstSums, {"dq"}, When::kAlways});
  // With kPerHead, a stage of Q is released to another Q tile only within the third K/V tile. Without ping-pong, or
  // with few steps, a race seldom has an effect.
  const Lengths lengths = sums == DqAccumulation::kAtomic ? kFaultLengths : Lengths{300, 300, true};
  expect_all_found<Attention>(
      rows, {"dq", "dk", "dv"}, [&](auto& attention) { return attention.backward(1, way.kind, way.shares); }, lengths);
}

TYPED_TEST(EmulatedBackwardSm90Test, FaultsAreFound) { expect_faults_found<TypeParam>({DqAccumulation::kAtomic}); }
TYPED_TEST(EmulatedBackwardSumsSm90Test, FaultsAreFoundOfSumsApart) {
  expect_faults_found<TypeParam>({DqAccumulation::kPerKvTile});
}
TYPED_TEST(EmulatedBackwardSumsSm90Test, FaultsAreFoundOfSumsByHeads) {
  expect_faults_found<TypeParam>({DqAccumulation::kPerHead});
}
TYPED_TEST(EmulatedBackwardSumsSm90Test, FaultsAreFoundOfSumsByHeadsInShares) {
  expect_faults_found<TypeParam>({DqAccumulation::kPerHead, 2});
}

TYPED_TEST(EmulatedBackwardSm90Test, AKeyWhoseScoresAreMinusInfinityCountsNothing) {
  for (const auto& [sums, shares] : sums_of(TypeParam::kBlocks)) {
    expect_key_of_no_weight<TypeParam>([&](auto& attention) { return attention.backward(1, sums, shares); });
  }
}

}  // namespace
}  // namespace tbench::kernels::sm90
