// Tests the sm90 TF32 forward kernels without a GPU: both head_dims on odd lengths, CTAs with one to many work tiles of
// one to many steps. Warps and copies run in a random order.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "emulated/emulated_forward_tf32_sm90.hpp"
#include "emulated/expect_emulated.hpp"

namespace tbench::kernels::sm90_tf32 {
namespace {

constexpr std::array kChoices{FwdPlan{}, FwdPlan{.counted = true, .in_turns = true}, FwdPlan{.in_turns = true},
                              FwdPlan{.counted = true}};

template <class Attention>
class EmulatedForwardTf32Sm90Test : public testing::Test {};
using Attentions = testing::Types<EmulatedForward<64>, EmulatedForward<128>>;
TYPED_TEST_SUITE(EmulatedForwardTf32Sm90Test, Attentions);

TYPED_TEST(EmulatedForwardTf32Sm90Test, IsRightOnBothSidesOfEveryTile) {
  expect_right<TypeParam>([](auto& attention) { return attention.forward(1, {}); });
  for (const int length : {64, 65, 128, 129, 193}) {
    SCOPED_TRACE(length);
    TypeParam attention{Lengths{length, length, true}, static_cast<std::uint32_t>(length)};
    for (const Comparison& one : attention.forward(2, {})) EXPECT_EQ(one.failure, "");
  }
}

TYPED_TEST(EmulatedForwardTf32Sm90Test, IsRightHoweverManyItemsABlockHas) {
  for (std::size_t row = 0;
       const Lengths& lengths : {Lengths{1, 1, true}, {70, 400, false}, {400, 400, true}, {257, 130, false}}) {
    TypeParam attention{lengths, 1};
    ++row;
    for (const int blocks : {1, 3}) {
      for (std::size_t column = 0; const FwdPlan& choice : kChoices) {
        if (!is_run(row + (blocks == 1 ? 0 : 2) + column++, 4)) continue;
        SCOPED_TRACE(testing::Message() << lengths.q << " x " << lengths.kv << ", " << blocks << " blocks, items "
                                        << (choice.counted ? "from a counter" : "dealt out"));
        attention.next_order();
        for (const Comparison& one : attention.forward(blocks, choice)) EXPECT_EQ(one.failure, "");
      }
    }
  }
}

TYPED_TEST(EmulatedForwardTf32Sm90Test, FaultsAreFound) {
  expect_all_found<TypeParam>(kForwardFaults, {"o", "lse"}, [](auto& attention) { return attention.forward(1, {}); });
}

TYPED_TEST(EmulatedForwardTf32Sm90Test, WhatIsNotFiniteSpoilsNoMoreThanInExactArithmetic) {
  constexpr int kQueries = 33, kKeys = 130;
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  TypeParam attention{Lengths{kQueries, kKeys, false}, 1};
  attention.set_key(70, kInfinity);
  attention.set_query(7, kNan);
  attention.set_value(71, kNan);
  static_cast<void>(attention.forward(1, {}));
  int finite = 0;
  for (int row = 0; row < kQueries; ++row) {
    const std::vector<double> actual = attention.row_of_o(row), exact = attention.exact_row_of_o(row);
    for (std::size_t d = 0; d < exact.size(); ++d) {
      EXPECT_EQ(std::isfinite(actual[d]), std::isfinite(exact[d])) << "row " << row << ", column " << d;
      if (!std::isfinite(exact[d])) continue;
      EXPECT_NEAR(actual[d], exact[d], 5e-3) << "row " << row << ", column " << d;
      ++finite;
    }
  }
  EXPECT_GT(finite, 0);
}

}  // namespace
}  // namespace tbench::kernels::sm90_tf32
