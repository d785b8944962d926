// Compares the sm90 forward kernels, including the TF32 ones, with float64: every instance at every shape, whether or
// not the dispatch would select it, on odd lengths, layouts and extreme inputs. Results have the same bits in every
// run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "support/attention_reference.hpp"
#include "support/attention_run.hpp"
#include "support/compare_outputs.hpp"
#include "support/device_tensor.hpp"
#include "support/selections.hpp"
#include "support/sm90_here.hpp"
#include "tbench/cuda/flush_and_spin.hpp"

namespace tbench::kernels::sm90 {
namespace {

struct Instance {
  Precision precision{};
  std::int64_t head_dim{};
  FwdConfigId tiles{};  // for 16 bits
};

std::string name_of_instance(const testing::TestParamInfo<Instance>& info) {
  // Indexed by FwdConfigId.
  constexpr std::array kNames{"narrow", "wide", "wide80", "wide128", "tall", "deep", "short", "pair"};
  return fmt::format("{}_d{}_{}", to_string(info.param.precision), info.param.head_dim,
                     kNames.at(static_cast<std::size_t>(info.param.tiles)));
}

/// Instances for 16 bits.
std::vector<Instance> instances() {
  constexpr FwdConfigId kNarrow = FwdConfigId::kM128N128;
  std::vector<Instance> all;
  for (const Precision precision : {Precision::kBf16, Precision::kFp16}) {
    for (const auto& [head_dim, tiles] : {std::pair{32, kNarrow},
                                          {32, FwdConfigId::kM256N64},
                                          {64, kNarrow},
                                          {64, FwdConfigId::kM192N128},
                                          {64, FwdConfigId::kM128N64x2},
                                          {64, FwdConfigId::kM64N128x2},
                                          {80, kNarrow},
                                          {80, FwdConfigId::kM192N64},
                                          {128, FwdConfigId::kM192N64Wide},
                                          {128, kNarrow},
                                          {256, FwdConfigId::kM128N64}}) {
      all.push_back({precision, head_dim, tiles});
    }
  }
  return all;
}

/// Elements of contiguous q, k and v.
struct Inputs {
  std::vector<double> q, k, v;
};

Inputs normal_inputs(const AttentionShape& shape, double score_factor = 1) {
  std::mt19937_64 engine{17};
  std::normal_distribution<double> normal;
  const auto values = [&](std::int64_t seq, double factor) {
    std::vector<double> all(static_cast<std::size_t>(shape.batch * shape.heads * seq * shape.head_dim));
    for (double& value : all) value = factor * normal(engine);
    return all;
  };
  return {values(shape.seq_q, score_factor), values(shape.seq_kv, score_factor), values(shape.seq_kv, 1)};
}

struct Outputs {
  DeviceTensor o, lse;
};

/// A plan of the 16-bit or of the TF32 kernels.
struct Choice {
  FwdPlan of_16_bits;
  sm90_tf32::FwdPlan of_tf32;
};

class ForwardRun {
 public:
  ForwardRun(const AttentionShape& shape, Precision precision, const Inputs& inputs,
             Layout layout = Layout::kContiguous)
      : problem_{attention_problem(shape, precision)},
        layout_{layout},
        q_{tensor(shape.seq_q, inputs.q)},
        k_{tensor(shape.seq_kv, inputs.k)},
        v_{tensor(shape.seq_kv, inputs.v)} {}

  [[nodiscard]] Outputs outputs() const {
    const AttentionShape& shape = problem_.shape;
    return {.o = {{shape.batch, shape.heads, shape.seq_q, shape.head_dim}, problem_.precision, layout_},
            .lse = {{shape.batch, shape.heads, shape.seq_q, 1}, Precision::kFp32}};
  }

  [[nodiscard]] AttentionForward arguments(const Outputs& outputs) const {
    return {.q = q_.view(),
            .k = k_.view(),
            .v = v_.view(),
            .o = outputs.o.view(),
            .lse = static_cast<float*>(outputs.lse.view().data),
            .workspace = workspace_.data()};
  }

  void enqueue(const AttentionForward& arguments, const Choice& choice, cudaStream_t stream = nullptr) const {
    if (problem_.precision == Precision::kTf32) {
      return sm90_tf32::launch_forward(problem_, arguments, choice.of_tf32, current_device_limits(), stream);
    }
    (problem_.precision == Precision::kBf16
         ? &launch_forward<Precision::kBf16>
         : &launch_forward<Precision::kFp16>)(problem_, arguments, choice.of_16_bits, current_device_limits(), stream);
  }

  [[nodiscard]] Outputs forward(const Choice& choice) const {
    Outputs result = outputs();
    TBENCH_CUDA_CHECK(cudaMemset(workspace_.data(), 0xff, workspace_.size()));
    enqueue(arguments(result), choice);
    TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
    return result;
  }

  void expect_right(const Outputs& result) {
    if (!reference_) {
      reference_ = attention_reference(problem_, q_.view(), k_.view(), v_.view(), std::nullopt, Executor::kDevice);
    }
    EXPECT_EQ(compare_outputs("o", result.o.extents(), result.o.read(), reference_->o).failure, "");
    EXPECT_EQ(compare_outputs("lse", result.lse.extents(), result.lse.read(), reference_->lse).failure, "");
    EXPECT_EQ(result.o.overwritten_gap().value_or(""), "");
    EXPECT_EQ(result.lse.overwritten_gap().value_or(""), "");
  }

  [[nodiscard]] const AttentionProblem& problem() const { return problem_; }

 private:
  [[nodiscard]] DeviceTensor tensor(std::int64_t seq, const std::vector<double>& values) const {
    const AttentionShape& shape = problem_.shape;
    DeviceTensor one{{shape.batch, shape.heads, seq, shape.head_dim}, problem_.precision, layout_};
    one.write(values);
    return one;
  }

  [[nodiscard]] std::size_t most_tf32_bytes() const {
    return sm90_tf32::forward_workspace(problem_.shape, {.counted = true}).bytes();
  }

  AttentionProblem problem_;
  Layout layout_;
  DeviceTensor q_, k_, v_;
  DeviceBytes workspace_{problem_.precision == Precision::kTf32 ? most_tf32_bytes() : 256};
  std::optional<AttentionReference> reference_;
};

class ForwardSm90OnGpu : public testing::TestWithParam<Instance> {
 protected:
  void SetUp() override {
    if (!runs_here()) GTEST_SKIP() << kWithoutSm90;
  }

  [[nodiscard]] static AttentionShape shape(std::int64_t seq_q, std::int64_t seq_kv, bool causal,
                                            std::int64_t batch = 2, std::int64_t heads = 3) {
    return {.batch = batch,
            .heads = heads,
            .seq_q = seq_q,
            .seq_kv = seq_kv,
            .head_dim = GetParam().head_dim,
            .causal = causal};
  }
  [[nodiscard]] static Choice choice(bool counted) {
    return {.of_16_bits = {.tiles = GetParam().tiles, .counted = counted, .in_turns = true, .overlaps = !counted},
            .of_tf32 = {.counted = counted, .in_turns = true}};
  }

  static void expect_right(const AttentionShape& shape, const Inputs& inputs, Layout layout = Layout::kContiguous) {
    SCOPED_TRACE(fmt::format("{} x {} causal {} {}", shape.seq_q, shape.seq_kv, shape.causal, to_string(layout)));
    ForwardRun run{shape, GetParam().precision, inputs, layout};
    for (const bool counted : {false, true}) run.expect_right(run.forward(choice(counted)));
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, ForwardSm90OnGpu, testing::ValuesIn(instances()), name_of_instance);

INSTANTIATE_TEST_SUITE_P(Tf32, ForwardSm90OnGpu,
                         testing::Values(Instance{.precision = Precision::kTf32, .head_dim = 64},
                                         Instance{.precision = Precision::kTf32, .head_dim = 128}),
                         name_of_instance);

TEST_P(ForwardSm90OnGpu, BothSidesOfEveryTile) {
  for (const std::int64_t seq : {1, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 1023, 1024, 1025}) {
    for (const bool causal : {true, false})
      expect_right(shape(seq, seq, causal), normal_inputs(shape(seq, seq, causal)));
  }
}

TEST_P(ForwardSm90OnGpu, QueriesAndKeysOfDifferentNumber) {
  for (const auto& [seq_q, seq_kv] : {std::pair{1, 1025}, {65, 300}, {300, 65}, {129, 1}, {193, 257}}) {
    expect_right(shape(seq_q, seq_kv, false), normal_inputs(shape(seq_q, seq_kv, false)));
  }
}

TEST_P(ForwardSm90OnGpu, MoreItemsThanMultiprocessors) {
  // The number of elements is the same at every head_dim, because the host's work per element takes most of the time.
  const auto heads_of_64 = [](std::int64_t heads) { return heads * 64 / GetParam().head_dim; };
  // In the last shape, K and V of all heads take 40 MiB (80 MiB in TF32). That is more than the 32 MiB that
  // forward_order() keeps in the L2 cache at a time, so there are several groups of heads.
  for (const AttentionShape& one :
       {shape(513, 513, true, 3, heads_of_64(70)), shape(129, 200, false, 70, heads_of_64(4)),
        shape(4097, 4097, true, 1, heads_of_64(40))}) {
    expect_right(one, normal_inputs(one));
  }
}

TEST_P(ForwardSm90OnGpu, Layouts) {
  for (const Layout layout : {Layout::kTransposed, Layout::kPacked}) {
    expect_right(shape(130, 130, true), normal_inputs(shape(130, 130, true)), layout);
    expect_right(shape(67, 300, false), normal_inputs(shape(67, 300, false)), layout);
  }
}

/// Rounds to eight significant bits, which every precision reads exactly.
double in_eight_bits(double value) {
  int exponent{};
  return std::ldexp(std::round(std::frexp(value, &exponent) * 256), exponent - 8);
}

TEST_P(ForwardSm90OnGpu, ScoresOfTenThousand) {
  // The largest of some thousands of standard normal numbers is about 4, and 4 * 2,500 is 1e4.
  for (const AttentionShape& one : {shape(257, 257, true), shape(65, 1100, false)}) {
    Inputs inputs = normal_inputs(one, std::sqrt(2500.0));
    for (std::vector<double>* values : {&inputs.q, &inputs.k, &inputs.v}) {
      for (double& value : *values) value = in_eight_bits(value);
    }
    expect_right(one, inputs);
  }
}

TEST_P(ForwardSm90OnGpu, MaximaThatRiseFromStepToStep) {
  // In base 2, scores rise by this much from one K/V tile that the kernel visits to the next. A row's maximum then
  // moves never, seldom, or in every step; 2^40 is beyond the probabilities that float16 can hold.
  for (const double rise : {0.5, 4.9, 5.1, 7.9, 8.1, 40.0}) {
    SCOPED_TRACE(rise);
    const AttentionShape one = shape(200, 900, false, 1, 2);
    Inputs inputs = normal_inputs(one);
    const double scale = 1 / std::sqrt(static_cast<double>(one.head_dim));
    static_assert(FwdM256N64::tile().cols == FwdM128N64::tile().cols);
    static_assert(FwdM128N64x2::tile().cols == FwdM128N64::tile().cols);
    static_assert(FwdM64N128x2::tile().cols == FwdM128N128::tile().cols);
    const bool short_steps =
        one.head_dim == 256 || GetParam().tiles == FwdConfigId::kM256N64 || GetParam().tiles == FwdConfigId::kM128N64x2;
    const auto cols =
        static_cast<std::size_t>((GetParam().precision == Precision::kTf32 ? sm90_tf32::forward_tile(one.head_dim)
                                  : short_steps                            ? FwdM128N64::tile()
                                                                           : FwdM128N128::tile())
                                     .cols);
    for (std::size_t i = 0; i < inputs.q.size(); ++i) {
      if (i % static_cast<std::size_t>(one.head_dim) == 0) inputs.q[i] = 8;
    }
    for (std::size_t i = 0; i < inputs.k.size(); ++i) {
      const auto depth = static_cast<std::size_t>(one.head_dim), seq = static_cast<std::size_t>(one.seq_kv);
      const auto tile = static_cast<double>(i / depth % seq / cols);
      // The common part of all keys of a tile. If it were rounded to TF32, all scores of the tile would change
      // together.
      const double common = in_eight_bits(-tile * rise * std::log(2.0) / (8 * scale));
      inputs.k[i] = i % depth == 0 ? common : 0.25 * inputs.k[i];
    }
    expect_right(one, inputs);
  }
}

TEST_P(ForwardSm90OnGpu, WhatIsNotFiniteStaysInItsRows) {
  const AttentionShape one = shape(300, 300, true, 1, 2);
  const auto depth = static_cast<std::size_t>(one.head_dim), seq = static_cast<std::size_t>(one.seq_q);
  const auto row_of = [&](std::size_t element) { return element / depth % seq; };
  const Inputs clean = normal_inputs(one);
  const std::vector<double> expected = ForwardRun{one, GetParam().precision, clean}.forward(choice(false)).o.read();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}) {
    SCOPED_TRACE(bad);
    for (const bool in_keys : {false, true}) {
      constexpr std::size_t kRow = 140;
      Inputs inputs = clean;
      (in_keys ? inputs.k : inputs.q)[kRow * depth + 3] = bad;  // in the first head
      const std::vector<double> actual = ForwardRun{one, GetParam().precision, inputs}.forward(choice(true)).o.read();
      for (std::size_t i = 0; i < actual.size(); ++i) {
        const bool first_head = i < seq * depth;
        if (!first_head || (in_keys ? row_of(i) < kRow : row_of(i) != kRow)) {
          // The bits differ, because a warp's rows move their maxima together.
          ASSERT_NEAR(actual[i], expected[i], 0.04) << (in_keys ? "k " : "q ") << i;
        } else if (!in_keys || std::isnan(bad)) {
          // Either one row of infinite scores with both signs, or all rows that see the key.
          ASSERT_TRUE(std::isnan(actual[i])) << (in_keys ? "k " : "q ") << i;
        } else {
          // The key's score is +infinity for about half of the rows, which are NaN, and -infinity for the others.
          ASSERT_TRUE(std::isnan(actual[i]) || std::isfinite(actual[i])) << i;
        }
      }
    }
  }
}

TEST_P(ForwardSm90OnGpu, RowsThatSeeNothingFiniteAtFirst) {
  // All scores of the last K/V tile, which is visited first, are -infinity. The result is the same as without that
  // tile.
  const AttentionShape all = shape(100, 384, false, 1, 1), rest = shape(100, 256, false, 1, 1);
  Inputs inputs = normal_inputs(all);
  const auto depth = static_cast<std::size_t>(all.head_dim);
  for (std::size_t i = 0; i < inputs.q.size(); i += depth) inputs.q[i] = 1;
  for (std::size_t row = 256; row < 384; ++row) inputs.k[row * depth] = -std::numeric_limits<double>::infinity();
  Inputs first = inputs;
  first.k.resize(256 * depth);
  first.v.resize(256 * depth);
  ForwardRun run{rest, GetParam().precision, first};
  const Outputs result = ForwardRun{all, GetParam().precision, inputs}.forward(choice(false));
  run.expect_right(result);
}

TEST_P(ForwardSm90OnGpu, SameBitsFiftyTimes) {
  const AttentionShape one = shape(1025, 1025, true, 2, 9);
  const ForwardRun run{one, GetParam().precision, normal_inputs(one)};
  const Outputs first = run.forward(choice(false));
  for (int i = 0; i < 50; ++i) {
    const Outputs again = run.forward(choice(i % 2 == 0));
    ASSERT_TRUE(first.o.bytes() == again.o.bytes()) << "o, repeat " << i;
    ASSERT_TRUE(first.lse.bytes() == again.lse.bytes()) << "lse, repeat " << i;
  }
}

TEST_P(ForwardSm90OnGpu, ReplaysInAGraph) {
  const AttentionShape one = shape(513, 513, true, 2, 40);
  const ForwardRun run{one, GetParam().precision, normal_inputs(one)};
  const Outputs expected = run.forward(choice(false));
  Outputs result = run.outputs();
  cudaStream_t stream{};
  TBENCH_CUDA_CHECK(cudaStreamCreate(&stream));
  cudaGraph_t graph{};
  TBENCH_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  run.enqueue(run.arguments(result), choice(true), stream);
  TBENCH_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable{};
  TBENCH_CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 3; ++i) {
    result.o.poison();
    TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
    TBENCH_CUDA_CHECK(cudaGraphLaunch(executable, stream));
    TBENCH_CUDA_CHECK(cudaStreamSynchronize(stream));
    EXPECT_TRUE(expected.o.bytes() == result.o.bytes()) << "replay " << i;
  }
  TBENCH_CUDA_CHECK(cudaGraphExecDestroy(executable));
  TBENCH_CUDA_CHECK(cudaGraphDestroy(graph));
  TBENCH_CUDA_CHECK(cudaStreamDestroy(stream));
}

TEST_P(ForwardSm90OnGpu, OverlapsTheLaunchBeforeIt) {
  // Each launch may start while the previous one ends, and reads the previous one's output as keys and values. All
  // share one workspace.
  const AttentionShape one = shape(192, 192, true, 3, 20);
  const ForwardRun run{one, GetParam().precision, normal_inputs(one)};
  std::vector<Outputs> links;
  for (int i = 0; i < 8; ++i) links.push_back(run.outputs());
  const auto chain = [&](bool apart) {
    for (Outputs& link : links) link.o.poison();
    TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
    if (!apart) cuda::launch_spin(Seconds{400e-6}, nullptr);  // until all are enqueued
    for (std::size_t i = 0; i < links.size(); ++i) {
      AttentionForward arguments = run.arguments(links[i]);
      if (i > 0) arguments.k = arguments.v = links[i - 1].o.view();
      run.enqueue(arguments, choice(false));
      if (apart) TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
    }
    TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
    return links.back().o.bytes();
  };
  const std::vector<std::byte> expected = chain(true);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(chain(false) == expected) << "repeat " << i;
}

TEST_P(ForwardSm90OnGpu, IsWhatThePublicFunctionRuns) {
  const AttentionShape one = shape(2048, 2048, true, 4, GetParam().head_dim == 256 ? 3 : 12);
  const ForwardRun run{one, GetParam().precision, normal_inputs(one)};
  const auto of_16_bits = choose_forward(run.problem(), current_device_limits());
  const auto of_tf32 = sm90_tf32::choose_forward(run.problem(), current_device_limits());
  ASSERT_TRUE(of_16_bits.has_value() != of_tf32.has_value());
  const Outputs expected = run.forward({of_16_bits.value_or(FwdPlan{}), of_tf32.value_or(sm90_tf32::FwdPlan{})});
  const Outputs result = run.outputs();
  AttentionProblem problem = run.problem();
  problem.layout = layout_of(run.arguments(result));
  attention_forward(plan_attention_forward(problem, current_device_limits()), run.arguments(result), nullptr);
  TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
  EXPECT_TRUE(expected.o.bytes() == result.o.bytes());
  EXPECT_TRUE(expected.lse.bytes() == result.lse.bytes());
}

}  // namespace
}  // namespace tbench::kernels::sm90
