// Runs the GPU tests' checks of the float32 attention kernels without a GPU, including the tiles for small grids.
#include <type_traits>

#include "emulated/emulated_attention_32bit.hpp"
#include "emulated/expect_emulated.hpp"

namespace tbench::kernels::sm80 {
namespace {

using Tf32 = EmulatedAttention32<false, 64>;
using Fp32 = EmulatedAttention32<true, 64>;
using WideFp32 = EmulatedAttention32<true, 128>;

template <class Attention>
class EmulatedAttention32Test : public testing::Test {};
using Attentions = testing::Types<Tf32, Fp32, WideFp32>;
TYPED_TEST_SUITE(EmulatedAttention32Test, Attentions);

template <class Attention>
constexpr bool kIs3xTf32 = !std::is_same_v<Attention, Tf32>;

template <class Tile>
constexpr auto kForward = [](auto& attention) { return attention.template forward<Tile>(); };
template <class Tile>
constexpr auto kAtomic = [](auto& attention) { return attention.template backward<Tile>(BwdAlgorithm::kAtomicDq); };
template <class Tile>
constexpr auto kSplit = [](auto& attention) { return attention.template backward<Tile>(BwdAlgorithm::kSplit); };
template <class Tile>
constexpr auto kSplitAlone =
    [](auto& attention) { return attention.template backward<Tile>(BwdAlgorithm::kSplitFusedDelta); };

TYPED_TEST(EmulatedAttention32Test, Forward) { expect_right<TypeParam>(kForward<FwdFp32Short<kIs3xTf32<TypeParam>>>); }
TYPED_TEST(EmulatedAttention32Test, ForwardInGroups) {
  expect_right<TypeParam>(kForward<FwdFp32WarpSplit<kIs3xTf32<TypeParam>, 32>>);
  expect_right<TypeParam>(kForward<FwdFp32WarpSplit<kIs3xTf32<TypeParam>, 64>>);
  if constexpr (!kIs3xTf32<TypeParam>) expect_right<TypeParam>(kForward<FwdFp32WarpSplit<false, 16>>);
}
TEST(EmulatedTf32Test, ForwardInLongTiles) { expect_right<Tf32>(kForward<FwdFp32Long>); }

TYPED_TEST(EmulatedAttention32Test, BackwardWithAtomicAdditions) {
  expect_right<TypeParam>(kAtomic<BwdFp32Atomic<kIs3xTf32<TypeParam>>>);
}
TYPED_TEST(EmulatedAttention32Test, BackwardWithAtomicAdditionsAndSplitWarps) {
  expect_right<TypeParam>(kAtomic<BwdFp32AtomicWarpSplit>);
}
TYPED_TEST(EmulatedAttention32Test, BackwardSplit) {
  expect_right<TypeParam>(kSplit<BwdFp32Split<kIs3xTf32<TypeParam>>>);
}
TYPED_TEST(EmulatedAttention32Test, BackwardSplitAlone) { expect_right<TypeParam>(kSplitAlone<BwdFp32WarpSplit>); }

TYPED_TEST(EmulatedAttention32Test, AKeyWhoseScoresAreMinusInfinityCountsNothingBackward) {
  expect_key_of_no_weight<TypeParam>(kAtomic<BwdFp32Atomic<kIs3xTf32<TypeParam>>>);
  expect_key_of_no_weight<TypeParam>(kSplit<BwdFp32Split<kIs3xTf32<TypeParam>>>);
}

TEST(EmulatedFp32Test, DeltaIsOfTheBlocksHeadInWhateverOrderBlocksStart) {
  expect_right<Fp32>([](auto& attention) {
    return attention.template backward<BwdFp32Split<true>>(BwdAlgorithm::kSplitFusedDelta, /*heads_first=*/true);
  });
}

template <class Attention>
class EmulatedFaults32Test : public testing::Test {};
using NarrowAttentions = testing::Types<Tf32, Fp32>;
TYPED_TEST_SUITE(EmulatedFaults32Test, NarrowAttentions);

TYPED_TEST(EmulatedFaults32Test, InForwardAreFound) {
  expect_all_found<TypeParam>(kForwardFaults, {"o", "lse"}, kForward<FwdFp32Short<kIs3xTf32<TypeParam>>>);
}
TYPED_TEST(EmulatedFaults32Test, InBackwardAreFound) {
  expect_all_found<TypeParam>(kBackwardFaults, {"dq", "dk", "dv"}, kAtomic<BwdFp32Atomic<kIs3xTf32<TypeParam>>>);
}

}  // namespace
}  // namespace tbench::kernels::sm80
