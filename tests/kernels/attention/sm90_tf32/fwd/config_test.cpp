#include "kernels/attention/sm90_tf32/fwd/config.hpp"

#include <gtest/gtest.h>

#include "support/plan_problem.hpp"

namespace tbench::kernels::sm90_tf32 {
namespace {

AttentionProblem problem(std::int64_t seq, std::int64_t head_dim, std::int64_t heads, bool causal = true) {
  return problem_of(Precision::kTf32, seq, head_dim, heads, causal);
}

TEST(Tf32ForwardLaunch, FitsAMultiprocessor) {
  for (const std::int64_t head_dim : kHeadDims) {
    EXPECT_TRUE(fits_registers(forward_tile(head_dim)));
    // 48 * ceil(1000 / 128) = 384 work tiles
    const Launch launch = forward_launch(problem(1000, head_dim, 12).shape, kH200);
    EXPECT_EQ(launch.grid, (Grid{132, 1, 1}));
    EXPECT_EQ(launch.threads, 384);
    EXPECT_LE(launch.shared_bytes, kH200.shared_bytes_per_block);
  }
  // Q has 128 rows; K and V^T have two tiles of 32 KiB each. That is 32 + 64 + 64 KiB at head_dim 64 and 64 + 64 + 64
  // KiB at 128. Barriers and alignment take another 1,280 bytes.
  EXPECT_EQ(forward_launch(problem(1000, 64, 12).shape, kH200).shared_bytes, (160u << 10) + 1280);
  EXPECT_EQ(forward_launch(problem(1000, 128, 12).shape, kH200).shared_bytes, (192u << 10) + 1280);
}

TEST(Tf32ForwardWorkspace, HoldsWholeTilesOfValues) {
  // 130 keys are two tiles of 128, or three of 64: 48 heads * 2 * 128 * 64 * 4 bytes, 48 * 3 * 64 * 128 * 4
  const FwdWorkspace d64 = forward_workspace(problem(130, 64, 12).shape, {});
  EXPECT_EQ(d64.key_tiles, 2);
  EXPECT_EQ(d64.values_bytes, 3'145'728u);
  EXPECT_EQ(d64.bytes(), d64.values_bytes);
  const FwdWorkspace d128 = forward_workspace(problem(130, 128, 12).shape, {.counted = true});
  EXPECT_EQ(d128.key_tiles, 3);
  EXPECT_EQ(d128.values_bytes, 4'718'592u);
  EXPECT_EQ(d128.bytes(), 256 + d128.values_bytes);
}

TEST(Tf32PrepareLaunch, HasAWarpForEach16KeysBy32Columns) {
  // head_dim 64, 256 keys per head: 16 * 2 warps, eight per CTA; head_dim 128, 192 keys: 12 * 4
  EXPECT_EQ(prepare_launch(problem(130, 64, 12).shape).grid, (Grid{4, 12, 4}));
  EXPECT_EQ(prepare_launch(problem(130, 128, 12).shape).grid, (Grid{6, 12, 4}));
  EXPECT_EQ(prepare_launch(problem(130, 64, 12).shape).threads, 256);
}

TEST(Tf32ForwardOrder, GroupsTheHeadsWhoseKeysFitTheCache) {
  // K and V of a head: 2 * 16,384 * 128 * 4 bytes = 16 MiB; two in 32 MiB
  EXPECT_EQ(forward_order(problem(16384, 128, 4).shape, {}),
            (TileOrder{.tiles = 128, .heads = 2, .items = 2048, .last_group = 7, .in_turns = false}));
  EXPECT_EQ(forward_order(problem(16384, 64, 4).shape, {}).heads, 4);
}

TEST(TakesTf32Views, WantsMultiplesOf16Bytes) {
  const AttentionProblem one = problem(300, 64, 3);
  const auto view = [](std::uintptr_t address, std::int64_t row) {
    return TensorView{reinterpret_cast<void*>(address), {3 * 300 * row, 300 * row, row}};
  };
  auto supports = [with_layout = AttentionProblem{one}](const AttentionForward& arguments) mutable {
    with_layout.layout = layout_of(arguments);
    return forward_supports_layout(with_layout);
  };
  const TensorView good = view(4096, 64);
  EXPECT_TRUE(supports({.q = good, .k = good, .v = good, .o = good}));
  EXPECT_TRUE(supports({.q = good, .k = view(4112, 68), .v = good, .o = good}));  // rows of 272 bytes
  for (const TensorView& bad : {view(4100, 64), view(4096, 66), view(4096, 0)}) {
    EXPECT_FALSE(supports({.q = bad, .k = good, .v = good, .o = good}));
    EXPECT_FALSE(supports({.q = good, .k = bad, .v = good, .o = good}));
    EXPECT_FALSE(supports({.q = good, .k = good, .v = bad, .o = good}));
    EXPECT_FALSE(supports({.q = good, .k = good, .v = good, .o = bad}));
  }
}

}  // namespace
}  // namespace tbench::kernels::sm90_tf32
