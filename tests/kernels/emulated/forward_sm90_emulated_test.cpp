// Tests the sm90 forward kernels without a GPU: every instance on odd lengths, CTAs with one to many work tiles of one
// to many steps. Warps and copies run in a random order.
#include <gtest/gtest.h>

#include "emulated/emulated_forward_sm90.hpp"
#include "emulated/expect_emulated.hpp"

namespace tbench::kernels::sm90 {
namespace {

template <class Attention>
class EmulatedForwardSm90Test : public testing::Test {};
using Attentions =
    testing::Types<EmulatedForward<32, FwdM128N128>, EmulatedForward<32, FwdM256N64>, EmulatedForward<64, FwdM128N128>,
                   EmulatedForward<64, FwdM192N128>, EmulatedForward<64, FwdM128N64x2>,
                   EmulatedForward<64, FwdM64N128x2>, EmulatedForward<80, FwdM128N128>, EmulatedForward<80, FwdM192N64>,
                   EmulatedForward<128, FwdM128N128>, EmulatedForward<128, FwdM192N64Wide>,
                   EmulatedForward<256, FwdM128N64>>;
TYPED_TEST_SUITE(EmulatedForwardSm90Test, Attentions);

TYPED_TEST(EmulatedForwardSm90Test, IsRightOnBothSidesOfEveryTile) {
  expect_right<TypeParam>([](auto& attention) { return attention.forward(1, false); });
  for (const int length : {64, 65, 128, 129, 193, 257}) {
    SCOPED_TRACE(length);
    TypeParam attention{Lengths{length, length, true}, static_cast<std::uint32_t>(length)};
    for (const Comparison& one : attention.forward(2, false)) EXPECT_EQ(one.failure, "");
  }
}

TYPED_TEST(EmulatedForwardSm90Test, IsRightHoweverManyItemsABlockHas) {
  for (std::size_t row = 0;
       const Lengths& lengths : {Lengths{1, 1, true}, {70, 400, false}, {400, 400, true}, {257, 130, false}}) {
    TypeParam attention{lengths, 1};
    ++row;
    for (const int blocks : {1, 3}) {
      for (const bool counted : {false, true}) {
        if (!is_run(row + (blocks == 1 ? 0 : 1) + (counted ? 1 : 0), 2)) continue;
        SCOPED_TRACE(testing::Message() << lengths.q << " x " << lengths.kv << ", " << blocks << " blocks, items "
                                        << (counted ? "from a counter" : "dealt out"));
        attention.next_order();
        for (const Comparison& one : attention.forward(blocks, counted)) EXPECT_EQ(one.failure, "");
      }
    }
  }
}

TYPED_TEST(EmulatedForwardSm90Test, FaultsAreFound) {
  expect_all_found<TypeParam>(kForwardFaults, {"o", "lse"},
                              [](auto& attention) { return attention.forward(1, false); });
}

}  // namespace
}  // namespace tbench::kernels::sm90
