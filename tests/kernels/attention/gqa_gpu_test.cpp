// Compares grouped-query attention with float64: every precision and head_dim, groups of 2 to 32 heads, odd lengths,
// layouts, and gradients that are the same in every run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/attention_run.hpp"
#include "support/kernel_grid.hpp"
#include "tbench/cuda/device.hpp"

namespace tbench::kernels {
namespace {

struct Heads {
  std::int64_t batch{}, heads{}, kv_heads{};
};

class GqaOnGpu : public testing::TestWithParam<KernelOfGrid> {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  }

  [[nodiscard]] static AttentionCase make_case(const SequenceShape& shape, const Heads& heads) {
    return {.problem = attention_problem({.batch = heads.batch,
                                          .heads = heads.heads,
                                          .seq_q = shape.seq_q,
                                          .seq_kv = shape.seq_kv,
                                          .head_dim = GetParam().head_dim,
                                          .causal = shape.causal,
                                          .kv_heads = heads.kv_heads},
                                         GetParam().precision)};
  }

  /// Checks the forward pass, and the backward pass with and without `deterministic`.
  static void expect_right(const AttentionCase& one) {
    SCOPED_TRACE(describe(one));
    const AttentionRun run{one};
    for (const Comparison& output : run.check(run.forward())) EXPECT_EQ(output.failure, "");
    for (const bool deterministic : {false, true}) {
      SCOPED_TRACE(deterministic ? "deterministic" : "not deterministic");
      for (const Comparison& output : run.check(run.backward({.deterministic = deterministic}))) {
        EXPECT_EQ(output.failure, "");
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, GqaOnGpu, testing::ValuesIn(kernel_grid()), name_of_kernel);

TEST_P(GqaOnGpu, ShortSequences) {
  for (const SequenceShape& shape : {SequenceShape{1, 1, true},
                                     {2, 3, false},
                                     {64, 64, true},
                                     {65, 65, true},
                                     {129, 129, true},
                                     {127, 200, false},
                                     {300, 65, false}}) {
    expect_right(make_case(shape, {2, 6, 2}));
  }
}

TEST_P(GqaOnGpu, GroupsOfEverySize) {
  for (const Heads& heads : {Heads{1, 32, 8}, {2, 24, 8}, {1, 16, 8}, {1, 32, 1}, {3, 10, 2}}) {
    expect_right(make_case({513, 513, true}, heads));
    expect_right(make_case({385, 385, false}, heads));
  }
}

TEST_P(GqaOnGpu, LongSequences) {
  expect_right(make_case({2049, 2049, true}, {1, 8, 2}));
  expect_right(make_case({1900, 2100, false}, {1, 4, 1}));
}

TEST_P(GqaOnGpu, MoreWorkTilesThanMultiprocessors) {
  expect_right(make_case({520, 520, true}, {5, 32, 8}));
  expect_right(make_case({640, 640, false}, {4, 40, 20}));
}

TEST_P(GqaOnGpu, Layouts) {
  for (const Layout layout : {Layout::kTransposed, Layout::kPacked, Layout::kUnaligned}) {
    for (AttentionCase one : {make_case({130, 130, true}, {2, 6, 2}), make_case({67, 300, false}, {3, 8, 2})}) {
      one.layout = layout;
      one.grad_layout = layout;
      expect_right(one);
    }
  }
}

TEST_P(GqaOnGpu, ExpandedGradients) {
  for (const Layout layout : {Layout::kOneRow, Layout::kOneBatch}) {
    AttentionCase one = make_case({130, 130, true}, {2, 6, 2});
    one.grad_layout = layout;
    expect_right(one);
  }
}

TEST_P(GqaOnGpu, ScoresOfTenThousand) {
  AttentionCase one = make_case({257, 257, true}, {2, 6, 3});
  one.data = Data::kLarge;
  expect_right(one);
}

TEST_P(GqaOnGpu, SameBitsEveryTime) {
  const AttentionRun run{make_case({300, 300, true}, {2, 12, 3})};
  const ForwardResult forward = run.forward();
  const BackwardResult backward = run.backward({.deterministic = true});
  for (const std::byte garbage : {std::byte{0x00}, std::byte{0x5a}}) {
    EXPECT_TRUE(forward.o.bytes() == run.forward(garbage).o.bytes()) << "o";
    const BackwardResult again = run.backward({.deterministic = true, .garbage = garbage});
    EXPECT_TRUE(backward.dq.bytes() == again.dq.bytes()) << "dq";
    EXPECT_TRUE(backward.dk.bytes() == again.dk.bytes()) << "dk";
    EXPECT_TRUE(backward.dv.bytes() == again.dv.bytes()) << "dv";
  }
}

}  // namespace
}  // namespace tbench::kernels
