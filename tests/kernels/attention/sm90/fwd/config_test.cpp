#include "kernels/attention/sm90/fwd/config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "kernels/attention/sm90/common/tma_descriptor.hpp"
#include "support/plan_problem.hpp"

namespace tbench::kernels::sm90 {
namespace {

AttentionProblem problem(std::int64_t seq, std::int64_t head_dim, std::int64_t heads, bool causal = true) {
  return problem_of(Precision::kBf16, seq, head_dim, heads, causal);
}

TEST(ForwardTile, FillsButDoesNotExceedAMultiprocessor) {
  // 384 threads start with 168 registers: 2 * 232 + 40 = 3 * 168. 512 threads start with 128: 3 * 160 + 32 = 4 * 128.
  // 640 threads start with 96, the multiple of eight below 102: 4 * 112 + 32 = 5 * 96.
  EXPECT_TRUE(fits_registers(FwdM128N128::tile()));
  EXPECT_TRUE(fits_registers(FwdM192N128::tile()));
  EXPECT_TRUE(fits_registers(FwdM192N64::tile()));
  EXPECT_TRUE(fits_registers(FwdM256N64::tile()));
  EXPECT_TRUE(fits_registers(FwdM128N64::tile()));
  EXPECT_TRUE(fits_registers(FwdM128N64x2::tile()));
  EXPECT_TRUE(fits_registers(FwdM64N128x2::tile()));
  EXPECT_FALSE(fits_registers({.warp_groups = 2, .registers = 248, .copying_registers = 24}));
  // (4 * 112 + 40) * 128 = 62,464 of 65,536 registers fit, but the CTA starts with only 480 * 128. Such a configuration
  // hung on an H100.
  EXPECT_FALSE(fits_registers({.warp_groups = 4, .registers = 112, .copying_registers = 40}));
  EXPECT_EQ(threads(FwdM128N128::tile()), 384);
  EXPECT_EQ(threads(FwdM192N128::tile()), 512);
  EXPECT_EQ(threads(FwdM192N64::tile()), 512);
  EXPECT_EQ(threads(FwdM256N64::tile()), 640);
  EXPECT_EQ(threads(FwdM128N64::tile()), 384);
  EXPECT_EQ(threads(FwdM128N64x2::tile()), 640) << "two teams of two, and who copies";
  EXPECT_EQ(threads(FwdM64N128x2::tile()), 384) << "two teams of one";
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
  // Q and O: 128 rows of 256 bytes each. K and V: two stages of 128 such rows each. 32 + 32 + 64 + 64 KiB.
  const FwdSmemLayout narrow = forward_shared(FwdM128N128::tile(), 128);
  EXPECT_EQ(narrow.o, 32 << 10);
  EXPECT_EQ(narrow.k, 64 << 10);
  EXPECT_EQ(narrow.v, 128 << 10);
  EXPECT_EQ(narrow.barriers, 192 << 10);
  // Q and O: 192 rows of 128 bytes each. K and V: two stages of 128 such rows each. 24 + 24 + 32 + 32 KiB.
  EXPECT_EQ(forward_shared(FwdM192N128::tile(), 64).barriers, 112 << 10);
  // Q and O: 192 rows of 256 bytes each. K and V: three stages of 64 such rows each. 48 + 48 + 48 + 48 KiB.
  const FwdSmemLayout wide_80 = forward_shared(FwdM192N64::tile(), 80);
  EXPECT_EQ(wide_80.barriers, 192 << 10);
  EXPECT_LE(static_cast<std::size_t>(wide_80.end + kSharedAlignment), kH200.shared_bytes_per_block);
  // Q and O: 256 rows of 64 bytes each. K and V: four stages of 64 such rows each. 16 + 16 + 16 + 16 KiB.
  EXPECT_EQ(forward_shared(FwdM256N64::tile(), 32).barriers, 64 << 10);
  EXPECT_EQ(forward_shared(FwdM128N128::tile(), 80).end, narrow.end) << "a panel and a quarter takes two";
  for (const int head_dim : {32, 64, 80, 128}) {
    for (const FwdConfig tile : {FwdM128N128::tile(), FwdM192N128::tile(), FwdM256N64::tile()}) {
      if (tile == FwdM192N128::tile() && head_dim != 64) continue;  // no instance
      if (tile == FwdM256N64::tile() && head_dim != 32) continue;
      const FwdSmemLayout shared = forward_shared(tile, head_dim);
      for (const int offset : {shared.q, shared.o, shared.k, shared.v}) EXPECT_EQ(offset % kSharedAlignment, 0);
      EXPECT_LE(static_cast<std::size_t>(shared.end + kSharedAlignment), kH200.shared_bytes_per_block);
    }
  }
}

TEST(ForwardShared, HasNoPlaceForOutputsThatLeaveFromRegisters) {
  // Q: 128 rows of 512 bytes. K and V: two stages of 64 such rows each. Each takes 64 KiB. O would take another 64 KiB,
  // which do not fit.
  const FwdSmemLayout deep = forward_shared(FwdM128N64::tile(), 256);
  EXPECT_EQ(deep.k, 64 << 10);
  EXPECT_EQ(deep.v, 128 << 10);
  EXPECT_EQ(deep.barriers, 192 << 10);
  EXPECT_LE(static_cast<std::size_t>(deep.end + kSharedAlignment), kH200.shared_bytes_per_block);
}

TEST(ForwardShared, IsATeams) {
  // Q: two tiles of 128 rows of 128 bytes. O: one such tile. K and V: three stages of 64 such rows each.
  // 32 + 16 + 24 + 24 KiB. The barriers take the next KiB.
  const FwdSmemLayout team = forward_shared(FwdM128N64x2::tile(), 64);
  EXPECT_EQ(team.o, 32 << 10);
  EXPECT_EQ(team.k, 48 << 10);
  EXPECT_EQ(team.v, 72 << 10);
  EXPECT_EQ(team.barriers, 96 << 10);
  EXPECT_EQ(team_bytes(FwdM128N64x2::tile(), 64), 97 << 10);
  // Q: 64 rows of 128 bytes. K and V: two stages of 128 such rows each. 8 + 32 + 32 KiB.
  EXPECT_EQ(team_bytes(FwdM64N128x2::tile(), 64), 73 << 10);
  const Launch launch = forward_launch(problem(1024, 64, 12).shape, FwdM128N64x2::tile(), kH200);
  EXPECT_EQ(launch.shared_bytes, 195u << 10);
  EXPECT_LE(launch.shared_bytes, kH200.shared_bytes_per_block);
}

TEST(ForwardOrder, GroupsTheHeadsWhoseKeysFitTheCache) {
  for (const bool in_turns : {false, true}) {
    // K and V of a head: 2 * 16,384 * 128 * 2 bytes = 8 MiB; four in 32 MiB, which divide 16 heads
    EXPECT_EQ(forward_order(problem(16384, 128, 4).shape, 128, in_turns),
              (TileOrder{.tiles = 128, .heads = 4, .items = 2048, .last_group = 3, .in_turns = in_turns}));
    // 2 * 128 * 64 * 2 bytes = 32 KiB: all 48 heads; ceil(128 / 192) = 1
    EXPECT_EQ(forward_order(problem(128, 64, 12).shape, 192, in_turns),
              (TileOrder{.tiles = 1, .heads = 48, .items = 48, .last_group = 0, .in_turns = in_turns}));
    // 2 * 2^20 * 128 * 2 bytes = 512 MiB: one head
    EXPECT_EQ(forward_order(problem(std::int64_t{1} << 20, 128, 1).shape, 128, in_turns).heads, 1);
  }
}

TEST(ForwardOrder, KeepsHeadsThatShareKeysTogether) {
  AttentionShape shape = problem(16384, 128, 16).shape;  // 64 heads, 16 of K and V; four of these fit
  shape.kv_heads = 4;
  EXPECT_EQ(forward_order(shape, 128, false).heads, 4 * 4);
}

TEST(ForwardOrder, HasGroupsOfTheSameSizeInTurns) {
  // 100 heads of 2 * 1,024 * 128 * 2 bytes = 512 KiB: 64 in 32 MiB, so two groups, of 64 and 36, or of 50 each
  EXPECT_EQ(forward_order(problem(1024, 128, 25).shape, 128, false).heads, 64);
  EXPECT_EQ(forward_order(problem(1024, 128, 25).shape, 128, true).heads, 50);
}

/// Returns the steps of each CTA with the static schedule in snake order.
std::vector<int> dealt_steps(const AttentionShape& shape, const TileOrder& order, int rows) {
  const auto blocks = static_cast<int>(forward_launch(shape, FwdM128N128::tile(), kH200).grid.x);
  const TileDivmods divisors = forward_divisors(order, shape);
  std::vector<int> steps(static_cast<std::size_t>(blocks));
  for (int item = 0; item < order.items; ++item) {
    const int round = item / blocks, place = item % blocks;
    const int tile = forward_item(order, divisors, static_cast<int>(shape.heads), true, item).tile;
    steps[static_cast<std::size_t>(round % 2 == 0 ? place : blocks - 1 - place)] += (tile + 1) * rows / 128;
  }
  return steps;
}

TEST(ForwardOrder, InTurnsSpreadsWhatIsDealt) {
  const auto most = [](std::int64_t seq, std::int64_t heads, bool in_turns) {
    const AttentionShape shape = problem(seq, 128, heads).shape;
    return std::ranges::max(dealt_steps(shape, forward_order(shape, 128, in_turns), 128));
  };
  // One group of heads gives the same result. 48 * 36 steps are 13.1 per SM, and 100 * 10 steps are 7.6.
  for (const bool in_turns : {false, true}) {
    EXPECT_EQ(most(1024, 12, in_turns), 14);
    EXPECT_EQ(most(512, 25, in_turns), 8);
  }
  // Two groups or four differ. The averages are 80 * 36 / 132 = 21.8, 27.3, and 64 * 528 / 132 = 256.
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
      const AttentionShape shape =
          problem(2048, 128, 25, causal).shape;  // groups of 32 heads, 4 in the last, or groups of 25
      const TileOrder order = forward_order(shape, 128, in_turns);
      const TileDivmods divisors = forward_divisors(order, shape);
      const auto of = [&](int item) { return forward_item(order, divisors, 25, causal, item); };
      std::set<std::array<int, 3>> seen;
      for (int item = 0; item < order.items; ++item) {
        const auto [tile, head, batch] = of(item);
        EXPECT_TRUE(tile >= 0 && tile < order.tiles && head >= 0 && head < 25 && batch >= 0 && batch < 4) << item;
        seen.insert({tile, head, batch});
      }
      EXPECT_EQ(std::ssize(seen), order.items);
      EXPECT_EQ(of(order.items - 1).tile, causal ? 0 : order.tiles - 1) << "the lightest at the end";
      EXPECT_EQ(of(0).tile, causal && !in_turns ? order.tiles - 1 : 0);
    }
  }
}

TEST(ForwardLaunch, HasAtMostABlockAMultiprocessor) {
  // 48 * ceil(1000 / 128) = 384 work tiles; 48 * ceil(200 / 128) = 96
  const Launch launch = forward_launch(problem(1000, 64, 12).shape, FwdM128N128::tile(), kH200);
  EXPECT_EQ(launch.grid, (Grid{132, 1, 1}));
  EXPECT_EQ(launch.threads, 384);
  EXPECT_EQ(forward_launch(problem(200, 64, 12).shape, FwdM128N128::tile(), kH200).grid, (Grid{96, 1, 1}));
}

TEST(HasTensorMap, WantsMultiplesOf16BytesWhereAStrideCounts) {
  const TmaExtents extents{.batch = 2, .heads = 3, .rows = 5, .head_dim = 64};
  EXPECT_TRUE(tma_supports({{960, 320, 64}, 16}, extents));
  EXPECT_FALSE(tma_supports({{960, 320, 64}, 2}, extents));
  EXPECT_FALSE(tma_supports({{975, 325, 65}, 16}, extents));
  EXPECT_FALSE(tma_supports({{0, 320, 64}, 16}, extents));
  EXPECT_FALSE(tma_supports({{960, 320, 0}, 16}, extents));
  EXPECT_FALSE(tma_supports({{960, 320, std::int64_t{1} << 39}, 16}, extents));  // 2^40 bytes
  // There is one batch and one row, so their strides do not matter.
  EXPECT_TRUE(tma_supports({{0, 64, 7}, 16}, {.batch = 1, .heads = 3, .rows = 1, .head_dim = 64}));
}

}  // namespace
}  // namespace tbench::kernels::sm90
