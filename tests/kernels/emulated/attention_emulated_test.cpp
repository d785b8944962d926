// What the GPU tests find out about the 16-bit attention kernels, where there is no GPU: right at odd lengths, and
// every planted fault found in the outputs that it spoils.
#include <gtest/gtest.h>

#include <array>
#include <type_traits>
#include <vector>

#include "emulated/emulated_attention.hpp"
#include "planted_fault_rows.hpp"

namespace tbench::kernels {
namespace {

constexpr std::array kLengths{Lengths{1, 1, true},     Lengths{2, 63, false},   Lengths{65, 65, true},
                              Lengths{129, 65, false}, Lengths{65, 190, false}, Lengths{200, 200, true}};

void expect_right(const std::vector<Comparison>& comparisons) {
  for (const Comparison& comparison : comparisons) EXPECT_EQ(comparison.failure, "");
}

template <class HeadDim>
class EmulatedAttentionTest : public testing::Test {
 protected:
  template <class Check>
  static void for_each_length(const Check& check) {
    std::uint32_t seed = 1;
    for (const Lengths& lengths : kLengths) {
      SCOPED_TRACE(testing::Message() << lengths.q << " x " << lengths.kv << (lengths.causal ? ", causal" : ""));
      EmulatedAttention<HeadDim::value> attention{lengths, seed++};
      check(attention);
    }
  }
};

template <int kHeadDim>
using HeadDim = std::integral_constant<int, kHeadDim>;
using HeadDims = testing::Types<HeadDim<64>, HeadDim<96>, HeadDim<128>>;
TYPED_TEST_SUITE(EmulatedAttentionTest, HeadDims);

TYPED_TEST(EmulatedAttentionTest, ForwardInShortTiles) {
  this->for_each_length([](auto& attention) { expect_right(attention.template forward<ShortForward>()); });
}

TYPED_TEST(EmulatedAttentionTest, ForwardInLongTiles) {
  this->for_each_length([](auto& attention) { expect_right(attention.template forward<LongForward>()); });
}

TYPED_TEST(EmulatedAttentionTest, BackwardWithAtomicAdditions) {
  this->for_each_length([](auto& attention) { expect_right(attention.backward(BackwardMethod::kAtomic)); });
}

TYPED_TEST(EmulatedAttentionTest, BackwardSplit) {
  this->for_each_length([](auto& attention) { expect_right(attention.backward(BackwardMethod::kSplit)); });
}

/// Plants a fault until the end of a scope.
class PlantedScope {
 public:
  explicit PlantedScope(PlantedFault fault) { planted_fault() = fault; }
  ~PlantedScope() { planted_fault() = PlantedFault::kNone; }
  PlantedScope(const PlantedScope&) = delete;
  PlantedScope& operator=(const PlantedScope&) = delete;
};

/// Of four tiles of queries and of keys, so that one can be skipped.
constexpr Lengths kFaultLengths{200, 200, true};
constexpr int kRaceRuns = 10;

template <class HeadDim, class Rows, class Run>
void expect_all_found(const Rows& rows, const std::vector<std::string>& outputs, const Run& run) {
  EmulatedAttention<HeadDim::value> attention{kFaultLengths, 1};
  for (const FaultRow& row : rows) {
    SCOPED_TRACE(row.name);
    const PlantedScope planted{row.fault};
    expect_found(row, outputs, kRaceRuns, [&] {
      attention.next_order();
      return run(attention);
    });
  }
}

TYPED_TEST(EmulatedAttentionTest, FaultsInForwardAreFound) {
  const auto run = [](auto& attention) { return attention.template forward<ShortForward>(); };
  expect_all_found<TypeParam>(kForwardFaults, {"o", "lse"}, run);
}

TYPED_TEST(EmulatedAttentionTest, FaultsInBackwardAreFound) {
  const auto run = [](auto& attention) { return attention.backward(BackwardMethod::kAtomic); };
  expect_all_found<TypeParam>(kBackwardFaults, {"dq", "dk", "dv"}, run);
}

}  // namespace
}  // namespace tbench::kernels
