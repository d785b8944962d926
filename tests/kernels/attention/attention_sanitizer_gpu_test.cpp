// Runs only the kernels, for compute-sanitizer. There is no reference, tensors fill their memory exactly, and only the
// kernels write to it. The sanitizer reports errors; the tests check only that every output is finite.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "attention/sm90/bwd/run.hpp"
#include "support/attention_run.hpp"
#include "support/kernel_grid.hpp"
#include "tbench/cuda/device.hpp"

namespace tbench::kernels {
namespace {

void expect_finite(const char* name, const DeviceTensor& tensor) {
  const std::vector<double> elements = tensor.read();
  const auto bad = std::find_if(elements.begin(), elements.end(), [](double x) { return !std::isfinite(x); });
  EXPECT_EQ(bad - elements.begin(), std::ssize(elements)) << name << ": the first element that is not finite";
}

void expect_finite(const BackwardResult& backward) {
  expect_finite("dq", backward.dq);
  expect_finite("dk", backward.dk);
  expect_finite("dv", backward.dv);
}

AttentionCase sanitized_case(const KernelOfGrid& kernel, const SequenceShape& shape, std::int64_t heads, Layout layout,
                             std::int64_t kv_heads = 0) {
  return {.problem = attention_problem({.batch = 1,
                                        .heads = heads,
                                        .seq_q = shape.seq_q,
                                        .seq_kv = shape.seq_kv,
                                        .head_dim = kernel.head_dim,
                                        .causal = shape.causal,
                                        .kv_heads = kv_heads},
                                       kernel.precision),
          .layout = layout,
          .grad_layout = layout,
          .guard = Guard::k3xTf32};
}

class AttentionSanitizer : public testing::TestWithParam<KernelOfGrid> {
 protected:
  void SetUp() override {
    if (cuda::device_count() == 0) GTEST_SKIP() << "no GPU on this machine";
  }

  static void run(const SequenceShape& shape, std::int64_t heads, Layout layout, std::int64_t kv_heads = 0) {
    const AttentionCase one = sanitized_case(GetParam(), shape, heads, layout, kv_heads);
    SCOPED_TRACE(describe(one));
    const AttentionRun run{one};
    const ForwardResult forward = run.forward(std::nullopt);
    expect_finite("o", forward.o);
    expect_finite("lse", forward.lse);
    for (const bool deterministic : {false, true}) {
      expect_finite(run.backward({.deterministic = deterministic, .garbage = std::nullopt, .forward = &forward}));
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, AttentionSanitizer, testing::ValuesIn(kernel_grid()), name_of_kernel);

TEST_P(AttentionSanitizer, ShortSequences) {
  for (const SequenceShape& shape : kShortShapes) run(shape, 2, Layout::kContiguous);
}

TEST_P(AttentionSanitizer, ElementsReadOneByOne) {
  for (const SequenceShape& shape :
       {SequenceShape{1, 1, true}, SequenceShape{65, 65, true}, SequenceShape{63, 129, false}})
    run(shape, 2, Layout::kUnaligned);
}

TEST_P(AttentionSanitizer, SequencesOfAThousand) {
  run({1000, 1000, true}, 1, Layout::kContiguous);
  run({127, 1000, false}, 1, Layout::kContiguous);
}

TEST_P(AttentionSanitizer, GridsThatFillHalfTheGpu) {
  run({300, 300, true}, 23, Layout::kContiguous);
  run({129, 300, false}, 23, Layout::kUnaligned);
  run({129, 520, false}, 23, Layout::kContiguous);
}

TEST_P(AttentionSanitizer, GridsThatFillTheGpu) {
  // There are more 64-query tiles than the 132 SMs of an H200, so sm90 forward kernels run if the GPU has them.
  run({300, 300, true}, 27, Layout::kContiguous);
  run({129, 300, false}, 45, Layout::kTransposed);
}

TEST_P(AttentionSanitizer, GroupedQueries) {
  run({65, 65, true}, 6, Layout::kContiguous, 2);
  run({300, 300, true}, 28, Layout::kTransposed, 4);
  run({129, 520, false}, 8, Layout::kPacked, 1);
}

TEST_P(AttentionSanitizer, FewQueriesAndManyKeys) {
  run({1100, 1100, true}, 1, Layout::kContiguous);
  run({65, 1100, false}, 2, Layout::kUnaligned);
}

TEST_P(AttentionSanitizer, LongSequences) { run({4097, 4097, true}, 1, Layout::kContiguous); }

/// Uses shapes for which the dispatch selects other kernels.
class HoppersTf32BackwardSanitizer : public testing::TestWithParam<KernelOfGrid> {
 protected:
  void SetUp() override {
    if (!sm90::runs_here()) GTEST_SKIP() << sm90::kWithoutSm90;
  }

  static void run(const SequenceShape& shape, std::int64_t heads, Layout layout) {
    const AttentionCase one = sanitized_case(GetParam(), shape, heads, layout);
    SCOPED_TRACE(describe(one));
    const AttentionRun run{one};
    const ForwardResult forward = run.forward(std::nullopt);
    BackwardOptions options = sm90::backward_tf32_sm90(one.problem);
    options.garbage = std::nullopt;
    options.forward = &forward;
    expect_finite(run.backward(options));
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, HoppersTf32BackwardSanitizer,
                         testing::Values(KernelOfGrid{Precision::kTf32, 64}, KernelOfGrid{Precision::kTf32, 128}),
                         name_of_kernel);

TEST_P(HoppersTf32BackwardSanitizer, ShortSequences) {
  for (const SequenceShape& shape : kShortShapes) run(shape, 2, Layout::kContiguous);
}

TEST_P(HoppersTf32BackwardSanitizer, ManySteps) {
  run({600, 600, true}, 3, Layout::kTransposed);
  run({129, 520, false}, 2, Layout::kContiguous);
  run({520, 129, false}, 2, Layout::kPacked);
}

}  // namespace
}  // namespace tbench::kernels
