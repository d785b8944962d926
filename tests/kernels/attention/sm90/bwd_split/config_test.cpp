#include "kernels/attention/sm90/bwd_split/config.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <utility>

#include "support/plan_problem.hpp"

namespace tbench::kernels::sm90 {
namespace {

AttentionShape shape(std::int64_t seq, std::int64_t heads, bool causal = true, std::int64_t batch = 4) {
  AttentionShape one = problem_of(Precision::kBf16, seq, 64, heads, causal).shape;
  one.batch = batch;
  return one;
}

std::optional<BwdPlan> choose(const AttentionShape& one) { return choose_kinds(one, kH200.multiprocessors); }

TEST(KindsLaunch, FitsAMultiprocessor) {
  for (const SplitConfig tile : {SplitPreprocessed::tile(), SplitFusedStats::tile()}) {
    EXPECT_TRUE(fits_registers(tile));
    const Launch launch = kinds_launch(shape(1000, 12), tile, kH200);
    EXPECT_EQ(launch.grid, (Grid{132, 1, 1}));
    EXPECT_EQ(launch.threads, 384);
    EXPECT_LE(launch.shared_bytes, kH200.shared_bytes_per_block);
  }
  // Tiles of 8 KiB. Stationary rows have two stages of two tiles, steps four stages of two, 96 KiB together. lse and
  // delta of six stages are 3 KiB. Barriers, 256 bytes, begin the 100th KiB. Two consumer groups, and 1 KiB for
  // alignment.
  EXPECT_EQ(kinds_launch(shape(1000, 12), SplitPreprocessed::tile(), kH200).shared_bytes, (2u * 100 + 1) << 10);
  // Steps have three stages of three tiles, 104 KiB together; their lse and delta are 1.5 KiB.
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

TEST(ChooseKinds, OfOneHeadDimAndMoreThanATile) {
  EXPECT_FALSE(choose(shape(64, 12)));
  EXPECT_TRUE(choose(shape(65, 12)));
  for (const std::int64_t head_dim : {32, 80, 128, 256}) {
    AttentionShape one = shape(256, 12);
    one.head_dim = head_dim;
    EXPECT_FALSE(choose(one)) << head_dim;
  }
  AttentionShape one = shape(256, 12, false);
  one.seq_kv = 193;  // as many tiles
  EXPECT_TRUE(choose(one));
  one.seq_kv = 192;
  EXPECT_FALSE(choose(one));
}

TEST(ChooseKinds, TakesWhatWasMeasuredToBeFaster) {
  // H200, cold L2 cache, us: the kernels selected before, the split kernel with a preprocess kernel, and with fused row
  // statistics (0: not measured)
  struct Measured {
    std::int64_t batch, heads, seq;
    bool causal;
    double before, prepared, alone;
  };
  for (const Measured& one : {Measured{4, 12, 65, true, 12.4, 11.4, 9.0}, {4, 25, 128, true, 14.1, 13.7, 11.9},
                              {4, 25, 128, false, 14.0, 14.6, 13.0},      {4, 25, 192, true, 19.6, 16.6, 16.3},
                              {1, 16, 256, true, 14.7, 11.8, 10.7},       {4, 12, 256, false, 19.5, 16.9, 16.4},
                              {4, 25, 256, true, 20.9, 20.4, 21.6},       {4, 25, 256, false, 24.4, 25.2, 26.4},
                              {1, 16, 512, true, 22.0, 14.5, 15.9},       {4, 12, 512, true, 25.7, 24.9, 28.2},
                              {4, 12, 512, false, 38.5, 31.7, 37.5},      {4, 25, 512, true, 43.5, 42.4, 47.6},
                              {4, 25, 512, false, 57.6, 59.9, 70.7},      {4, 16, 768, true, 49.0, 51.1, 0},
                              {1, 16, 1024, true, 32.5, 25.7, 32.0},      {1, 16, 1024, false, 33.6, 35.7, 42.7},
                              {8, 1, 1024, false, 30.3, 22.2, 28.1},      {4, 12, 1024, true, 55.4, 59.7, 0},
                              {1, 16, 2048, true, 56.6, 67.6, 90.7},      {8, 1, 2048, true, 50.0, 37.9, 51.6},
                              {8, 1, 2048, false, 50.5, 59.5, 75.5},      {1, 1, 4096, false, 79.8, 50.8, 70.8},
                              {1, 4, 4096, true, 83.8, 62.3, 92.6},       {1, 4, 4096, false, 87.8, 113.0, 146.5},
                              {8, 1, 4096, true, 91.5, 118.7, 162.6}}) {
    SCOPED_TRACE(testing::Message() << one.batch << " x " << one.heads << ", " << one.seq << " tokens");
    const auto choice = choose(shape(one.seq, one.heads, one.causal, one.batch));
    const double best = one.alone > 0 ? std::min(one.prepared, one.alone) : one.prepared;
    ASSERT_EQ(choice.has_value(), best < one.before);
    if (!choice) continue;
    EXPECT_EQ(choice->sums, DqAccumulation::kNone);
    EXPECT_EQ(choice->is_alone, one.alone > 0 && one.alone < one.prepared);
  }
}

}  // namespace
}  // namespace tbench::kernels::sm90
