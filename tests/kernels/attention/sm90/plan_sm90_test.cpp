#include "kernels/attention/sm90/plan_sm90.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "kernels/attention/sm90/tensor_map.hpp"
#include "support/plan_problem.hpp"

namespace tbench::kernels::sm90 {
namespace {

AttentionProblem problem(std::int64_t seq, std::int64_t head_dim, std::int64_t heads, bool causal = true) {
  return problem_of(Precision::kBf16, seq, head_dim, heads, causal);
}

TEST(ForwardTile, FillsButDoesNotExceedAMultiprocessor) {
  // 384 threads begin with 168 registers: 2 * 232 + 40 = 3 * 168; 512 with 128: 3 * 160 + 32 = 4 * 128; 640 with 96, of
  // 102 in eights: 4 * 112 + 32 = 5 * 96
  EXPECT_TRUE(fits_registers(NarrowForward::tile()));
  EXPECT_TRUE(fits_registers(WideForward::tile()));
  EXPECT_TRUE(fits_registers(TallForward::tile()));
  EXPECT_TRUE(fits_registers(DeepForward::tile()));
  EXPECT_TRUE(fits_registers(ShortForward::tile()));
  EXPECT_TRUE(fits_registers(PairForward::tile()));
  EXPECT_FALSE(fits_registers({.warp_groups = 2, .registers = 248, .copying_registers = 24}));
  // (4 * 112 + 40) * 128 = 62,464 of 65,536, but the block begins with 480 * 128: hung on an H100
  EXPECT_FALSE(fits_registers({.warp_groups = 4, .registers = 112, .copying_registers = 40}));
  EXPECT_EQ(threads(NarrowForward::tile()), 384);
  EXPECT_EQ(threads(WideForward::tile()), 512);
  EXPECT_EQ(threads(TallForward::tile()), 640);
  EXPECT_EQ(threads(DeepForward::tile()), 384);
  EXPECT_EQ(threads(ShortForward::tile()), 640) << "two teams of two, and who copies";
  EXPECT_EQ(threads(PairForward::tile()), 384) << "two teams of one";
}

TEST(PanelColumns, DivideWhatIsNotFilledUp) {
  EXPECT_EQ(panels(32), 1);
  EXPECT_EQ(padded_columns(32), 32) << "no zeros";
  EXPECT_EQ(panels(64), 1);
  EXPECT_EQ(padded_columns(80), 128);
  EXPECT_EQ(panels(256), 4);
}

TEST(SwizzledVector, IsTheOneOfTheCopyEngine) {
  // CUDA driver API, CUtensorMapSwizzle: rows of 128 bytes by row % 8, pairs of rows of 64 bytes by pair % 4
  for (int row = 0; row < 64; ++row) {
    for (int vector = 0; vector < 8; ++vector) EXPECT_EQ(swizzled_vector<128>(row, vector), vector ^ row % 8);
  }
  const std::array<std::array<int, 4>, 9> rows{{{0, 1, 2, 3},
                                                {0, 1, 2, 3},
                                                {1, 0, 3, 2},
                                                {1, 0, 3, 2},
                                                {2, 3, 0, 1},
                                                {2, 3, 0, 1},
                                                {3, 2, 1, 0},
                                                {3, 2, 1, 0},
                                                {0, 1, 2, 3}}};
  for (int row = 0; row < 9; ++row) {
    for (int vector = 0; vector < 4; ++vector) {
      EXPECT_EQ(swizzled_vector<64>(row, vector), rows.at(row).at(vector)) << row << ", " << vector;
    }
  }
}

TEST(ForwardShared, HoldsQueriesOutputsAndTwoStages) {
  // Q and O 128 rows of 256 bytes each, K and V two stages of 128 such rows each: 32, 32, 64 and 64 KiB
  const ForwardShared narrow = forward_shared(NarrowForward::tile(), 128);
  EXPECT_EQ(narrow.o, 32 << 10);
  EXPECT_EQ(narrow.k, 64 << 10);
  EXPECT_EQ(narrow.v, 128 << 10);
  EXPECT_EQ(narrow.barriers, 192 << 10);
  // 192 rows of 128 bytes twice, 4 * 128 of them: 24, 24, 32 and 32 KiB
  EXPECT_EQ(forward_shared(WideForward::tile(), 64).barriers, 112 << 10);
  // 256 rows of 64 bytes twice, 8 * 64 of them: 16, 16 and 32 KiB
  EXPECT_EQ(forward_shared(TallForward::tile(), 32).barriers, 64 << 10);
  EXPECT_EQ(forward_shared(NarrowForward::tile(), 80).end, narrow.end) << "a panel and a quarter takes two";
  for (const int head_dim : {32, 64, 80, 128}) {
    for (const ForwardTile tile : {NarrowForward::tile(), WideForward::tile(), TallForward::tile()}) {
      if (tile == WideForward::tile() && head_dim != 64) continue;  // no instance
      if (tile == TallForward::tile() && head_dim != 32) continue;
      const ForwardShared shared = forward_shared(tile, head_dim);
      for (const int offset : {shared.q, shared.o, shared.k, shared.v}) EXPECT_EQ(offset % kSharedAlignment, 0);
      EXPECT_LE(static_cast<std::size_t>(shared.end + kSharedAlignment), kH200.shared_bytes_per_block);
    }
  }
}

TEST(ForwardShared, HasNoPlaceForOutputsThatLeaveFromRegisters) {
  // Q 128 rows of 512 bytes, K and V two stages of 64 such rows each: 64 KiB each. O, of 64 KiB, would not fit.
  const ForwardShared deep = forward_shared(DeepForward::tile(), 256);
  EXPECT_EQ(deep.k, 64 << 10);
  EXPECT_EQ(deep.v, 128 << 10);
  EXPECT_EQ(deep.barriers, 192 << 10);
  EXPECT_LE(static_cast<std::size_t>(deep.end + kSharedAlignment), kH200.shared_bytes_per_block);
}

TEST(ForwardShared, IsATeams) {
  // Q twice 128 rows of 128 bytes, O once, K and V three stages of 64 such rows each: 32, 16, 24, 24 KiB; barriers: the
  // next KiB
  const ForwardShared team = forward_shared(ShortForward::tile(), 64);
  EXPECT_EQ(team.o, 32 << 10);
  EXPECT_EQ(team.k, 48 << 10);
  EXPECT_EQ(team.v, 72 << 10);
  EXPECT_EQ(team.barriers, 96 << 10);
  EXPECT_EQ(team_bytes(ShortForward::tile(), 64), 97 << 10);
  // Q 64 rows of 128 bytes, K and V two stages of 128: 8, 32, 32 KiB
  EXPECT_EQ(team_bytes(PairForward::tile(), 64), 73 << 10);
  const Launch launch = forward_launch(problem(1024, 64, 12).shape, ShortForward::tile(), kH200);
  EXPECT_EQ(launch.shared_bytes, 195u << 10);
  EXPECT_LE(launch.shared_bytes, kH200.shared_bytes_per_block);
}

TEST(ForwardOrder, GroupsTheHeadsWhoseKeysFitTheCache) {
  for (const bool in_turns : {false, true}) {
    // K and V of a head: 2 * 16,384 * 128 * 2 bytes = 8 MiB; four in 32 MiB, which divide 16 heads
    EXPECT_EQ(forward_order(problem(16384, 128, 4).shape, 128, in_turns),
              (ForwardOrder{.tiles = 128, .heads = 4, .items = 2048, .last_group = 3, .in_turns = in_turns}));
    // 2 * 128 * 64 * 2 bytes = 32 KiB: all 48 heads; ceil(128 / 192) = 1
    EXPECT_EQ(forward_order(problem(128, 64, 12).shape, 192, in_turns),
              (ForwardOrder{.tiles = 1, .heads = 48, .items = 48, .last_group = 0, .in_turns = in_turns}));
    // 2 * 2^20 * 128 * 2 bytes = 512 MiB: one
    EXPECT_EQ(forward_order(problem(std::int64_t{1} << 20, 128, 1).shape, 128, in_turns).heads, 1);
  }
}

TEST(ForwardOrder, HasGroupsOfTheSameSizeInTurns) {
  // 100 heads of 2 * 1,024 * 128 * 2 bytes = 512 KiB: 64 in 32 MiB, so two groups, of 64 and 36, or of 50
  EXPECT_EQ(forward_order(problem(1024, 128, 25).shape, 128, false).heads, 64);
  EXPECT_EQ(forward_order(problem(1024, 128, 25).shape, 128, true).heads, 50);
}

/// Steps of each block that items are dealt to, there and back.
std::vector<int> dealt_steps(const AttentionShape& shape, const ForwardOrder& order, int rows) {
  const auto blocks = static_cast<int>(forward_launch(shape, NarrowForward::tile(), kH200).grid.x);
  std::vector<int> steps(static_cast<std::size_t>(blocks));
  for (int item = 0; item < order.items; ++item) {
    const int round = item / blocks, place = item % blocks;
    const int tile = forward_item(order, static_cast<int>(shape.batch * shape.heads), true, item).tile;
    steps[static_cast<std::size_t>(round % 2 == 0 ? place : blocks - 1 - place)] += (tile + 1) * rows / 128;
  }
  return steps;
}

TEST(ForwardOrder, InTurnsSpreadsWhatIsDealt) {
  const auto most = [](std::int64_t seq, std::int64_t heads, bool in_turns) {
    const AttentionShape shape = problem(seq, 128, heads).shape;
    return std::ranges::max(dealt_steps(shape, forward_order(shape, 128, in_turns), 128));
  };
  // One group of heads: the same. 48 * 36 steps are 13.1 a multiprocessor, 100 * 10 are 7.6.
  for (const bool in_turns : {false, true}) {
    EXPECT_EQ(most(1024, 12, in_turns), 14);
    EXPECT_EQ(most(512, 25, in_turns), 8);
  }
  // Two groups, or four. On average 80 * 36 / 132 = 21.8, 27.3, and 64 * 528 / 132 = 256
  EXPECT_EQ(most(1024, 20, false), 32);
  EXPECT_EQ(most(1024, 20, true), 23);
  EXPECT_EQ(most(1024, 25, false), 34);
  EXPECT_EQ(most(1024, 25, true), 30);
  EXPECT_EQ(most(4096, 16, false), 331);
  EXPECT_EQ(most(4096, 16, true), 256);
}

TEST(ForwardItem, EveryTileOfEveryHeadOnce) {
  for (const bool causal : {false, true}) {
    for (const bool in_turns : {false, true}) {
      const AttentionShape shape = problem(2048, 128, 25, causal).shape;  // groups of 32 heads, 4 in the last, or of 25
      const ForwardOrder order = forward_order(shape, 128, in_turns);
      std::set<std::pair<int, int>> seen;
      for (int item = 0; item < order.items; ++item) {
        const auto [tile, head] = forward_item(order, 100, causal, item);
        EXPECT_TRUE(tile >= 0 && tile < order.tiles && head >= 0 && head < 100) << item;
        seen.emplace(tile, head);
      }
      EXPECT_EQ(std::ssize(seen), order.items);
      EXPECT_EQ(forward_item(order, 100, causal, order.items - 1).tile, causal ? 0 : order.tiles - 1)
          << "the lightest at the end";
      EXPECT_EQ(forward_item(order, 100, causal, 0).tile, causal && !in_turns ? order.tiles - 1 : 0);
    }
  }
}

TEST(ChooseForward, TakesHopperAndNoOtherGpu) {
  EXPECT_TRUE(choose_forward(problem(1024, 64, 12), kH200));
  for (const auto& [major, minor] : {std::pair{8, 0}, {8, 9}, {9, 1}, {10, 0}, {12, 0}}) {
    DeviceLimits other = kH200;
    other.compute_capability_major = major;
    other.compute_capability_minor = minor;
    EXPECT_FALSE(choose_forward(problem(1024, 64, 12), other)) << major << "." << minor;
  }
}

TEST(ChooseForward, TakesWhatHasAnInstance) {
  for (const std::int64_t head_dim : {16, 48, 96, 512}) {
    EXPECT_FALSE(choose_forward(problem(1024, head_dim, 12), kH200)) << head_dim;
  }
  for (const std::int64_t head_dim : {32, 64, 80, 128, 256}) {
    EXPECT_TRUE(choose_forward(problem(1024, head_dim, 12), kH200)) << head_dim;
  }
  for (const Precision precision : kAllOf<Precision>) {
    AttentionProblem one = problem(1024, 128, 12);
    one.precision = precision;
    EXPECT_EQ(choose_forward(one, kH200).has_value(), precision == Precision::kBf16 || precision == Precision::kFp16);
  }
}

TEST(ChooseForward, LeavesShortSequencesAndFewTilesToAmperesKernels) {
  EXPECT_FALSE(choose_forward(problem(64, 128, 100), kH200));
  EXPECT_FALSE(choose_forward(problem(128, 128, 16), kH200));  // 4 * 16 * 2 = 128 tiles of 64 queries
  EXPECT_TRUE(choose_forward(problem(128, 128, 17), kH200));   // 136
  AttentionProblem one = problem(512, 128, 2);
  EXPECT_TRUE(choose_forward(one, kH200));  // 4 * 2 * 8 = 64 tiles, at least 3 / 8 of 132
  one.shape.batch = 1;
  EXPECT_FALSE(choose_forward(one, kH200));
  EXPECT_FALSE(choose_forward(problem(1088, 64, 1), kH200));  // 68 tiles, whose keys blocks divide
}

TEST(ChooseForward, Of64ColumnsLeavesFewerTilesToAmperesKernels) {
  EXPECT_FALSE(choose_forward(problem(64, 64, 100), kH200));
  EXPECT_FALSE(choose_forward(problem(128, 64, 10), kH200));  // 80 tiles of 64 queries
  EXPECT_TRUE(choose_forward(problem(128, 64, 11), kH200));   // 88, 2 / 3 of 132
  EXPECT_FALSE(choose_forward(problem(256, 64, 5), kH200));   // 80
  EXPECT_FALSE(choose_forward(problem(512, 64, 1), kH200));   // 32
  EXPECT_TRUE(choose_forward(problem(512, 64, 2), kH200));    // 64, at least 3 / 8 of 132
  EXPECT_TRUE(choose_forward(problem(1024, 64, 1), kH200));   // 64
  // Beyond 1,024 keys a query 3 / 4, if Ampere's kernels do not divide the keys: 4 * 24 = 96 and 4 * 25 = 100
  EXPECT_FALSE(choose_forward(problem(1536, 64, 1, false), kH200));
  EXPECT_TRUE(choose_forward(problem(1600, 64, 1, false), kH200));
}

TEST(ChooseForward, TakesOf32ColumnsWhatItTakesOf64) {
  // Batch 8, one head: 8 * 8 = 64 tiles of 64 queries at 512 tokens, 128 at 1,024, 256 at 2,048
  for (const auto& [seq, taken] : {std::pair{256, false}, {512, false}, {1024, true}, {2048, true}, {16384, true}}) {
    for (const bool causal : {true, false}) {
      AttentionProblem one = problem(seq, 32, 1, causal);
      one.shape.batch = 8;
      EXPECT_EQ(choose_forward(one, kH200).has_value(), taken) << seq;
    }
  }
  // One sequence of one head, causal: Ampere's kernels divide the keys of up to 132 tiles.
  for (const auto& [seq, taken] : {std::pair{4096, false}, {8192, false}, {16384, true}}) {
    AttentionProblem one = problem(seq, 32, 1);
    one.shape.batch = 1;
    EXPECT_EQ(choose_forward(one, kH200).has_value(), taken) << seq;
  }
}

TEST(ChooseForward, TakesEvery256ColumnsFrom65TokensOn) {
  AttentionProblem one = problem(65, 256, 1);
  one.shape.batch = 1;
  for (const std::int64_t seq : {65, 128, 512, 4096, 16384}) {
    for (const bool causal : {true, false}) {
      one.shape.seq_q = one.shape.seq_kv = seq;
      one.shape.causal = causal;
      EXPECT_TRUE(choose_forward(one, kH200)) << seq;
    }
  }
  one.shape.seq_q = 64;
  EXPECT_FALSE(choose_forward(one, kH200));
  EXPECT_FALSE(choose_forward(problem(64, 256, 100), kH200));
}

ForwardTiles tiles_of_64_columns(std::int64_t batch, std::int64_t heads, std::int64_t seq, bool causal) {
  AttentionProblem one = problem(seq, 64, heads, causal);
  one.shape.batch = batch;
  return choose_forward(one, kH200)->tiles;
}

TEST(ChooseForward, TheFastestTilesWhereTheyWereMeasured) {
  // H100, microseconds warm, of narrow, wide, short and pair tiles; wide ones by the counter where it is taken
  struct Measured {
    std::int64_t batch, heads, seq;
    bool causal;
    std::array<double, 4> us;
  };
  constexpr std::array kTiles{ForwardTiles::kNarrow, ForwardTiles::kWide, ForwardTiles::kShort, ForwardTiles::kPair};
  for (const Measured& one : {Measured{4, 12, 128, true, {4.5, 4.9, 3.8, 3.6}},
                              {4, 16, 128, true, {4.2, 4.7, 3.5, 3.6}},
                              {4, 20, 128, true, {4.8, 5.2, 4.1, 4.7}},
                              {4, 25, 128, true, {4.7, 5.1, 4.0, 4.9}},
                              {4, 12, 256, true, {5.6, 6.0, 5.1, 4.9}},
                              {4, 16, 256, true, {5.6, 5.9, 4.9, 5.1}},
                              {4, 20, 256, true, {7.0, 9.6, 5.2, 6.4}},
                              {4, 25, 256, true, {7.8, 10.1, 6.0, 8.3}},
                              {4, 12, 512, true, {9.3, 9.7, 7.2, 9.0}},
                              {4, 16, 512, true, {10.5, 11.9, 8.4, 10.5}},
                              {4, 20, 512, true, {14.0, 13.7, 10.4, 13.7}},
                              {4, 25, 512, true, {15.9, 17.2, 12.9, 16.1}},
                              {4, 12, 1024, true, {21.5, 22.2, 17.1, 22.6}},
                              {4, 16, 1024, true, {27.3, 27.9, 21.6, 29.1}},
                              {4, 20, 1024, true, {34.0, 36.4, 28.0, 36.2}},
                              {4, 25, 1024, true, {42.7, 44.1, 35.0, 45.6}},
                              {8, 1, 512, true, {7.3, 8.5, 6.5, 5.7}},
                              {8, 1, 512, false, {6.5, 8.1, 6.7, 5.0}},
                              {8, 1, 1024, true, {11.4, 12.7, 11.1, 8.4}},
                              {8, 1, 1024, false, {10.6, 13.2, 11.1, 7.9}},
                              {8, 1, 2048, true, {19.6, 22.9, 20.2, 14.4}},
                              {8, 1, 2048, false, {18.9, 22.8, 20.4, 22.2}},
                              {4, 12, 2048, true, {64.8, 59.5, 54.1, 70.6}},
                              {4, 16, 2048, true, {87.2, 79.3, 71.6, 95.2}},
                              {4, 20, 2048, true, {108.2, 98.1, 90.5, 115.4}},
                              {4, 25, 2048, true, {131.4, 119.8, 110.8, 143.4}},
                              {8, 1, 4096, true, {38.9, 43.9, 40.0, 44.8}},
                              {8, 1, 4096, false, {70.9, 85.6, 59.7, 84.8}},
                              {4, 12, 256, false, {5.4, 6.7, 5.3, 5.5}},
                              {4, 12, 1024, false, {30.5, 37.6, 28.3, 35.2}},
                              {4, 25, 1024, false, {68.7, 62.2, 60.6, 71.9}},
                              {4, 12, 128, false, {4.1, 5.1, 4.1, 3.4}},
                              {4, 8, 512, true, {7.8, 8.9, 7.1, 6.5}},
                              {4, 4, 1024, true, {11.7, 13.2, 11.5, 9.1}},
                              {1, 8, 2048, true, {19.6, 22.9, 20.1, 14.4}},
                              {4, 1, 2048, false, {18.4, 22.1, 19.8, 13.1}},
                              {1, 16, 1024, true, {11.6, 13.4, 11.5, 9.1}},
                              {1, 16, 1024, false, {11.0, 13.6, 11.6, 12.5}},
                              {1, 16, 2048, true, {23.0, 23.8, 22.1, 25.1}},
                              {1, 16, 2048, false, {37.1, 44.8, 31.7, 43.9}},
                              {4, 12, 4096, true, {222.1, 195.2, 190.9, 250.8}},
                              {4, 25, 4096, true, {461.3, 399.5, 392.6, 508.9}},
                              {4, 16, 4096, true, {300.7, 262.9, 250.6, 332.0}},
                              {4, 20, 4096, true, {376.3, 325.5, 312.4, 412.8}},
                              {1, 16, 4096, true, {75.0, 71.1, 62.2, 85.3}},
                              {1, 16, 4096, false, {139.7, 127.2, 118.5, 164.7}},
                              {1, 1, 16384, true, {133.2, 156.6, 146.1, 90.8}},
                              {1, 1, 16384, false, {134.0, 158.0, 147.4, 163.7}},
                              {8, 1, 8192, true, {138.0, 125.9, 116.0, 161.6}},
                              {8, 1, 8192, false, {275.2, 250.8, 230.8, 326.0}},
                              {8, 1, 16384, true, {535.3, 448.7, 451.4, 629.4}},
                              {8, 1, 16384, false, {1104.8, 981.5, 913.0, 1277.8}},
                              {1, 16, 16384, true, {1112.2, 923.4, 927.6, 1293.4}},
                              {1, 16, 16384, false, {2311.6, 1881.7, 1901.8, 2606.1}}}) {
    const auto chosen = std::ranges::find(kTiles, tiles_of_64_columns(one.batch, one.heads, one.seq, one.causal));
    EXPECT_LE(one.us.at(static_cast<std::size_t>(chosen - kTiles.begin())), 1.05 * std::ranges::min(one.us))
        << one.batch << " x " << one.heads << ", " << one.seq << " tokens, causal " << one.causal;
  }
}

TEST(ChooseForward, PairTilesWhereTeamsHaveAnItemAtMost) {
  EXPECT_EQ(tiles_of_64_columns(4, 16, 128, true), ForwardTiles::kPair);   // 128 items of 64 queries
  EXPECT_EQ(tiles_of_64_columns(4, 17, 128, true), ForwardTiles::kShort);  // 136
  EXPECT_EQ(tiles_of_64_columns(4, 17, 128, false), ForwardTiles::kNarrow);
  EXPECT_EQ(tiles_of_64_columns(4, 13, 320, true), ForwardTiles::kPair);    // 260
  EXPECT_EQ(tiles_of_64_columns(4, 14, 320, true), ForwardTiles::kShort);   // 280
  EXPECT_EQ(tiles_of_64_columns(8, 1, 2112, true), ForwardTiles::kPair);    // 264
  EXPECT_EQ(tiles_of_64_columns(8, 1, 2113, true), ForwardTiles::kShort);   // 272
  EXPECT_EQ(tiles_of_64_columns(1, 4, 4224, true), ForwardTiles::kPair);    // 264
  EXPECT_EQ(tiles_of_64_columns(1, 4, 4300, true), ForwardTiles::kNarrow);  // 272
  EXPECT_EQ(tiles_of_64_columns(4, 1, 2112, false), ForwardTiles::kPair);   // 132
  EXPECT_EQ(choose_forward(problem(256, 128, 20), kH200)->tiles, ForwardTiles::kNarrow);
}

TEST(ChooseForward, ShortTilesOfUpToSomeThousandTokens) {
  EXPECT_EQ(tiles_of_64_columns(4, 12, 4095, true), ForwardTiles::kShort);
  EXPECT_EQ(tiles_of_64_columns(4, 12, 4096, true), ForwardTiles::kShort);
  EXPECT_EQ(tiles_of_64_columns(4, 12, 4097, true), ForwardTiles::kWide);
  EXPECT_EQ(tiles_of_64_columns(4, 12, 4095, false), ForwardTiles::kShort);
  EXPECT_EQ(tiles_of_64_columns(4, 12, 4096, false), ForwardTiles::kWide);
  EXPECT_EQ(tiles_of_64_columns(1, 12, 4096, true), ForwardTiles::kNarrow);   // 12 * 22 = 264 wide items
  EXPECT_EQ(tiles_of_64_columns(1, 12, 4096, false), ForwardTiles::kNarrow);  // 384 short ones
  EXPECT_EQ(tiles_of_64_columns(1, 8, 4096, false), ForwardTiles::kShort);    // 256
  EXPECT_EQ(tiles_of_64_columns(1, 4, 8192, false), ForwardTiles::kNarrow);   // as many, longer than was measured
  // Up to 3 * 132 wide items with a mask, 9 * 43 = 387, and 6 * 132 without one, 36 * 22 = 792
  EXPECT_EQ(tiles_of_64_columns(1, 9, 8192, true), ForwardTiles::kShort);
  EXPECT_EQ(tiles_of_64_columns(1, 10, 8192, true), ForwardTiles::kWide);
  EXPECT_EQ(tiles_of_64_columns(1, 9, 8193, true), ForwardTiles::kWide);
  EXPECT_EQ(tiles_of_64_columns(1, 36, 4096, false), ForwardTiles::kShort);
  EXPECT_EQ(tiles_of_64_columns(1, 37, 4096, false), ForwardTiles::kWide);
  EXPECT_EQ(tiles_of_64_columns(1, 8, 16385, false), ForwardTiles::kWide);
}

TEST(ChooseForward, TallTilesWhereTheyFillTheGpu) {
  const auto is_tall = [](std::int64_t batch, std::int64_t heads, std::int64_t seq, bool causal) {
    AttentionProblem one = problem(seq, 32, heads, causal);
    one.shape.batch = batch;
    return choose_forward(one, kH200)->tiles == ForwardTiles::kTall;
  };
  // Without a mask from 0.9 * 132 = 118.8 items on, with one from 1.5 * 132 = 198
  EXPECT_TRUE(is_tall(8, 1, 4096, false));  // 8 * 16 = 128
  EXPECT_FALSE(is_tall(8, 1, 4096, true));
  EXPECT_TRUE(is_tall(8, 1, 8192, true));    // 256
  EXPECT_FALSE(is_tall(8, 1, 2048, false));  // 64
  EXPECT_FALSE(is_tall(1, 59, 512, false));  // 59 * 2 = 118
  EXPECT_TRUE(is_tall(1, 60, 512, false));   // 120
  EXPECT_FALSE(is_tall(1, 98, 512, true));   // 196
  EXPECT_TRUE(is_tall(1, 99, 512, true));    // 198
  EXPECT_TRUE(is_tall(1, 99, 257, true));
  EXPECT_TRUE(is_tall(4, 100, 129, false));  // 400, or 800 narrow ones
  EXPECT_FALSE(is_tall(4, 100, 128, false)) << "400 of either, and narrow ones are shorter";
}

TEST(ChooseForward, ACounterForManyItemsOfUnequalWork) {
  // 128 columns: more than 4.5 * 132 = 594 items. 4 * 18 * 8 = 576, 4 * 19 * 8 = 608
  EXPECT_FALSE(choose_forward(problem(1024, 128, 18), kH200)->counted);
  EXPECT_TRUE(choose_forward(problem(1024, 128, 19), kH200)->counted);
  EXPECT_FALSE(choose_forward(problem(1024, 128, 19, false), kH200)->counted);
  // 64 columns: more than 7 * 132 = 924, wide ones here. 4 * 5 * 43 = 860, 4 * 6 * 43 = 1,032
  EXPECT_FALSE(choose_forward(problem(8192, 64, 5), kH200)->counted);
  EXPECT_TRUE(choose_forward(problem(8192, 64, 6), kH200)->counted);
  EXPECT_EQ(forward_workspace_bytes(problem(8192, 64, 5), kH200), 0u);
  EXPECT_EQ(forward_workspace_bytes(problem(8192, 64, 6), kH200), 256u);
  EXPECT_FALSE(choose_forward(problem(4096, 64, 25), kH200)->counted) << "short tiles";
  // 32 columns likewise, tall ones here: 4 * 14 * 16 = 896, 4 * 15 * 16 = 960
  EXPECT_FALSE(choose_forward(problem(4096, 32, 14), kH200)->counted);
  EXPECT_TRUE(choose_forward(problem(4096, 32, 15), kH200)->counted);
  for (const std::int64_t seq : {1024, 16384}) {
    EXPECT_FALSE(choose_forward(problem(seq, 256, 25), kH200)->counted);
    EXPECT_TRUE(choose_forward(problem(seq, 256, 25), kH200)->in_turns);
    EXPECT_TRUE(choose_forward(problem(seq, 256, 25), kH200)->overlaps);
    EXPECT_EQ(forward_workspace_bytes(problem(seq, 256, 25), kH200), 0u);
  }
}

TEST(ChooseForward, GroupsInTurnsOfItemsOfUnequalWork) {
  EXPECT_TRUE(choose_forward(problem(1024, 128, 18), kH200)->in_turns);
  EXPECT_TRUE(choose_forward(problem(4096, 128, 18), kH200)->in_turns);
  EXPECT_FALSE(choose_forward(problem(4097, 128, 18), kH200)->in_turns) << "they come from a counter";
  EXPECT_FALSE(choose_forward(problem(1024, 128, 18, false), kH200)->in_turns);
}

TEST(ChooseForward, OverlapsTheKernelBeforeWhereNoCounterIsCleared) {
  EXPECT_TRUE(choose_forward(problem(1024, 128, 18), kH200)->overlaps);
  EXPECT_FALSE(choose_forward(problem(1024, 128, 19), kH200)->overlaps);
}

TEST(ForwardLaunch, HasAtMostABlockAMultiprocessor) {
  // 48 * ceil(1000 / 128) = 384 items; 48 * ceil(200 / 128) = 96
  const Launch launch = forward_launch(problem(1000, 64, 12).shape, NarrowForward::tile(), kH200);
  EXPECT_EQ(launch.grid, (Grid{132, 1, 1}));
  EXPECT_EQ(launch.threads, 384);
  EXPECT_EQ(forward_launch(problem(200, 64, 12).shape, NarrowForward::tile(), kH200).grid, (Grid{96, 1, 1}));
}

TEST(HasTensorMap, WantsMultiplesOf16BytesWhereAStrideCounts) {
  char* const aligned = reinterpret_cast<char*>(std::uintptr_t{4096});
  const TensorExtents extents{.batch = 2, .heads = 3, .rows = 5, .head_dim = 64};
  EXPECT_TRUE(has_tensor_map({aligned, {960, 320, 64}}, extents));
  EXPECT_FALSE(has_tensor_map({aligned + 2, {960, 320, 64}}, extents));
  EXPECT_FALSE(has_tensor_map({aligned, {975, 325, 65}}, extents));
  EXPECT_FALSE(has_tensor_map({aligned, {0, 320, 64}}, extents));
  EXPECT_FALSE(has_tensor_map({aligned, {960, 320, 0}}, extents));
  EXPECT_FALSE(has_tensor_map({aligned, {960, 320, std::int64_t{1} << 39}}, extents));  // 2^40 bytes
  // One batch, one row: their strides do not count.
  EXPECT_TRUE(has_tensor_map({aligned, {0, 64, 7}}, {.batch = 1, .heads = 3, .rows = 1, .head_dim = 64}));
}

}  // namespace
}  // namespace tbench::kernels::sm90
