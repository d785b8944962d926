#include "kernels/attention/sm90_tf32/bwd/config.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/plan_problem.hpp"

namespace tbench::kernels::sm90_tf32 {
namespace {

AttentionProblem problem(std::int64_t seq, std::int64_t head_dim, std::int64_t heads, bool causal = true) {
  return problem_of(Precision::kTf32, seq, head_dim, heads, causal);
}

/// Returns 130 queries, 300 keys and 48 heads.
AttentionShape rectangle(std::int64_t head_dim) {
  AttentionShape shape = problem(130, head_dim, 12, false).shape;
  shape.seq_kv = 300;
  return shape;
}

TEST(Tf32StreamShared, HoldsWhatIsKeptAndASlotForEveryTile) {
  // 128 stationary rows of 256 bytes are 32 KiB, twice; stages of 64 rows 16 KiB, eight; lse or delta of eight times 64
  // queries 2 KiB
  const BwdSmemLayout keys64 = stream_shared(64, Stationary::kKv);
  EXPECT_EQ(keys64.gradients_operand, 32 << 10);
  EXPECT_EQ(keys64.slots, 64 << 10);
  EXPECT_EQ(keys64.statistics, 192 << 10);
  EXPECT_EQ(keys64.barriers, 194 << 10);
  // Q and dO in registers
  const BwdSmemLayout queries64 = stream_shared(64, Stationary::kQ);
  EXPECT_EQ(queries64.slots, 0);
  EXPECT_EQ(queries64.barriers, 128 << 10);
  // 128 stationary rows of 512 bytes are 64 KiB, twice; stages of 32 rows 16 KiB, six; lse or delta of six times 32
  // queries 768 bytes
  const BwdSmemLayout keys128 = stream_shared(128, Stationary::kKv);
  EXPECT_EQ(keys128.gradients_operand, 64 << 10);
  EXPECT_EQ(keys128.slots, 128 << 10);
  EXPECT_EQ(keys128.statistics, 224 << 10);
  EXPECT_EQ(keys128.barriers, (224 << 10) + 768);
  // Q in registers, dO 64 KiB; stages of 64 rows 32 KiB, five
  const BwdSmemLayout queries128 = stream_shared(128, Stationary::kQ);
  EXPECT_EQ(queries128.gradients_operand, 0);
  EXPECT_EQ(queries128.slots, 64 << 10);
  EXPECT_EQ(queries128.barriers, 224 << 10);
}

TEST(Tf32StreamShared, AlignsTilesAndBarriers) {
  for (const std::int64_t head_dim : kHeadDims) {
    for (const Stationary kept : {Stationary::kKv, Stationary::kQ}) {
      const BwdSmemLayout shared = stream_shared(head_dim, kept);
      for (const int offset : {shared.scores_operand, shared.gradients_operand, shared.slots}) {
        EXPECT_EQ(offset % kSharedAlignment, 0);
      }
      EXPECT_EQ(slot_bytes(head_dim, kept) % kSharedAlignment, 0);
      EXPECT_EQ(shared.statistics % 16, 0);
      EXPECT_EQ(shared.barriers % 8, 0);
      EXPECT_EQ(shared.end, shared.barriers + kBarrierBytes);
    }
  }
}

TEST(Tf32BackwardLaunch, HasABlockAnItemAndFitsAMultiprocessor) {
  // 48 heads with ceil(300 / 128) = 3 K/V tiles and ceil(130 / 128) = 2 Q tiles
  for (const std::int64_t head_dim : kHeadDims) {
    EXPECT_EQ(backward_launch(rectangle(head_dim), Stationary::kKv).grid, (Grid{144, 1, 1}));
    EXPECT_EQ(backward_launch(rectangle(head_dim), Stationary::kQ).grid, (Grid{96, 1, 1}));
    for (const Stationary kept : {Stationary::kKv, Stationary::kQ}) {
      const Launch launch = backward_launch(rectangle(head_dim), kept);
      EXPECT_EQ(launch.threads, 384);
      EXPECT_LE(launch.shared_bytes, kH200.shared_bytes_per_block);
    }
  }
  // Barriers and alignment take 1,280 bytes.
  EXPECT_EQ(backward_launch(rectangle(64), Stationary::kKv).shared_bytes, (194u << 10) + 1280);
  EXPECT_EQ(backward_launch(rectangle(64), Stationary::kQ).shared_bytes, (128u << 10) + 1280);
  EXPECT_EQ(backward_launch(rectangle(128), Stationary::kKv).shared_bytes, (224u << 10) + 768 + 1280);
  EXPECT_EQ(backward_launch(rectangle(128), Stationary::kQ).shared_bytes, (224u << 10) + 1280);
}

TEST(Tf32BackwardLaunch, DealsOutTheRegistersOfAMultiprocessor) {
  EXPECT_TRUE(fits_registers(
      {.warp_groups = kBackwardGroups, .registers = kComputingRegisters, .copying_registers = kCopyingRegisters}));
}

TEST(Tf32BackwardPrepareLaunch, HasAWarpForEach16RowsBy32Columns) {
  // 256 queries and 384 keys per head. Eight warps have 64 rows at head_dim 64, and 32 rows at head_dim 128.
  EXPECT_EQ(backward_prepare_rows(64), 64);
  EXPECT_EQ(backward_prepare_rows(128), 32);
  EXPECT_EQ(backward_prepare_launch(rectangle(64)), (Launch{.grid = {10, 12, 4}, .threads = 256, .shared_bytes = 0}));
  EXPECT_EQ(backward_prepare_launch(rectangle(128)), (Launch{.grid = {20, 12, 4}, .threads = 256, .shared_bytes = 0}));
  for (const std::int64_t head_dim : kHeadDims) EXPECT_EQ(kKeptRows % backward_prepare_rows(head_dim), 0);
}

TEST(Tf32BackwardWorkspace, RoundsQueriesAndKeysUpToKeptRows) {
  const BwdWorkspace workspace = backward_workspace(rectangle(64));
  EXPECT_EQ(workspace.queries, 256);
  EXPECT_EQ(workspace.keys, 384);
  EXPECT_EQ(workspace.statistics_bytes, 49'152u);  // 48 * 256 * 4
  EXPECT_EQ(workspace.queries_bytes, 3'145'728u);  // 48 * 256 * 64 * 4
  EXPECT_EQ(workspace.keys_bytes, 4'718'592u);     // 48 * 384 * 64 * 4
  EXPECT_EQ(workspace.bytes(), 11'108'352u);       // lse, delta, Q^T, dO^T, K^T
  EXPECT_EQ(backward_workspace(rectangle(128)).queries_bytes, 2 * workspace.queries_bytes);
  EXPECT_EQ(backward_workspace(rectangle(128)).statistics_bytes, workspace.statistics_bytes);
}

TEST(Tf32BackwardWorkspace, AlignsWhatIsCopied) {
  for (const std::int64_t head_dim : kHeadDims) {
    AttentionShape one = problem(1, head_dim, 1).shape;
    one.batch = 1;
    const BwdWorkspace workspace = backward_workspace(one);
    for (const std::size_t bytes : {workspace.statistics_bytes, workspace.queries_bytes, workspace.keys_bytes}) {
      EXPECT_EQ(bytes % 256, 0u);
    }
  }
}

TEST(Tf32BackwardOrder, GroupsTheHeadsWhoseStreamsFitTheCache) {
  // Q, dO, dO^T and Q^T of a head: 4 * 16,384 * 128 * 4 bytes = 32 MiB; at head_dim 64 two heads fit
  EXPECT_EQ(backward_order(problem(16384, 128, 4).shape, Stationary::kKv),
            (BwdTileOrder{.tiles = 128, .heads = 1, .items = 2048}));
  EXPECT_EQ(backward_order(problem(16384, 64, 4).shape, Stationary::kKv).heads, 2);
  // K, V and K^T of a head: 3 * 8,192 * 128 * 4 bytes = 12 MiB, of which two fit; at head_dim 64 five fit, 16 heads in
  // four groups
  EXPECT_EQ(backward_order(problem(8192, 128, 4).shape, Stationary::kQ),
            (BwdTileOrder{.tiles = 64, .heads = 2, .items = 1024}));
  EXPECT_EQ(backward_order(problem(8192, 64, 4).shape, Stationary::kQ).heads, 4);
  for (const Stationary kept : {Stationary::kKv, Stationary::kQ}) {
    EXPECT_EQ(backward_order(problem(std::int64_t{1} << 20, 128, 1).shape, kept).heads, 1);
  }
}

TEST(Tf32BackwardOrder, IsOfWhatIsKept) {
  // All 48 heads fit.
  EXPECT_EQ(backward_order(rectangle(64), Stationary::kKv), (BwdTileOrder{.tiles = 3, .heads = 48, .items = 144}));
  EXPECT_EQ(backward_order(rectangle(64), Stationary::kQ), (BwdTileOrder{.tiles = 2, .heads = 48, .items = 96}));
}

TEST(Tf32BackwardOrder, HasGroupsOfTheSameSize) {
  // 100 heads of 4 * 1,024 * 64 * 4 bytes = 1 MiB: 32 in 32 MiB, so four groups of 25, not 32, 32, 32 and 4; with 3 / 4
  // MiB 42 fit, so three groups of 34
  EXPECT_EQ(backward_order(problem(1024, 64, 25).shape, Stationary::kKv),
            (BwdTileOrder{.tiles = 8, .heads = 25, .items = 800}));
  EXPECT_EQ(backward_order(problem(1024, 64, 25).shape, Stationary::kQ),
            (BwdTileOrder{.tiles = 8, .heads = 34, .items = 800}));
}

TEST(TakesTf32BackwardViews, WantsMultiplesOf16BytesOfAllButO) {
  const AttentionProblem one = problem(300, 64, 3);
  const auto view = [](std::uintptr_t address, std::int64_t row) {
    return TensorView{reinterpret_cast<void*>(address), {3 * 300 * row, 300 * row, row}};
  };
  const TensorView good = view(4096, 64);
  const AttentionBackward all{
      .q = good, .k = good, .v = good, .o = good, .grad_o = good, .dq = good, .dk = good, .dv = good};
  auto supports = [with_layout = AttentionProblem{one}](const AttentionBackward& arguments) mutable {
    with_layout.layout = layout_of(arguments);
    return backward_supports_layout(with_layout);
  };
  auto with = [&](TensorView AttentionBackward::*member, const TensorView& other) {
    AttentionBackward arguments = all;
    arguments.*member = other;
    return supports(arguments);
  };
  EXPECT_TRUE(supports(all));
  const std::vector<TensorView AttentionBackward::*> read_or_written{
      &AttentionBackward::q,  &AttentionBackward::k,  &AttentionBackward::v, &AttentionBackward::grad_o,
      &AttentionBackward::dq, &AttentionBackward::dk, &AttentionBackward::dv};
  for (std::size_t i = 0; i < read_or_written.size(); ++i) {
    EXPECT_TRUE(with(read_or_written[i], view(4112, 68))) << i;  // rows of 272 bytes
    for (const TensorView& bad : {view(4100, 64), view(4096, 66), view(4096, 0)}) {
      EXPECT_FALSE(with(read_or_written[i], bad)) << i;
    }
  }
  for (const TensorView& any : {view(4100, 64), view(4096, 66), view(4096, 0)}) {
    EXPECT_TRUE(with(&AttentionBackward::o, any));
  }
}

}  // namespace
}  // namespace tbench::kernels::sm90_tf32
