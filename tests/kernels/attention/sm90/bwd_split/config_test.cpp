#include "kernels/attention/sm90/bwd_split/config.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "support/plan_problem.hpp"

namespace tbench::kernels::sm90 {
namespace {

AttentionShape shape(std::int64_t seq, std::int64_t heads, bool causal = true, std::int64_t batch = 4) {
  AttentionShape one = problem_of(Precision::kBf16, seq, 64, heads, causal).shape;
  one.batch = batch;
  return one;
}

TEST(KindsLaunch, FitsAMultiprocessor) {
  for (const SplitConfig tile : {SplitPreprocessed::tile(), SplitFusedStats::tile()}) {
    EXPECT_TRUE(fits_registers(tile));
    const Launch launch = kinds_launch(shape(1000, 12), tile, kH200);
    EXPECT_EQ(launch.grid, (Grid{132, 1, 1}));
    EXPECT_EQ(launch.threads, 384);
    EXPECT_LE(launch.shared_bytes, kH200.shared_bytes_per_block);
  }
  // A tile has 8 KiB. Stationary rows have two stages of two tiles each, steps have four stages of two tiles each:
  // 96 KiB together. lse and delta of six stages take 3 KiB. The barriers take 256 bytes and begin the 100th KiB. There
  // are two consumer groups, and 1 KiB is for alignment.
  EXPECT_EQ(kinds_launch(shape(1000, 12), SplitPreprocessed::tile(), kH200).shared_bytes, (2u * 100 + 1) << 10);
  // The three stages of a step now hold three tiles each (72 KiB): 104 KiB with the stationary rows. lse and delta of
  // three stages take 1.5 KiB.
  EXPECT_EQ(kinds_launch(shape(1000, 12), SplitFusedStats::tile(), kH200).shared_bytes, (2u * 106 + 1) << 10);
  // One batch, one head, one K/V tile and one Q tile.
  EXPECT_EQ(kinds_launch(shape(64, 1, true, 1), SplitPreprocessed::tile(), kH200).grid, (Grid{2, 1, 1}));
}

TEST(KindsOrder, HasEveryTileOfEitherKindOnce) {
  for (const bool causal : {false, true}) {
    AttentionShape one = shape(300, 3, causal);  // five Q tiles
    if (!causal) one.seq_kv = 130;               // three K/V tiles
    const SplitOrder order = kinds_order(one);
    EXPECT_EQ(order.query_tiles, 5);
    EXPECT_EQ(order.key_tiles, causal ? 5 : 3);
    ASSERT_EQ(order.items, 12 * (order.query_tiles + order.key_tiles));
    std::map<std::pair<int, int>, int> seen;  // tiles by kind and head
    for (int item = 0; item < order.items; ++item) {
      const SplitTile place = kinds_item(order, causal, item);
      const bool keeps_keys = place.kept == Stationary::kKv;
      EXPECT_GE(place.tile, 0);
      EXPECT_LT(place.tile, keeps_keys ? order.key_tiles : order.query_tiles);
      seen[{static_cast<int>(place.kept), place.head}] |= 1 << place.tile;
    }
    EXPECT_EQ(seen.size(), 24u);
    for (const auto& [kind_and_head, tiles] : seen) {
      const bool keeps_keys = kind_and_head.first == static_cast<int>(Stationary::kKv);
      EXPECT_EQ(tiles, (1 << (keeps_keys ? order.key_tiles : order.query_tiles)) - 1);
    }
  }
}

TEST(KindsOrder, BeginsWithTheHeaviestOfBothKinds) {
  const SplitOrder order = kinds_order(shape(300, 3));
  EXPECT_EQ(kinds_item(order, true, 0), (SplitTile{Stationary::kKv, 0, 0}));
  EXPECT_EQ(kinds_item(order, true, 11), (SplitTile{Stationary::kKv, 0, 11}));
  EXPECT_EQ(kinds_item(order, true, 12), (SplitTile{Stationary::kQ, 4, 0}));
  EXPECT_EQ(kinds_item(order, true, 24), (SplitTile{Stationary::kKv, 1, 0}));
  EXPECT_EQ(kinds_item(order, true, order.items - 1), (SplitTile{Stationary::kQ, 0, 11}));
}

}  // namespace
}  // namespace tbench::kernels::sm90
