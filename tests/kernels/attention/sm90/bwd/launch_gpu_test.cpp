// Compares the sm90 backward kernels with float64, every instance at every shape, on odd lengths, layouts and extreme
// inputs. dK and dV have the same bits in every run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attention/sm90/bwd/run.hpp"
#include "support/kernel_grid.hpp"
#include "support/selections.hpp"

namespace tbench::kernels::sm90 {
namespace {

struct BackwardKernel {
  Precision precision{};
  BackwardInstance instance;
};

std::vector<BackwardKernel> backward_kernels() {
  std::vector<BackwardKernel> kernels;
  for (const Precision precision : {Precision::kBf16, Precision::kFp16}) {
    for (const BackwardInstance& instance : kBackwardInstances) kernels.push_back({precision, instance});
  }
  return kernels;
}

std::string name_of_kernel(const testing::TestParamInfo<BackwardKernel>& info) {
  return fmt::format("{}_{}", to_string(info.param.precision), name_of(info.param.instance));
}

class BackwardSm90OnGpu : public testing::TestWithParam<BackwardKernel> {
 protected:
  void SetUp() override {
    if (!runs_here()) GTEST_SKIP() << kWithoutSm90;
  }

  void TearDown() override {
    if (worst_ == 0) return;
    fmt::print("[          ] largest error {:.2f} of what an element may have, {:.2f} in root mean square\n", worst_,
               root_mean_square_);
  }

  [[nodiscard]] static AttentionCase make_case(const SequenceShape& shape, std::int64_t batch = 2,
                                               std::int64_t heads = 3) {
    return {.problem = attention_problem({.batch = batch,
                                          .heads = heads,
                                          .seq_q = shape.seq_q,
                                          .seq_kv = shape.seq_kv,
                                          .head_dim = GetParam().instance.head_dim,
                                          .causal = shape.causal},
                                         GetParam().precision)};
  }

  [[nodiscard]] static BackwardOptions options(const AttentionCase& one,
                                               Dealing dealing = Dealing::kAmongMultiprocessors) {
    return backward_sm90(one.problem, GetParam().instance, dealing);
  }

  void expect_right(const AttentionCase& one, Dealing dealing = Dealing::kAmongMultiprocessors) {
    SCOPED_TRACE(describe(one));
    if (!takes(GetParam().instance, one.problem.shape)) return;
    const AttentionRun run{one};
    for (const Comparison& output : run.check(run.backward(options(one, dealing)))) {
      EXPECT_EQ(output.failure, "");
      worst_ = std::max(worst_, output.worst);
      root_mean_square_ = std::max(root_mean_square_, output.root_mean_square);
    }
  }

 private:
  double worst_{};
  double root_mean_square_{};
};

INSTANTIATE_TEST_SUITE_P(Kernels, BackwardSm90OnGpu, testing::ValuesIn(backward_kernels()), name_of_kernel);

TEST_P(BackwardSm90OnGpu, BothSidesOfEveryTile) {
  for (const std::int64_t seq : {1, 63, 64, 65, 127, 128, 129, 191, 192, 193, 384, 512, 1000, 1023, 1024, 1025}) {
    for (const bool causal : {true, false}) expect_right(make_case({seq, seq, causal}));
  }
}

TEST_P(BackwardSm90OnGpu, QueriesAndKeysOfDifferentNumber) {
  for (const auto& [seq_q, seq_kv] :
       {std::pair{1, 1025}, {65, 300}, {300, 65}, {129, 1}, {193, 257}, {1000, 63}, {1000, 385}}) {
    expect_right(make_case({seq_q, seq_kv, false}));
  }
}

TEST_P(BackwardSm90OnGpu, MoreItemsThanMultiprocessors) {
  for (const Dealing dealing : {Dealing::kAmongMultiprocessors, Dealing::kBlockEach}) {
    if (dealing == Dealing::kBlockEach && GetParam().instance.choice.blocks == BwdSchedule::kOneTilePerCta) continue;
    expect_right(make_case({513, 513, true}, 3, 30), dealing);
    expect_right(make_case({129, 200, false}, 35, 3), dealing);
    expect_right(make_case({500, 500, true}, 3, 40), dealing);
    expect_right(make_case({4097, 4097, true}, 1, 5), dealing);
    // 640 work tiles have one step each (two at head_dim 128), so warpgroups continue the ping-pong order from tile to
    // tile.
    expect_right(make_case({100, 1000, false}, 2, 40), dealing);
  }
}

TEST_P(BackwardSm90OnGpu, SameKeysAndValuesHoweverItemsAreDealt) {
  if (GetParam().instance.choice.blocks == BwdSchedule::kOneTilePerCta) GTEST_SKIP() << "nothing is dealt";
  const AttentionCase one = make_case({512, 512, true}, 4, 25);
  const AttentionRun run{one};
  const BackwardResult dealt = run.backward(options(one, Dealing::kAmongMultiprocessors));
  const BackwardResult each = run.backward(options(one, Dealing::kBlockEach));
  EXPECT_TRUE(dealt.dk.bytes() == each.dk.bytes());
  EXPECT_TRUE(dealt.dv.bytes() == each.dv.bytes());
  EXPECT_TRUE(!is_deterministic(GetParam().instance) || dealt.dq.bytes() == each.dq.bytes());
}

TEST_P(BackwardSm90OnGpu, Layouts) {
  for (const Layout layout : {Layout::kTransposed, Layout::kPacked}) {
    for (AttentionCase one : {make_case({130, 130, true}), make_case({67, 300, false})}) {
      one.layout = one.grad_layout = layout;
      expect_right(one);
    }
  }
}

TEST_P(BackwardSm90OnGpu, ScoresOfTenThousand) {
  // In the shape with one key, lse is that key's score. Half of these scores are negative, down to about -10,000. A key
  // beyond the end has the score 0. Unless it is masked, its probability exp(0 - lse) is infinite.
  for (const SequenceShape& shape :
       {SequenceShape{257, 257, true}, {65, 1100, false}, {65, 500, false}, {300, 1, false}}) {
    AttentionCase one = make_case(shape);
    one.data = Data::kLarge;
    expect_right(one);
  }
}

TEST_P(BackwardSm90OnGpu, EqualInputs) {
  for (const SequenceShape& shape : kExtremeShapes) {
    AttentionCase one = make_case(shape);
    one.data = Data::kEqual;
    expect_right(one);
  }
}

TEST_P(BackwardSm90OnGpu, SameKeysAndValuesFiftyTimes) {
  const bool same_dq = is_deterministic(GetParam().instance);
  const AttentionCase one = same_dq ? make_case({511, 511, true}, 4, 30) : make_case({1025, 1025, true}, 2, 9);
  const AttentionRun run{one};
  const BackwardResult first = run.backward(options(one));
  for (int i = 0; i < 50; ++i) {
    BackwardOptions other = options(one);
    other.garbage = i % 2 == 0 ? std::byte{0x00} : std::byte{0x5a};
    const BackwardResult again = run.backward(other);
    ASSERT_TRUE(first.dk.bytes() == again.dk.bytes()) << "dk, repeat " << i;
    ASSERT_TRUE(first.dv.bytes() == again.dv.bytes()) << "dv, repeat " << i;
    ASSERT_TRUE(!same_dq || first.dq.bytes() == again.dq.bytes()) << "dq, repeat " << i;
    if (i % 10 != 0) continue;  // with atomic dQ the sums have another order in every run
    EXPECT_EQ(run.check(again).front().failure, "") << "repeat " << i;
  }
}

TEST_P(BackwardSm90OnGpu, IsWhatThePublicFunctionRuns) {
  const auto& [precision, instance] = GetParam();
  const AttentionCase one{.problem = chosen_problem(instance, precision)};
  ASSERT_EQ(choose_backward(one.problem, current_device_limits()), instance.choice);
  const AttentionRun run{one};
  BackwardOptions public_function;
  public_function.deterministic = one.problem.deterministic;
  const BackwardResult own = run.backward(options(one)), result = run.backward(public_function);
  EXPECT_TRUE(!is_deterministic(instance) || own.dq.bytes() == result.dq.bytes());
  EXPECT_TRUE(own.dk.bytes() == result.dk.bytes());
  EXPECT_TRUE(own.dv.bytes() == result.dv.bytes());
  for (const Comparison& output : run.check(result)) EXPECT_EQ(output.failure, "");
}

TEST_P(BackwardSm90OnGpu, LeavesWhatItDoesNotTakeToAmperesKernels) {
  AttentionCase one = make_case({1025, 1025, true});
  one.layout = Layout::kUnaligned;
  const AttentionRun unaligned{one};
  for (const Comparison& output : unaligned.check(unaligned.backward())) EXPECT_EQ(output.failure, "");
  one.layout = Layout::kContiguous;
  one.grad_layout = Layout::kOneRow;
  const AttentionRun one_row{one};
  for (const Comparison& output : one_row.check(one_row.backward())) EXPECT_EQ(output.failure, "");
}

}  // namespace
}  // namespace tbench::kernels::sm90
