// Tests the sm90 split backward kernel without a GPU, above all its barriers. Consumer groups have one to many work
// tiles of one to many steps. Warps and copies run in a random order.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "emulated/emulated_backward_kinds_sm90.hpp"
#include "emulated/expect_emulated.hpp"

namespace tbench::kernels::sm90 {
namespace {

template <class Attention>
class EmulatedBackwardKindsSm90Test : public testing::Test {};
using Attentions = testing::Types<EmulatedKinds<SplitPreprocessed>, EmulatedKinds<SplitFusedStats>>;
TYPED_TEST_SUITE(EmulatedBackwardKindsSm90Test, Attentions);

TYPED_TEST(EmulatedBackwardKindsSm90Test, IsRightOnBothSidesOfEveryTile) {
  expect_right<TypeParam>([](auto& attention) { return attention.backward(2); });
}

TYPED_TEST(EmulatedBackwardKindsSm90Test, IsRightHoweverManyItemsATeamHas) {
  for (std::size_t row = 0;
       const Lengths& lengths : {Lengths{1, 1, true}, {70, 400, false}, {400, 400, true}, {257, 130, false}}) {
    TypeParam attention{lengths, 1};
    ++row;
    for (std::size_t column = 0; const int blocks : {1, 2, 5, 40}) {
      if (!is_run(row + column++, 2)) continue;
      SCOPED_TRACE(testing::Message() << lengths.q << " x " << lengths.kv << ", " << blocks << " blocks");
      attention.next_order();
      for (const Comparison& one : attention.backward(blocks)) EXPECT_EQ(one.failure, "");
    }
  }
}

TYPED_TEST(EmulatedBackwardKindsSm90Test, AKeyWhoseScoresAreMinusInfinityCountsNothing) {
  expect_key_of_no_weight<TypeParam>([](auto& attention) { return attention.backward(2); });
}

TYPED_TEST(EmulatedBackwardKindsSm90Test, FaultsAreFound) {
  const auto run = [](auto& attention) { return attention.backward(1); };
  const std::vector<std::string> outputs{"dq", "dk", "dv"};
  const Names any{outputs.begin(), outputs.end()};
  std::vector<FaultRow> rows{kBackwardFaults.begin(), kBackwardFaults.end()};
  rows.push_back({"parity", InjectedFault::kBackwardParity, any, When::kSometimes});
  rows.push_back({"kept", InjectedFault::kBackwardKept, any, When::kSometimes});
  if (TypeParam::kMakesStatistics) {
    rows.push_back({"statistics", InjectedFault::kBackwardStatistics, any, When::kSometimes});
  }
  expect_all_found<TypeParam>(rows, outputs, run, {400, 400, true});
  // With many stages, a stage is filled again only several steps later.
  const std::array of_steps{FaultRow{"release", InjectedFault::kBackwardRelease, any, When::kSometimes}};
  expect_all_found<TypeParam>(of_steps, outputs, run, {800, 800, true});
}

}  // namespace
}  // namespace tbench::kernels::sm90
