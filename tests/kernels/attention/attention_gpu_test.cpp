// Compares the attention kernels with float64: every precision and head_dim, odd, tiny and large shapes, layouts, and
// extreme inputs. Kernels may not write elsewhere, and their results must have the same bits in every run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "support/attention_run.hpp"
#include "support/kernel_grid.hpp"
#include "tbench/cuda/device.hpp"

namespace tbench::kernels {
namespace {

/// Tests one precision and head_dim.
class AttentionOnGpu : public testing::TestWithParam<KernelOfGrid> {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  }

  void TearDown() override {
    if (checks_ == 0) return;
    fmt::print(
        "[          ] {} of {} outputs wrong; largest error {:.2f} of what an element may have, {:.2f} in root mean "
        "square\n",
        failures_, checks_, worst_, root_mean_square_);
  }

  [[nodiscard]] static AttentionCase make_case(const SequenceShape& shape, std::int64_t batch = 2,
                                               std::int64_t heads = 3) {
    return {.problem = attention_problem({.batch = batch,
                                          .heads = heads,
                                          .seq_q = shape.seq_q,
                                          .seq_kv = shape.seq_kv,
                                          .head_dim = GetParam().head_dim,
                                          .causal = shape.causal},
                                         GetParam().precision)};
  }

  void expect_right(const std::vector<Comparison>& comparisons) {
    for (const Comparison& one : comparisons) {
      EXPECT_EQ(one.failure, "");
      ++checks_;
      failures_ += one.failure.empty() ? 0 : 1;
      worst_ = std::max(worst_, one.worst);
      root_mean_square_ = std::max(root_mean_square_, one.root_mean_square);
    }
  }

  /// Checks the forward pass, and the backward pass with and without `deterministic`.
  void expect_right(const AttentionCase& one) {
    SCOPED_TRACE(describe(one));
    const AttentionRun run{one};
    expect_right(run.check(run.forward()));
    for (const bool deterministic : {false, true}) {
      SCOPED_TRACE(deterministic ? "deterministic" : "not deterministic");
      expect_right(run.check(run.backward({.deterministic = deterministic})));
    }
  }

 private:
  int checks_{};
  int failures_{};
  double worst_{};
  double root_mean_square_{};
};

INSTANTIATE_TEST_SUITE_P(Kernels, AttentionOnGpu, testing::ValuesIn(kernel_grid()), name_of_kernel);

TEST_P(AttentionOnGpu, ShortSequences) {
  for (const SequenceShape& shape : kShortShapes) expect_right(make_case(shape));
}

TEST_P(AttentionOnGpu, SequencesOfAThousand) {
  for (const SequenceShape& shape : kMediumShapes) expect_right(make_case(shape, 3, 5));
}

TEST_P(AttentionOnGpu, LongSequences) {
  for (const SequenceShape& shape : kLongShapes) expect_right(make_case(shape, 1, 3));
}

TEST_P(AttentionOnGpu, ManyHeadsAndBatches) {
  expect_right(make_case({65, 65, true}, 3, 70));
  expect_right(make_case({63, 65, false}, 70, 3));
}

TEST_P(AttentionOnGpu, GridsThatFillTheGpu) {
  // The kernels for small grids leave these shapes, in the order of their size, to larger tiles.
  expect_right(make_case({300, 300, true}, 2, 28));
  expect_right(make_case({300, 300, false}, 2, 14));
  expect_right(make_case({1000, 1000, false}, 2, 6));
  expect_right(make_case({1000, 1000, true}, 3, 12));
}

TEST_P(AttentionOnGpu, SmallGrids) {
  expect_right(make_case({1000, 1000, true}, 1, 1));
  expect_right(make_case({1000, 900, false}, 1, 1));
  expect_right(make_case({1000, 1000, true}, 1, 6));
  expect_right(make_case({900, 1000, false}, 1, 6));
  expect_right(make_case({4097, 4097, false}, 1, 1));
  expect_right(make_case({300, 300, true}, 1, 23));
}

TEST_P(AttentionOnGpu, FewQueriesAndManyKeys) {
  expect_right(make_case({1100, 1100, true}, 1, 1));
  expect_right(make_case({1, 1100, false}, 1, 2));
  expect_right(make_case({130, 2050, false}, 2, 2));
}

TEST_P(AttentionOnGpu, Layouts) {
  for (const Layout layout : {Layout::kTransposed, Layout::kPacked, Layout::kUnaligned}) {
    for (AttentionCase one : {make_case({130, 130, true}), make_case({67, 200, false}),
                              make_case({67, 300, false}, 2, 23), make_case({67, 1100, false}, 2, 2)}) {
      one.layout = layout;
      one.grad_layout = layout;
      expect_right(one);
    }
  }
}

TEST_P(AttentionOnGpu, ExpandedGradients) {
  for (const Layout layout : {Layout::kOneRow, Layout::kOneBatch, Layout::kUnaligned}) {
    AttentionCase one = make_case({130, 130, true});
    one.grad_layout = layout;
    expect_right(one);
  }
}

TEST_P(AttentionOnGpu, ScoresOfTenThousand) {
  for (const SequenceShape& shape : kExtremeShapes) {
    AttentionCase one = make_case(shape);
    one.data = Data::kLarge;
    expect_right(one);
  }
}

TEST_P(AttentionOnGpu, EqualInputs) {
  for (const SequenceShape& shape : kExtremeShapes) {
    AttentionCase one = make_case(shape);
    one.data = Data::kEqual;
    expect_right(one);
  }
}

TEST_P(AttentionOnGpu, SameBitsEveryTime) {
  for (const SequenceShape& shape :
       {SequenceShape{300, 300, true}, SequenceShape{1000, 1000, false}, SequenceShape{100, 1100, false}}) {
    SCOPED_TRACE(describe(make_case(shape)));
    const AttentionRun run{make_case(shape)};
    const ForwardResult forward = run.forward();
    const BackwardResult backward = run.backward({.deterministic = true});
    for (const std::byte garbage : {std::byte{0x00}, std::byte{0x5a}}) {
      const ForwardResult forward_again = run.forward(garbage);
      EXPECT_TRUE(forward.o.bytes() == forward_again.o.bytes()) << "o";
      EXPECT_TRUE(forward.lse.bytes() == forward_again.lse.bytes()) << "lse";
      const BackwardResult again = run.backward({.deterministic = true, .garbage = garbage});
      EXPECT_TRUE(backward.dq.bytes() == again.dq.bytes()) << "dq";
      EXPECT_TRUE(backward.dk.bytes() == again.dk.bytes()) << "dk";
      EXPECT_TRUE(backward.dv.bytes() == again.dv.bytes()) << "dv";
    }
  }
}

TEST(AttentionLaunchOnGpu, RefusesWhatIsUnsupported) {
  if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  const AttentionProblem problem = attention_problem(
      {.batch = 1, .heads = 1, .seq_q = 8, .seq_kv = 8, .head_dim = 72, .causal = true}, Precision::kBf16);
  EXPECT_THROW(static_cast<void>(plan_attention_forward(problem, current_device_limits())), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(plan_attention_backward(problem, current_device_limits())), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::kernels
