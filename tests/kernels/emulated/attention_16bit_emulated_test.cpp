// Runs the GPU tests' checks of the 16-bit attention kernels without a GPU: results are right at odd lengths, and every
// injected fault is found in the outputs that it spoils.
#include "emulated/emulated_attention_16bit.hpp"
#include "emulated/expect_emulated.hpp"

namespace tbench::kernels::sm80 {
namespace {

template <class Attention>
class EmulatedAttention16Test : public testing::Test {};
using Attentions = testing::Types<EmulatedAttention16<64>, EmulatedAttention16<96>, EmulatedAttention16<128>>;
TYPED_TEST_SUITE(EmulatedAttention16Test, Attentions);

constexpr auto kShortForward = [](auto& attention) { return attention.template forward<FwdM64N64>(); };
constexpr auto kLongForward = [](auto& attention) { return attention.template forward<FwdM128N64>(); };
template <int kRows>
constexpr auto kSplitWarpsForward = [](auto& attention) { return attention.template forward<FwdWarpSplit<kRows>>(); };
constexpr auto kSplitKvForward = [](auto& attention) { return attention.forward_split_kv(64); };
constexpr auto kAtomicBackward = [](auto& attention) { return attention.backward(BwdAlgorithm::kAtomicDq); };
constexpr auto kSplitBackward = [](auto& attention) { return attention.backward(BwdAlgorithm::kSplit); };

TYPED_TEST(EmulatedAttention16Test, ForwardInShortTiles) { expect_right<TypeParam>(kShortForward); }
TYPED_TEST(EmulatedAttention16Test, ForwardInLongTiles) { expect_right<TypeParam>(kLongForward); }
TYPED_TEST(EmulatedAttention16Test, ForwardInGroups) {
  expect_right<TypeParam>(kSplitWarpsForward<16>);
  expect_right<TypeParam>(kSplitWarpsForward<32>);
  expect_right<TypeParam>(kSplitWarpsForward<64>);
}
TYPED_TEST(EmulatedAttention16Test, ForwardSplitKv) {
  expect_right<TypeParam>(kSplitKvForward);
  expect_right<TypeParam>([](auto& attention) { return attention.forward_split_kv(128); });
}
TYPED_TEST(EmulatedAttention16Test, BackwardWithAtomicAdditions) { expect_right<TypeParam>(kAtomicBackward); }
TYPED_TEST(EmulatedAttention16Test, BackwardSplit) { expect_right<TypeParam>(kSplitBackward); }

TEST(EmulatedSplitKvTest, CombiningCountsElementsBeyondInt) {
  EmulatedAttention16<64> attention{Lengths{64, 64, false}, 1};
  EXPECT_TRUE(attention.combine_writes_at(0));
  // With 128 threads per CTA, the first element of CTA 2^25 has the number 2^32, which is zero in 32 bits.
  EXPECT_FALSE(attention.combine_writes_at(1U << 25U));
}

using Wide = EmulatedAttention16<256>;
TEST(EmulatedWide16Test, ForwardInShortTiles) { expect_right<Wide>(kShortForward); }
TEST(EmulatedWide16Test, ForwardInLongTiles) { expect_right<Wide>(kLongForward); }
TEST(EmulatedWide16Test, BackwardWithAtomicAdditions) { expect_right<Wide>(kAtomicBackward); }
TEST(EmulatedWide16Test, BackwardSplit) { expect_right<Wide>(kSplitBackward); }

TYPED_TEST(EmulatedAttention16Test, FaultsInForwardAreFound) {
  expect_all_found<TypeParam>(kForwardFaults, {"o", "lse"}, kShortForward);
  expect_all_found<TypeParam>(kForwardFaults, {"o", "lse"}, kSplitWarpsForward<16>);
  expect_all_found<TypeParam>(kForwardFaults, {"o", "lse"}, kSplitKvForward);
}
TYPED_TEST(EmulatedAttention16Test, FaultsInBackwardAreFound) {
  expect_all_found<TypeParam>(kBackwardFaults, {"dq", "dk", "dv"}, kAtomicBackward);
}

TYPED_TEST(EmulatedAttention16Test, AKeyWhoseScoresAreMinusInfinityCountsNothingBackward) {
  expect_key_of_no_weight<TypeParam>(kAtomicBackward);
  expect_key_of_no_weight<TypeParam>(kSplitBackward);
}

}  // namespace
}  // namespace tbench::kernels::sm80
