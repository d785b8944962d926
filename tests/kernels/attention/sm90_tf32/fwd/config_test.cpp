#include "kernels/attention/sm90_tf32/fwd/config.hpp"

#include <gtest/gtest.h>

#include <utility>

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
  // Q 128 rows, K and V^T two tiles of 32 KiB each: 32 + 64 + 64 KiB at head_dim 64, 64 + 64 + 64 at 128; barriers and
  // alignment take 1,280 bytes.
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

TEST(Tf32ForwardWorkspace, IsOfTheChoice) {
  EXPECT_EQ(forward_workspace_bytes(problem(127, 64, 12), kH200), 0u);
  const AttentionProblem one = problem(1024, 64, 12);
  ASSERT_TRUE(choose_forward(one, kH200));
  EXPECT_EQ(forward_workspace_bytes(one, kH200), forward_workspace(one.shape, *choose_forward(one, kH200)).bytes());
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

TEST(ChooseTf32Forward, TakesWhatHasAnInstanceOnHopper) {
  for (const std::int64_t head_dim : {16, 32, 64, 80, 96, 128}) {
    EXPECT_EQ(choose_forward(problem(1024, head_dim, 12), kH200).has_value(), head_dim == 64 || head_dim == 128)
        << head_dim;
  }
  for (const Precision precision : kAllOf<Precision>) {
    AttentionProblem one = problem(1024, 128, 12);
    one.precision = precision;
    EXPECT_EQ(choose_forward(one, kH200).has_value(), precision == Precision::kTf32);
  }
  for (const auto& [major, minor] : {std::pair{8, 0}, {9, 1}, {10, 0}, {12, 0}}) {
    DeviceLimits other = kH200;
    other.compute_capability_major = major;
    other.compute_capability_minor = minor;
    EXPECT_FALSE(choose_forward(problem(1024, 64, 12), other)) << major << "." << minor;
  }
}

TEST(ChooseTf32Forward, LeavesShortSequencesAndFewTilesToAmperesKernels) {
  AttentionProblem one = problem(128, 64, 100, false);
  EXPECT_TRUE(choose_forward(one, kH200));
  one.shape.seq_q = 127;
  EXPECT_FALSE(choose_forward(one, kH200));
  one.shape.seq_q = 128;
  one.shape.seq_kv = 127;
  EXPECT_FALSE(choose_forward(one, kH200));
  // 4 * 6 * 2 = 48 tiles of 64 queries, less than 2 / 5 of 132; 4 * 7 * 2 = 56
  EXPECT_FALSE(choose_forward(problem(128, 64, 6), kH200));
  EXPECT_TRUE(choose_forward(problem(128, 64, 7), kH200));
  // 4 * 3 * 2 = 24 tiles, less than 1 / 5 of 132; 4 * 4 * 2 = 32
  EXPECT_FALSE(choose_forward(problem(128, 128, 3), kH200));
  EXPECT_TRUE(choose_forward(problem(128, 128, 4), kH200));
  for (const std::int64_t head_dim : kHeadDims) {
    one = problem(128, head_dim, 1, false);  // 8 tiles
    one.shape.seq_kv = 1023;
    EXPECT_FALSE(choose_forward(one, kH200));
    one.shape.seq_kv = 1024;
    EXPECT_TRUE(choose_forward(one, kH200));
  }
}

TEST(ChooseTf32Forward, TakesWhatWasMeasuredToBeFaster) {
  // H100, causal, us: the sm80 kernels, and these kernels
  struct Measured {
    std::int64_t batch, heads, head_dim, seq;
    double amperes, these;
  };
  for (const Measured& one : {Measured{1, 1, 64, 1024, 16.1, 15.7},
                              {1, 1, 128, 1024, 27.0, 22.6},
                              {1, 16, 64, 128, 5.9, 6.3},
                              {1, 16, 64, 256, 8.3, 8.0},
                              {1, 16, 128, 128, 8.3, 6.9},
                              {4, 12, 64, 128, 8.2, 6.8},
                              {4, 25, 64, 128, 9.5, 9.3},
                              {8, 1, 64, 256, 7.6, 7.9},
                              {8, 1, 64, 512, 11.9, 10.6},
                              {8, 1, 128, 256, 11.7, 9.2}}) {
    AttentionProblem measured = problem(one.seq, one.head_dim, one.heads);
    measured.shape.batch = one.batch;
    EXPECT_EQ(choose_forward(measured, kH200).has_value(), one.these < one.amperes)
        << one.batch << " x " << one.heads << " x " << one.head_dim << ", " << one.seq << " tokens";
  }
}

TEST(ChooseTf32Forward, ACounterForUnequalItemsOfMoreThanOneRound) {
  // 4 * 4 * 8 = 128 work tiles with 1,024 queries per head, 4 * 5 * 8 = 160
  EXPECT_FALSE(choose_forward(problem(1024, 128, 4), kH200)->counted);
  EXPECT_TRUE(choose_forward(problem(1024, 128, 5), kH200)->counted);
  EXPECT_FALSE(choose_forward(problem(1024, 128, 5, false), kH200)->counted);
  EXPECT_TRUE(choose_forward(problem(4096, 128, 5), kH200)->in_turns);
  EXPECT_FALSE(choose_forward(problem(4097, 128, 5), kH200)->in_turns);
  EXPECT_FALSE(choose_forward(problem(4096, 128, 5, false), kH200)->in_turns);
}

TEST(TakesTf32Views, WantsMultiplesOf16Bytes) {
  const AttentionProblem one = problem(300, 64, 3);
  const auto view = [](std::uintptr_t address, std::int64_t row) {
    return TensorView{reinterpret_cast<void*>(address), {3 * 300 * row, 300 * row, row}};
  };
  const TensorView good = view(4096, 64);
  EXPECT_TRUE(supports_layout(one, {.q = good, .k = good, .v = good, .o = good}));
  EXPECT_TRUE(supports_layout(one, {.q = good, .k = view(4112, 68), .v = good, .o = good}));  // rows of 272 bytes
  for (const TensorView& bad : {view(4100, 64), view(4096, 66), view(4096, 0)}) {
    EXPECT_FALSE(supports_layout(one, {.q = bad, .k = good, .v = good, .o = good}));
    EXPECT_FALSE(supports_layout(one, {.q = good, .k = bad, .v = good, .o = good}));
    EXPECT_FALSE(supports_layout(one, {.q = good, .k = good, .v = bad, .o = good}));
    EXPECT_FALSE(supports_layout(one, {.q = good, .k = good, .v = good, .o = bad}));
  }
}

}  // namespace
}  // namespace tbench::kernels::sm90_tf32
