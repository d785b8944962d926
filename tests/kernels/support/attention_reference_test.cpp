// Tests the reference itself. The forward pass is compared with loops over the definition, the gradients with finite
// differences, and the variances with errors that occur when the inputs are rounded.
#include "support/attention_reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace tbench::kernels {
namespace {

/// One head on the host, all tensors [seq, head_dim] in float, kept in vectors.
struct SmallProblem {
  AttentionProblem problem;
  std::vector<float> q, k, v, grad_o;
  std::int64_t grad_row_stride{};

  SmallProblem(std::int64_t seq_q, std::int64_t seq_kv, std::int64_t head_dim, bool causal, Precision precision) {
    problem = {
        .shape = {.batch = 1, .heads = 1, .seq_q = seq_q, .seq_kv = seq_kv, .head_dim = head_dim, .causal = causal},
        .precision = precision,
        .scale = 0.375F};
    grad_row_stride = head_dim;
    std::mt19937_64 engine{7};
    std::normal_distribution<float> normal;
    for (auto& [tensor, rows] : {std::pair{&q, seq_q}, {&k, seq_kv}, {&v, seq_kv}, {&grad_o, seq_q}}) {
      for (std::int64_t i = 0; i < rows * head_dim; ++i) tensor->push_back(normal(engine));
    }
  }
  [[nodiscard]] AttentionReference reference(bool backward = true) {
    const auto view = [&](std::vector<float>& tensor) {
      return TensorView{.data = tensor.data(), .strides = {0, 0, problem.shape.head_dim}};
    };
    const TensorView gradient{.data = grad_o.data(), .strides = {0, 0, grad_row_stride}};
    return attention_reference(problem, view(q), view(k), view(v), backward ? std::optional{gradient} : std::nullopt,
                               Executor::kHost);
  }
};

struct Forward {
  std::vector<double> o, lse;
};

/// Computes the definition: softmax without the subtraction of a maximum, on tensors of double.
Forward defined_forward(const AttentionProblem& problem, std::span<const double> q, std::span<const double> k,
                        std::span<const double> v) {
  const auto& shape = problem.shape;
  const auto depth = static_cast<std::size_t>(shape.head_dim);
  Forward result;
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.seq_q); ++i) {
    double sum = 0;
    std::vector<double> row(depth);
    for (std::size_t j = 0; j < static_cast<std::size_t>(shape.seq_kv) && (!shape.causal || j <= i); ++j) {
      double dot = 0;
      for (std::size_t d = 0; d < depth; ++d) dot += q[i * depth + d] * k[j * depth + d];
      const double weight = std::exp(static_cast<double>(problem.scale) * dot);
      sum += weight;
      for (std::size_t d = 0; d < depth; ++d) row[d] += weight * v[j * depth + d];
    }
    for (const double x : row) result.o.push_back(x / sum);
    result.lse.push_back(std::log(sum));
  }
  return result;
}

/// d(sum of grad_o * o) / dx[at] by a central difference, with an error of the order of step^2, 1e-8.
double central_difference(const std::function<Forward(double)>& shifted, std::span<const float> grad_o) {
  constexpr double kStep = 1e-4;
  const Forward above = shifted(kStep);
  const Forward below = shifted(-kStep);
  double difference = 0;
  for (std::size_t i = 0; i < grad_o.size(); ++i)
    difference += static_cast<double>(grad_o[i]) * (above.o[i] - below.o[i]);
  return difference / (2 * kStep);
}

struct SmallShape {
  std::int64_t seq_q, seq_kv, head_dim;
  bool causal;
};

class AttentionReferenceOnHost : public testing::TestWithParam<SmallShape> {
 protected:
  SmallProblem small_{GetParam().seq_q, GetParam().seq_kv, GetParam().head_dim, GetParam().causal, Precision::kFp32};
};

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionReferenceOnHost,
                         testing::Values(SmallShape{1, 1, 4, true}, SmallShape{5, 5, 3, true},
                                         SmallShape{5, 5, 3, false}, SmallShape{4, 7, 2, false},
                                         SmallShape{6, 1, 2, false}));

std::vector<double> doubles(const std::vector<float>& tensor) { return {tensor.begin(), tensor.end()}; }

TEST_P(AttentionReferenceOnHost, ForwardIsTheDefinition) {
  const AttentionReference reference = small_.reference();
  const Forward forward = defined_forward(small_.problem, doubles(small_.q), doubles(small_.k), doubles(small_.v));
  ASSERT_EQ(reference.o.size(), forward.o.size());
  ASSERT_EQ(reference.lse.size(), forward.lse.size());
  for (std::size_t i = 0; i < forward.o.size(); ++i) EXPECT_NEAR(reference.o[i].value, forward.o[i], 1e-12) << i;
  for (std::size_t i = 0; i < forward.lse.size(); ++i) EXPECT_NEAR(reference.lse[i].value, forward.lse[i], 1e-12) << i;
}

TEST_P(AttentionReferenceOnHost, GradientsAreThoseOfFiniteDifferences) {
  const AttentionReference reference = small_.reference();
  std::array<std::vector<double>, 3> inputs{doubles(small_.q), doubles(small_.k), doubles(small_.v)};
  const std::array gradients{&reference.dq, &reference.dk, &reference.dv};
  for (std::size_t tensor = 0; tensor < 3; ++tensor) {
    ASSERT_EQ(gradients.at(tensor)->size(), inputs.at(tensor).size());
    for (std::size_t at = 0; at < inputs.at(tensor).size(); ++at) {
      const auto shifted = [&](double step) {
        std::array<std::vector<double>, 3> moved = inputs;
        moved.at(tensor)[at] += step;
        return defined_forward(small_.problem, moved[0], moved[1], moved[2]);
      };
      EXPECT_NEAR((*gradients.at(tensor))[at].value, central_difference(shifted, small_.grad_o), 1e-7)
          << "tensor " << tensor << ", element " << at;
    }
  }
}

TEST(AttentionReference, WithoutAGradientIsForwardAlone) {
  SmallProblem small{7, 9, 4, false, Precision::kTf32};
  const AttentionReference both = small.reference(), forward = small.reference(false);
  for (const auto& [expected, actual] : {std::pair{&both.o, &forward.o}, {&both.lse, &forward.lse}}) {
    ASSERT_EQ(actual->size(), expected->size());
    for (std::size_t i = 0; i < expected->size(); ++i) {
      EXPECT_EQ((*actual)[i].value, (*expected)[i].value) << i;
      EXPECT_EQ((*actual)[i].variance, (*expected)[i].variance) << i;
    }
  }
  for (const auto* gradient : {&forward.dq, &forward.dk, &forward.dv}) EXPECT_TRUE(gradient->empty());
}

TEST(AttentionReference, ReadsSixteenBitStorageBatchesHeadsAndStrides) {
  // bfloat16 is the upper half of a float: 1.0 is 0x3f80, 2.0 is 0x4000, -0.5 is 0xbf00. One key: o is v, dv is the sum
  // of grad_o over the two queries.
  std::vector<std::uint16_t> q(64, 0x3f80);
  std::vector<std::uint16_t> v{0x3f80, 0x4000, 0xffff, 0xbf00, 0x3f80, 0xffff};  // 2 heads x 2, rows of 3 apart
  std::vector<std::uint16_t> grad_o{0x4000, 0xbf00};                             // the same for all rows
  const AttentionProblem problem{
      .shape = {.batch = 1, .heads = 2, .seq_q = 2, .seq_kv = 1, .head_dim = 2, .causal = false},
      .precision = Precision::kBf16,
      .scale = 1};
  const TensorView any{.data = q.data(), .strides = {8, 4, 2}};
  const AttentionReference reference =
      attention_reference(problem, any, any, {.data = v.data(), .strides = {6, 3, 2}},
                          TensorView{.data = grad_o.data(), .strides = {0, 0, 0}}, Executor::kHost);
  const std::array<double, 8> o{1, 2, 1, 2, -0.5, 1, -0.5, 1};
  const std::array<double, 4> dv{4, -1, 4, -1};
  ASSERT_EQ(reference.o.size(), o.size());
  ASSERT_EQ(reference.dv.size(), dv.size());
  for (std::size_t i = 0; i < o.size(); ++i) EXPECT_DOUBLE_EQ(reference.o[i].value, o.at(i)) << i;
  for (std::size_t i = 0; i < dv.size(); ++i) EXPECT_DOUBLE_EQ(reference.dv[i].value, dv.at(i)) << i;
}

/// Rounds to TF32's 11 bits, to nearest.
float tf32(float x) {
  const float big = x * 8193;  // Dekker's split: 2^13 + 1 leaves 24 - 13 bits
  return big - (big - x);
}

TEST(AttentionReference, VariancesExplainRoundedInputs) {
  // Only the inputs are rounded to TF32 here, so errors must be smaller than predicted, but of the same order.
  SmallProblem exact{40, 40, 16, true, Precision::kTf32};
  SmallProblem rounded = exact;
  for (auto* tensor : {&rounded.q, &rounded.k, &rounded.v, &rounded.grad_o}) {
    for (float& x : *tensor) x = tf32(x);
  }
  const AttentionReference expected = exact.reference();
  const AttentionReference seen = rounded.reference();
  for (const auto member : {&AttentionReference::o, &AttentionReference::lse, &AttentionReference::dq,
                            &AttentionReference::dk, &AttentionReference::dv}) {
    double squares = 0;
    for (std::size_t i = 0; i < (expected.*member).size(); ++i) {
      const double error = (seen.*member)[i].value - (expected.*member)[i].value;
      squares += error * error / (expected.*member)[i].variance;
    }
    const double ratio = std::sqrt(squares / static_cast<double>((expected.*member).size()));
    EXPECT_GT(ratio, 0.3);
    EXPECT_LT(ratio, 1.0);
  }
}

TEST(AttentionReference, ErrorsOfOneRowOfGradientsAreTheSameForAllQueries) {
  // One query gives each key exactly 1/40 of the weight, so p is constant, and dv is the mean of 40 gradients. Their
  // rounding errors cancel if the rows differ, but not if all are one row.
  SmallProblem many{40, 40, 16, false, Precision::kTf32};
  for (float& x : many.q) x = 0;
  SmallProblem one = many;
  for (std::size_t i = 0; i < one.grad_o.size(); ++i) one.grad_o[i] = one.grad_o[i % 16];
  const AttentionReference copies = one.reference();
  one.grad_row_stride = 0;
  const AttentionReference repeated = one.reference();
  const double u = 0x1p-11;
  for (std::size_t d = 0; d < 16; ++d) {
    EXPECT_DOUBLE_EQ(repeated.dv[d].value, copies.dv[d].value);
    const double rounded_row = u * u / 3 * repeated.dv[d].value * repeated.dv[d].value;
    EXPECT_GT(repeated.dv[d].variance, rounded_row);
    EXPECT_LT(copies.dv[d].variance, rounded_row / 10);
  }
}

TEST(AttentionReference, ExactInputsAreNotTakenToBeRounded) {
  SmallProblem fine{1, 1, 4, false, Precision::kTf32};
  for (float& x : fine.k) x = 0;  // scores without errors
  SmallProblem coarse = fine;
  for (float& x : coarse.v) x = tf32(x);
  // With one key, o equals v, which TF32's products round or not. The probability counts as rounded in both cases.
  const double u = 0x1p-11;
  EXPECT_GT(fine.reference().o[0].variance, u * u / 100);
  EXPECT_LT(coarse.reference().o[0].variance, fine.reference().o[0].variance / 1.5);
}

TEST(ErrorModel, KnowsTheRoundings) {
  EXPECT_EQ(ErrorModel::of(Precision::kBf16).input, 0);
  EXPECT_EQ(ErrorModel::of(Precision::kBf16).operand, 0x1p-8);
  EXPECT_EQ(ErrorModel::of(Precision::kFp16).smallest, 0x1p-25);
  EXPECT_EQ(ErrorModel::of(Precision::kTf32).input, 0x1p-11);
  EXPECT_EQ(ErrorModel::of(Precision::kTf32).storage, 0x1p-24);
  EXPECT_EQ(ErrorModel::of(Precision::kFp32).operand, 0x1p-22);
}

}  // namespace
}  // namespace tbench::kernels
