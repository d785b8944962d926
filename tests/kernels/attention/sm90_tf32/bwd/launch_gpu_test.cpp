// Compares the sm90 TF32 backward kernels with float64 at every shape, whether or not the dispatch would select them,
// on odd lengths, layouts and extreme inputs. All gradients have the same bits in every run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "attention/sm90/bwd/run.hpp"
#include "support/kernel_grid.hpp"
#include "support/selections.hpp"

namespace tbench::kernels::sm90_tf32 {
namespace {

std::string name_of_head_dim(const testing::TestParamInfo<std::int64_t>& info) {
  return fmt::format("d{}", info.param);
}

void expect_same_bits(const BackwardResult& one, const BackwardResult& other) {
  EXPECT_TRUE(one.dq.bytes() == other.dq.bytes()) << "dq";
  EXPECT_TRUE(one.dk.bytes() == other.dk.bytes()) << "dk";
  EXPECT_TRUE(one.dv.bytes() == other.dv.bytes()) << "dv";
}

class BackwardTf32Sm90OnGpu : public testing::TestWithParam<std::int64_t> {
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
                                          .head_dim = GetParam(),
                                          .causal = shape.causal},
                                         Precision::kTf32)};
  }

  void expect_right(const AttentionCase& one, const BackwardOptions& options) {
    SCOPED_TRACE(describe(one));
    const AttentionRun run{one};
    for (const Comparison& output : run.check(run.backward(options))) {
      EXPECT_EQ(output.failure, "");
      worst_ = std::max(worst_, output.worst);
      root_mean_square_ = std::max(root_mean_square_, output.root_mean_square);
    }
  }
  void expect_right(const AttentionCase& one) { expect_right(one, backward_tf32_sm90(one.problem)); }

 private:
  double worst_{};
  double root_mean_square_{};
};

INSTANTIATE_TEST_SUITE_P(Kernels, BackwardTf32Sm90OnGpu, testing::ValuesIn(kHeadDims), name_of_head_dim);

TEST_P(BackwardTf32Sm90OnGpu, BothSidesOfEveryTile) {
  for (const std::int64_t seq :
       {1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 192, 193, 384, 1000, 1023, 1024, 1025}) {
    for (const bool causal : {true, false}) expect_right(make_case({seq, seq, causal}));
  }
}

TEST_P(BackwardTf32Sm90OnGpu, QueriesAndKeysOfDifferentNumber) {
  for (const auto& [seq_q, seq_kv] :
       {std::pair{1, 1025}, {1025, 1}, {65, 300}, {300, 65}, {129, 1}, {193, 257}, {1000, 63}, {1000, 385}}) {
    expect_right(make_case({seq_q, seq_kv, false}));
  }
}

TEST_P(BackwardTf32Sm90OnGpu, MoreItemsThanMultiprocessors) {
  expect_right(make_case({513, 513, true}, 3, 30));
  expect_right(make_case({129, 200, false}, 35, 3));
  // The streamed tensors exceed 32 MiB, so the last group of heads is smaller than the others.
  expect_right(make_case({4097, 4097, true}, 1, 11));
}

TEST_P(BackwardTf32Sm90OnGpu, Layouts) {
  for (const Layout layout : {Layout::kTransposed, Layout::kPacked}) {
    for (AttentionCase one : {make_case({130, 130, true}), make_case({67, 300, false})}) {
      one.layout = one.grad_layout = layout;
      expect_right(one);
    }
  }
}

TEST_P(BackwardTf32Sm90OnGpu, AnyLayoutOfO) {
  const AttentionCase one = make_case({193, 193, true});
  BackwardOptions options = backward_tf32_sm90(one.problem);
  options.launch->enqueue = [](const AttentionProblem& problem, const AttentionBackward& arguments,
                               cudaStream_t stream) {
    // o is contiguous; the copy's rows are one element longer and start at an odd one.
    const auto width = static_cast<std::size_t>(problem.shape.head_dim) * sizeof(float);
    const auto rows = static_cast<std::size_t>(problem.shape.batch * problem.shape.heads * problem.shape.seq_q);
    const DeviceBytes copy{rows * (width + sizeof(float)) + sizeof(float)};
    float* const first = reinterpret_cast<float*>(copy.data()) + 1;
    TBENCH_CUDA_CHECK(
        cudaMemcpy2D(first, width + sizeof(float), arguments.o.data, width, width, rows, cudaMemcpyDeviceToDevice));
    AttentionBackward other = arguments;
    const std::int64_t row = problem.shape.head_dim + 1, head = problem.shape.seq_q * row;
    other.o = {first, {problem.shape.heads * head, head, row}};
    AttentionProblem with_layout = problem;
    with_layout.layout = layout_of(other);
    EXPECT_TRUE(backward_supports_layout(with_layout));
    launch_backward(problem, other, sm90::planned_tf32(problem), stream);
    TBENCH_CUDA_CHECK(cudaStreamSynchronize(stream));
  };
  expect_right(one, options);
}

TEST_P(BackwardTf32Sm90OnGpu, ScoresOfTenThousand) {
  // In the shape with one key, lse is that key's score. Half of these scores are negative, down to about -10,000. A key
  // beyond the end has the score 0. Unless it is masked, its probability exp(0 - lse) is infinite.
  for (const SequenceShape& shape :
       {SequenceShape{257, 257, true}, {65, 1100, false}, {65, 500, false}, {300, 1, false}}) {
    AttentionCase one = make_case(shape);
    one.data = Data::kLarge;
    expect_right(one);
  }
}

TEST_P(BackwardTf32Sm90OnGpu, EqualInputs) {
  for (const SequenceShape& shape : kExtremeShapes) {
    AttentionCase one = make_case(shape);
    one.data = Data::kEqual;
    expect_right(one);
  }
}

TEST_P(BackwardTf32Sm90OnGpu, SameBitsFiftyTimes) {
  const AttentionCase one = make_case({1025, 1025, true}, 2, 9);
  const AttentionRun run{one};
  BackwardOptions options = backward_tf32_sm90(one.problem);
  const BackwardResult first = run.backward(options);
  for (int i = 0; i < 50; ++i) {
    SCOPED_TRACE(fmt::format("repeat {}", i));
    options.garbage = i % 2 == 0 ? std::byte{0x00} : std::byte{0x5a};
    expect_same_bits(first, run.backward(options));
    if (HasFailure()) return;
  }
  for (const Comparison& output : run.check(first)) EXPECT_EQ(output.failure, "");
}

TEST_P(BackwardTf32Sm90OnGpu, ReplaysInAGraph) {
  const AttentionCase one = make_case({513, 513, true}, 2, 20);
  const AttentionRun run{one};
  BackwardOptions options = backward_tf32_sm90(one.problem);
  const BackwardResult expected = run.backward(options);
  const std::size_t workspace_bytes = options.launch->workspace_bytes;
  options.launch->enqueue = [=](const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t) {
    const AttentionShape& shape = problem.shape;
    const auto queries = static_cast<std::size_t>(shape.batch * shape.heads * shape.seq_q * shape.head_dim);
    cudaStream_t stream{};
    TBENCH_CUDA_CHECK(cudaStreamCreate(&stream));
    cudaGraph_t graph{};
    TBENCH_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch_backward(problem, arguments, sm90::planned_tf32(problem), stream);
    TBENCH_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable{};
    TBENCH_CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 3; ++i) {
      // The numbers of queries and keys are equal, and gradients are contiguous.
      for (const TensorView& gradient : {arguments.dq, arguments.dk, arguments.dv}) {
        TBENCH_CUDA_CHECK(cudaMemsetAsync(gradient.data, 0xff, queries * sizeof(float), stream));
      }
      TBENCH_CUDA_CHECK(cudaMemsetAsync(arguments.workspace, 0xff, workspace_bytes, stream));
      TBENCH_CUDA_CHECK(cudaGraphLaunch(executable, stream));
    }
    TBENCH_CUDA_CHECK(cudaStreamSynchronize(stream));
    TBENCH_CUDA_CHECK(cudaGraphExecDestroy(executable));
    TBENCH_CUDA_CHECK(cudaGraphDestroy(graph));
    TBENCH_CUDA_CHECK(cudaStreamDestroy(stream));
  };
  expect_same_bits(expected, run.backward(options));
}

TEST_P(BackwardTf32Sm90OnGpu, OneLaunchAfterAnotherInOneWorkspace) {
  // The kernels start before the previous ones have ended. Each pass writes the workspace again.
  const AttentionCase one = make_case({385, 385, true}, 3, 20);
  const AttentionRun run{one};
  BackwardOptions options = backward_tf32_sm90(one.problem);
  const BackwardResult expected = run.backward(options);
  options.launch->enqueue = [](const AttentionProblem& problem, const AttentionBackward& arguments,
                               cudaStream_t stream) {
    // The other pass has other inputs, which leave other data in the workspace.
    AttentionBackward other = arguments;
    std::swap(other.q, other.grad_o);
    std::swap(other.k, other.v);
    for (int i = 0; i < 8; ++i) {
      launch_backward(problem, other, sm90::planned_tf32(problem), stream);
      launch_backward(problem, arguments, sm90::planned_tf32(problem), stream);
    }
  };
  expect_same_bits(expected, run.backward(options));
}

TEST_P(BackwardTf32Sm90OnGpu, IsWhatThePublicFunctionRuns) {
  const AttentionCase one = make_case({4096, 4096, true}, 1, 2);
  ASSERT_TRUE(takes_backward(one.problem, current_device_limits()));
  const AttentionRun run{one};
  const BackwardResult own = run.backward(backward_tf32_sm90(one.problem));
  for (const bool deterministic : {false, true}) {
    SCOPED_TRACE(deterministic);
    BackwardOptions public_function;
    public_function.deterministic = deterministic;
    expect_same_bits(own, run.backward(public_function));
  }
  for (const Comparison& output : run.check(own)) EXPECT_EQ(output.failure, "");
}

TEST_P(BackwardTf32Sm90OnGpu, LeavesWhatItDoesNotTakeToAmperesKernels) {
  AttentionCase one = make_case({4096, 4096, true}, 1, 2);
  one.layout = Layout::kUnaligned;
  expect_right(one, {});
  one.layout = Layout::kContiguous;
  one.grad_layout = Layout::kOneRow;
  expect_right(one, {});
}

}  // namespace
}  // namespace tbench::kernels::sm90_tf32
