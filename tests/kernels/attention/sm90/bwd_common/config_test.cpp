#include "kernels/attention/sm90/bwd_common/config.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <vector>

#include "support/plan_problem.hpp"
#include "support/selections.hpp"

namespace tbench::kernels::sm90 {
namespace {

AttentionProblem problem(std::int64_t seq, std::int64_t head_dim, std::int64_t heads, bool causal = true) {
  return problem_of(Precision::kBf16, seq, head_dim, heads, causal);
}

TEST(BackwardTile, FillsButDoesNotExceedAMultiprocessor) {
  for (const int head_dim : {64, 80, 128, 256}) {
    const BwdConfig tile = backward_tile(head_dim);
    EXPECT_TRUE(fits_registers(
        {.warp_groups = kBackwardGroups, .registers = tile.registers, .copying_registers = tile.copying_registers}));
  }
  EXPECT_EQ(kBackwardThreads, 384);
}

TEST(BackwardPanelColumns, DivideEveryHeadDimAndAProductsInnerExtentDividesThem) {
  for (const int head_dim : {64, 80, 128, 256}) {
    EXPECT_EQ(head_dim % backward_panel_columns(head_dim), 0) << head_dim;
    EXPECT_EQ(backward_panel_columns(head_dim) % 16, 0) << head_dim;
  }
  EXPECT_EQ(backward_panel_columns(80), 16);
}

TEST(BackwardShared, HoldsTwoOfEverythingWhereBlocksStay) {
  // head_dim 64: K, V, Q and dO have two tiles of 128 rows of 128 bytes each, dS has two tiles of 128 by 128 elements.
  const BwdSmemLayout narrow = backward_shared(64, BwdSchedule::kPersistent);
  EXPECT_EQ(narrow.v, 32 << 10);
  EXPECT_EQ(narrow.q, 64 << 10);
  EXPECT_EQ(narrow.grad_o, 96 << 10);
  EXPECT_EQ(narrow.scores, 128 << 10);
  EXPECT_EQ(narrow.lse, 192 << 10);
  EXPECT_EQ(narrow.delta - narrow.lse, 2 * 128 * 4);
  // head_dim 80, five panels: rows of 160 bytes
  const BwdSmemLayout wide = backward_shared(80, BwdSchedule::kPersistent);
  EXPECT_EQ(wide.q, 80 << 10);
  EXPECT_EQ(wide.scores, 160 << 10);
  EXPECT_EQ(wide.lse, 224 << 10);
  for (const BwdSmemLayout& shared : {narrow, wide}) {
    for (const int offset : {shared.k, shared.v, shared.q, shared.grad_o, shared.scores}) {
      EXPECT_EQ(offset % kSharedAlignment, 0);
    }
    EXPECT_LE(static_cast<std::size_t>(shared.end), kH200.shared_bytes_per_block);
  }
}

TEST(BackwardShared, HoldsOneKAndVOfOneItem) {
  // 128 rows of 256 bytes each; the rest as above
  const BwdSmemLayout shared = backward_shared(128, BwdSchedule::kOneTilePerCta);
  EXPECT_EQ(shared.v, 32 << 10);
  EXPECT_EQ(shared.q, 64 << 10);
  EXPECT_EQ(shared.grad_o, 96 << 10);
  EXPECT_EQ(shared.scores, 128 << 10);
  EXPECT_EQ(shared.lse, 160 << 10);
}

TEST(BackwardShared, HoldsPBesideDsOf256Columns) {
  // K and V 64 rows of 512 bytes; Q and dO two times 64; dS two times 64 by 64 elements; P 64 by 64 floats
  const BwdSmemLayout shared = backward_shared(256, BwdSchedule::kOneTilePerCta);
  EXPECT_EQ(shared.v, 32 << 10);
  EXPECT_EQ(shared.q, 64 << 10);
  EXPECT_EQ(shared.grad_o, 128 << 10);
  EXPECT_EQ(shared.scores, 192 << 10);
  EXPECT_EQ(shared.probabilities, 208 << 10);
  EXPECT_EQ(shared.lse, 224 << 10);
  EXPECT_EQ(shared.delta - shared.lse, 2 * 64 * 4);
}

TEST(BackwardWorkspace, RoundsQueriesUpToWholeSteps) {
  const AttentionShape shape = problem(1000, 64, 12).shape;
  const BwdWorkspace workspace = backward_workspace(shape, {.sums = DqAccumulation::kAtomic});
  EXPECT_EQ(workspace.rows, 1024);
  EXPECT_EQ(workspace.lse_bytes, 48u * 1024 * 4);
  EXPECT_EQ(workspace.delta_bytes, workspace.lse_bytes);
  EXPECT_EQ(workspace.sums_bytes, 48u * 1024 * 64 * 4);
  EXPECT_EQ(backward_workspace_bytes(problem(1000, 64, 12), kH200), workspace.bytes());
}

TEST(BackwardWorkspace, HasSumsOfEveryTileOfKeysApart) {
  const AttentionShape shape = problem(200, 64, 12).shape;  // two K/V tiles, 256 rows
  const BwdWorkspace together = backward_workspace(shape, {.sums = DqAccumulation::kAtomic});
  EXPECT_EQ(backward_workspace(shape, {.sums = DqAccumulation::kPerKvTile}).sums_bytes, 2 * together.sums_bytes);
  EXPECT_EQ(backward_workspace(shape, {.sums = DqAccumulation::kPerKvTile}).delta_bytes, together.delta_bytes);
  EXPECT_EQ(together.sums_bytes, 48u * 256 * 64 * 4);
}

TEST(BackwardOrder, GroupsTheHeadsWhoseQueriesFitTheCache) {
  // Q, dO and the sums of a head: 16,384 * 128 * 8 bytes = 16 MiB; two in 40 MiB
  EXPECT_EQ(backward_order(problem(16384, 128, 4).shape), (BwdTileOrder{.tiles = 128, .heads = 2, .items = 2048}));
  EXPECT_EQ(backward_order(problem(129, 64, 12).shape), (BwdTileOrder{.tiles = 2, .heads = 48, .items = 96}));
  EXPECT_EQ(backward_order(problem(std::int64_t{1} << 20, 128, 1).shape).heads, 1);
  // head_dim 256: tiles of 64 keys, 4,096 * 256 * 8 bytes = 8 MiB; 16 heads, of which five fit, in four groups
  EXPECT_EQ(backward_order(problem(4096, 256, 4).shape), (BwdTileOrder{.tiles = 64, .heads = 4, .items = 1024}));
}

TEST(BackwardOrder, HasGroupsOfAboutTwoItemsAMultiprocessorWhereBlocksStay) {
  // 100 heads of 8 tiles: 800 work tiles in three groups, the nearest number to 250 tiles per group; 1,024 in four
  EXPECT_EQ(backward_order(problem(1024, 64, 25).shape), (BwdTileOrder{.tiles = 8, .heads = 34, .items = 800}));
  EXPECT_EQ(backward_order(problem(1024, 80, 32).shape), (BwdTileOrder{.tiles = 8, .heads = 32, .items = 1024}));
  EXPECT_EQ(backward_order(problem(65536, 64, 1).shape).heads, 1);
}

AttentionShape grouped(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads, std::int64_t seq,
                       std::int64_t head_dim = 128) {
  return {.batch = batch,
          .heads = heads,
          .seq_q = seq,
          .seq_kv = seq,
          .head_dim = head_dim,
          .causal = true,
          .kv_heads = kv_heads};
}

int parts_of(const AttentionShape& shape) { return backward_parts(shape, kH200.multiprocessors); }

TEST(BackwardParts, DivideAGroupUntilTheHeaviestTileTakesItsShare) {
  EXPECT_EQ(parts_of(grouped(1, 32, 8, 8192)), 1);  // 512 work tiles
  EXPECT_EQ(parts_of(grouped(1, 32, 8, 4096)), 1);  // 256
  EXPECT_EQ(parts_of(grouped(1, 32, 8, 2048)), 2);  // 128; four parts take longer to add (measured)
  EXPECT_EQ(parts_of(grouped(1, 32, 8, 512)), 4);   // 32: one head each
  EXPECT_EQ(parts_of(grouped(1, 32, 1, 8192)), 8);  // 64
  EXPECT_EQ(parts_of(grouped(1, 24, 8, 2000)), 3);  // 128, and 2 does not divide the group of 3
  EXPECT_EQ(parts_of(grouped(1, 32, 32, 512)), 1);  // no groups
}

TEST(BackwardParts, FillRoundsWithoutAMask) {
  AttentionShape shape = grouped(1, 32, 8, 2048);
  shape.causal = false;
  EXPECT_EQ(parts_of(shape), 1);  // 128 work tiles in one round
  shape.seq_q = shape.seq_kv = 1024;
  EXPECT_EQ(parts_of(shape), 2);  // 64
}

TEST(GqaSteps, AreDividedExactly) {
  for (const int steps : {1, 2, 3, 7, 63, 64, 1000, 16384}) {
    const std::uint32_t multiplier = gqa_multiplier(steps);
    const auto heads = static_cast<int>(std::min<std::int64_t>(kMaxGqaSteps / steps / steps, 64));
    for (int head = 0; head < heads; ++head) {
      for (const int step : {0, 1, steps / 2, steps - 1}) {
        if (step >= steps) continue;
        EXPECT_EQ(step_of_head(head * steps + step, steps, multiplier), (StepOfHead{head, step})) << steps;
      }
    }
  }
}

TEST(GqaSteps, AreFewUpToAMillionTokensOfSixteenHeads) {
  EXPECT_TRUE(has_few_gqa_steps(grouped(1, 16, 1, std::int64_t{1} << 20)));
  EXPECT_FALSE(has_few_gqa_steps(grouped(1, 32, 1, std::int64_t{1} << 20)));
}

TEST(BackwardParts, AreTheHeadsOfTheOrder) {
  // Q, dO and dQ sums of a part's two heads take 2 * 2,048 * 128 * 8 bytes = 4 MiB; 10 parts of 16 fit, in two groups
  EXPECT_EQ(backward_order(grouped(1, 32, 8, 2048), 2), (BwdTileOrder{.tiles = 16, .heads = 8, .items = 256}));
  // 32 MiB for the four heads of a group: one fits, but its 64 work tiles are fewer than SMs
  EXPECT_EQ(backward_order(grouped(1, 32, 8, 8192)), (BwdTileOrder{.tiles = 64, .heads = 2, .items = 512}));
  EXPECT_EQ(backward_launch(grouped(1, 32, 8, 2048), BwdSchedule::kOneTilePerCta, kH200, 2).grid, (Grid{256, 1, 1}));
}

TEST(BackwardParts, LeaveTheirGradientsInTheWorkspace) {
  const AttentionShape shape = grouped(2, 32, 8, 1000);
  const BwdWorkspace one = backward_workspace(shape, {.parts = 1}), four = backward_workspace(shape, {.parts = 4});
  EXPECT_EQ(one.kv_sums_bytes, 0U);
  EXPECT_EQ(four.kv_rows, 1024);
  EXPECT_EQ(four.kv_sums_bytes, 4U * 2 * 8 * 1024 * 128 * 4);
  EXPECT_EQ(four.bytes(), one.bytes() + 2 * four.kv_sums_bytes);
  EXPECT_EQ(backward_add_parts_launch(shape).grid, (Grid{2 * 16, 8, 2}));
}

/// Returns the steps of the busiest SM divided by the average, with the static schedule in snake order.
double most_dealt_steps(const BwdTileOrder& order) {
  const int heads = order.items / order.tiles, groups = (heads + order.heads - 1) / order.heads;
  std::vector<int> steps(static_cast<std::size_t>(kH200.multiprocessors));
  int item = 0, all = 0;
  for (int group = 0; group < groups; ++group) {
    const bool lightest_first = (groups - 1 - group) % 2 != 0;
    for (int nth = 0; nth < order.tiles; ++nth) {
      for (int head = group * order.heads; head < std::min((group + 1) * order.heads, heads); ++head, ++item) {
        const int round = item / kH200.multiprocessors, place = item % kH200.multiprocessors;
        const int block = round % 2 == 0 ? place : kH200.multiprocessors - 1 - place;
        const int of_item = lightest_first ? nth + 1 : order.tiles - nth;
        steps[static_cast<std::size_t>(block)] += of_item;
        all += of_item;
      }
    }
  }
  return *std::max_element(steps.begin(), steps.end()) * static_cast<double>(kH200.multiprocessors) / all;
}

TEST(BackwardOrder, DealsABlockThatStaysAboutItsShare) {
  for (const std::int64_t seq : {1024, 2048, 4096}) {
    for (const std::int64_t heads : {12, 16, 20, 25, 32}) {
      EXPECT_LE(most_dealt_steps(backward_order(problem(seq, 64, heads).shape)), 1.1) << heads << ", " << seq;
    }
  }
  for (const std::int64_t seq : {4096, 16384}) {
    AttentionShape shape = problem(seq, 80, 16).shape;
    shape.batch = 1;
    EXPECT_LE(most_dealt_steps(backward_order(shape)), 1.01) << seq;
  }
}

/// Returns the steps of the busiest SM if each SM takes the next work tile, in a CTA of its own, when it has finished
/// the last one, heaviest first in groups of `heads` heads.
int most_steps(const AttentionShape& shape, int heads) {
  const BwdTileOrder order = backward_order(shape);
  const int all_heads = order.items / order.tiles, queries = backward_tile(static_cast<int>(shape.head_dim)).queries;
  std::priority_queue<int, std::vector<int>, std::greater<>> multiprocessors;
  for (int i = 0; i < kH200.multiprocessors; ++i) multiprocessors.push(0);
  int most = 0;
  for (int first = 0; first < all_heads; first += heads) {
    for (int tile = 0; tile < order.tiles; ++tile) {
      for (int head = first; head < std::min(first + heads, all_heads); ++head) {
        const int steps = multiprocessors.top() + (order.tiles - tile) * kBackwardKeys / queries;
        multiprocessors.pop();
        multiprocessors.push(steps);
        most = std::max(most, steps);
      }
    }
  }
  return most;
}

TEST(BackwardOrder, GroupsOfTheSameSizeEndTogether) {
  // Groups before: as many heads as fit 40 MiB, then the rest: 40 and 8 with 1,024 tokens, 80 and 20 with 512, 20, 20
  // and 8 with 2,048
  for (const auto& [seq, heads, cached, before, after] :
       {std::array{1024, 12, 40, 36, 28}, {512, 25, 80, 20, 16}, {2048, 12, 20, 112, 102}}) {
    const AttentionShape shape = problem(seq, 128, heads).shape;
    EXPECT_EQ(most_steps(shape, cached), before) << seq;
    EXPECT_EQ(most_steps(shape, backward_order(shape).heads), after) << seq;
  }
}

TEST(BackwardBlocks, StayWhereTheyWereMeasuredToBeFaster) {
  for (const std::int64_t seq : {128, 512, 1024, 16384}) {
    EXPECT_EQ(backward_blocks(problem(seq, 64, 12).shape), BwdSchedule::kPersistent) << seq;
    EXPECT_EQ(backward_blocks(problem(seq, 80, 12).shape), BwdSchedule::kPersistent) << seq;
    EXPECT_EQ(backward_blocks(problem(seq, 128, 12).shape), BwdSchedule::kOneTilePerCta) << seq;
    EXPECT_EQ(backward_blocks(problem(seq, 256, 12).shape), BwdSchedule::kOneTilePerCta) << seq;
  }
}

TEST(BackwardLaunch, HasABlockAnItemOrAMultiprocessor) {
  // 48 * ceil(1000 / 128) = 384
  const AttentionShape shape = problem(1000, 128, 12).shape;
  const Launch launch = backward_launch(shape, BwdSchedule::kOneTilePerCta, kH200);
  EXPECT_EQ(launch.grid, (Grid{384, 1, 1}));
  EXPECT_EQ(launch.threads, 384);
  EXPECT_EQ(backward_launch(shape, BwdSchedule::kPersistent, kH200).grid, (Grid{132, 1, 1}));
  EXPECT_EQ(backward_launch(problem(256, 64, 12).shape, BwdSchedule::kPersistent, kH200).grid, (Grid{96, 1, 1}));
}

TEST(BackwardLaunch, HasSharedMemoryForWhatABlockAligns) {
  const AttentionShape shape = problem(512, 128, 12).shape, deep = problem(512, 256, 12).shape;
  EXPECT_EQ(backward_launch(deep, BwdSchedule::kOneTilePerCta, kH200).grid, (Grid{384, 1, 1}));  // 48 * 512 / 64
  EXPECT_LE(backward_launch(deep, BwdSchedule::kOneTilePerCta, kH200).shared_bytes, kH200.shared_bytes_per_block);
  EXPECT_EQ(backward_launch(shape, BwdSchedule::kPersistent, kH200).shared_bytes,
            static_cast<std::size_t>(backward_shared(128, BwdSchedule::kPersistent).end));
  EXPECT_EQ(backward_launch(shape, BwdSchedule::kOneTilePerCta, kH200).shared_bytes,
            static_cast<std::size_t>(backward_shared(128, BwdSchedule::kOneTilePerCta).end + kSharedAlignment));
  for (const BwdSchedule blocks : {BwdSchedule::kPersistent, BwdSchedule::kOneTilePerCta}) {
    EXPECT_LE(backward_launch(shape, blocks, kH200).shared_bytes, kH200.shared_bytes_per_block);
  }
}

TEST(BackwardLaunch, MakesWhatLiesBeyondTheLastQueryButDoesNotConvertIt) {
  // 1024 / 64 and ceil(900 / 64)
  EXPECT_EQ(backward_prepare_launch(problem(900, 64, 12).shape).grid, (Grid{16, 12, 4}));
  EXPECT_EQ(backward_convert_launch(problem(900, 64, 12).shape).grid, (Grid{15, 12, 4}));
}

}  // namespace
}  // namespace tbench::kernels::sm90
