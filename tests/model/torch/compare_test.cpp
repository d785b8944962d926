#include "model/torch/compare.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tbench::model {
namespace {

using testing::HasSubstr;

constexpr Tolerance kTight{.relative = 1e-6, .of_rms = 1e-6, .absolute = 0.0};

/// Returns the numbers 1 to 16 as a 4 x 4 matrix.
at::Tensor matrix() { return at::arange(1, 17, at::TensorOptions{}.dtype(at::kFloat)).view({4, 4}); }

TEST(CompareTensors, EqualTensorsPassWithNoError) {
  const Verification verdict = compare_tensors("x", matrix(), matrix().to(at::kDouble), kTight);
  EXPECT_TRUE(verdict.passed);
  EXPECT_EQ(verdict.worst_error, 0.0);
  EXPECT_EQ(verdict.message, "");
}

TEST(CompareTensors, ReportsErrorOverToleranceOfTheWorstElement) {
  at::Tensor actual = at::full({4}, 2.0, at::kDouble);
  const at::Tensor reference = actual.clone();
  actual[2] = 2.25;
  // 0.25 / (0.1 * 2 + 0.05 * 2 + 0.2) = 0.5
  const Verification verdict =
      compare_tensors("x", actual, reference, {.relative = 0.1, .of_rms = 0.05, .absolute = 0.2});
  EXPECT_TRUE(verdict.passed);
  EXPECT_DOUBLE_EQ(verdict.worst_error, 0.5);
  EXPECT_EQ(verdict.worst_where, "x[2]");
}

TEST(CompareTensors, OneWrongElementFailsWithItsIndexAndBothValues) {
  at::Tensor actual = matrix();
  actual[2][1] = 10.001F;
  const Verification verdict = compare_tensors("layers.0", actual, matrix(), kTight);
  EXPECT_FALSE(verdict.passed);
  EXPECT_GT(verdict.worst_error, 1.0);
  EXPECT_THAT(verdict.message, HasSubstr("layers.0[2, 1] is 10.00"));
  EXPECT_THAT(verdict.message, HasSubstr("the reference 10:"));
  EXPECT_THAT(verdict.message, HasSubstr("(bad elements: 1)"));
}

TEST(CompareTensors, FirstBadIndexIsTheFirstNotTheWorst) {
  at::Tensor actual = matrix();
  actual[0][3] = 4.001F;
  actual[3][0] = 99.0F;
  const Verification verdict = compare_tensors("x", actual, matrix(), kTight);
  EXPECT_THAT(verdict.message, HasSubstr("x[0, 3] is"));
  EXPECT_EQ(verdict.worst_where, "x[3, 0]");
}

TEST(CompareTensors, WithoutANormToleranceZerosHaveElementsAlone) {
  const at::Tensor zeros = at::zeros({4}, at::kDouble);
  const Tolerance tolerance{.relative = 0.0, .of_rms = 0.0, .absolute = 0.1};  // of_norm is infinite
  EXPECT_TRUE(compare_tensors("x", at::full({4}, 0.05, at::kDouble), zeros, tolerance).passed);
  EXPECT_FALSE(compare_tensors("x", at::full({4}, 0.2, at::kDouble), zeros, tolerance).passed);
}

TEST(CompareTensors, NanAndInfinityFailWhateverTheTolerance) {
  const Tolerance anything{.relative = 1e30, .of_rms = 1e30, .absolute = 1e30};
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()}) {
    at::Tensor actual = matrix();
    actual[1][2] = bad;
    EXPECT_FALSE(compare_tensors("x", actual, matrix(), anything).passed) << bad;
    EXPECT_FALSE(compare_tensors("x", matrix(), actual, anything).passed) << "in the reference: " << bad;
    // Two tensors that are wrong in the same way do not agree either.
    const Verification both = compare_tensors("x", actual, actual, anything);
    EXPECT_FALSE(both.passed);
    EXPECT_EQ(both.worst_error, kWorstErrorCap);
    EXPECT_THAT(both.message, HasSubstr("x[1, 2]"));
  }
}

TEST(CompareTensors, SwappedStridesFail) {
  EXPECT_FALSE(compare_tensors("x", matrix().t(), matrix(), kTight).passed);
  EXPECT_TRUE(compare_tensors("x", matrix().t().contiguous().t(), matrix(), kTight).passed);
}

TEST(CompareTensors, AnotherShapeOrNoTensorFails) {
  EXPECT_THAT(compare_tensors("x", matrix().view({2, 8}), matrix(), kTight).message,
              HasSubstr("its shape is [2, 8], the reference's is [4, 4]"));
  EXPECT_FALSE(compare_tensors("x", at::Tensor{}, matrix(), kTight).passed);
}

TEST(CompareTensors, RmsIsThatOfTheElementsThatAreNotZero) {
  const at::Tensor reference = at::zeros({100}, at::kDouble);
  reference[7] = 4.0;
  at::Tensor actual = reference.clone();
  actual[50] = 0.2;  // 0.05 of the rms, which is 4
  const Verification verdict = compare_tensors("x", actual, reference, {.relative = 0, .of_rms = 0.1, .absolute = 0});
  EXPECT_DOUBLE_EQ(verdict.worst_error, 0.5);
}

TEST(CompareTensors, ALargeRowHasItsOwnScale) {
  at::Tensor reference = at::ones({100, 2}, at::kDouble);
  reference[3].fill_(1000.0);
  at::Tensor actual = reference.clone();
  actual[3][0] = 1050.0;  // 50 / (0.1 * 1000)
  EXPECT_DOUBLE_EQ(compare_tensors("x", actual, reference, {.relative = 0, .of_rms = 0.1, .absolute = 0}).worst_error,
                   0.5);
}

TEST(Comparison, ARowMayBeAllowedMoreThanOthers) {
  at::Tensor actual = matrix().clone();
  actual[1].add_(0.5);
  const auto verdict_with = [&](const std::vector<double>& allowances) {
    Comparison comparison;
    comparison.add("m", actual, matrix(), kTight,
                   at::tensor(allowances, at::TensorOptions{}.dtype(at::kDouble)).unsqueeze(1));
    return comparison.finish({});
  };
  std::vector<double> allowances(static_cast<std::size_t>(matrix().size(0)), 0.0);
  EXPECT_FALSE(verdict_with(allowances).passed);
  allowances[1] = 1.0;
  EXPECT_TRUE(verdict_with(allowances).passed);
  EXPECT_NEAR(verdict_with(allowances).worst_error, 0.5, 1e-3);
  std::swap(allowances[0], allowances[1]);
  EXPECT_FALSE(verdict_with(allowances).passed);
}

TEST(CompareTensors, TheNormSeesWhatIsALittleWrongEverywhere) {
  const at::Tensor reference = at::ones({100}, at::kDouble);
  Tolerance tolerance{.relative = 0.1, .of_rms = 0, .absolute = 0};
  EXPECT_TRUE(compare_tensors("x", reference.mul(1.05), reference, tolerance).passed);
  tolerance.of_norm = 0.02;
  const Verification verdict = compare_tensors("x", reference.mul(1.05), reference, tolerance);
  EXPECT_FALSE(verdict.passed);
  EXPECT_THAT(verdict.message, HasSubstr("norm of the error is 2.5 times"));
}

TEST(CompareTensors, ARowsNormSeesWhatIsALittleWrongAlongIt) {
  const at::Tensor reference = at::ones({10, 100, 4}, at::kDouble);
  at::Tensor actual = reference.clone();
  actual[7][42].mul_(1.05);
  Tolerance tolerance{.relative = 0.1, .of_rms = 0, .absolute = 0, .of_norm = 0.01};
  EXPECT_TRUE(compare_tensors("x", actual, reference, tolerance).passed);
  tolerance.of_row_norm = 0.02;
  const Verification verdict = compare_tensors("x", actual, reference, tolerance);
  EXPECT_FALSE(verdict.passed);
  EXPECT_NEAR(verdict.worst_error, 2.5, 1e-9);  // 0.05 / 0.02
  EXPECT_THAT(verdict.message, HasSubstr("the row of [7, 42, 0]"));
}

TEST(CompareTensors, AReferenceOfZerosAllowsZerosAlone) {
  EXPECT_TRUE(compare_tensors("x", at::zeros({3}), at::zeros({3}), kTight).passed);
  EXPECT_FALSE(compare_tensors("x", at::full({3}, 1e-20, at::kDouble), at::zeros({3}), kTight).passed);
}

TEST(CompareTensors, ShortTypesAreComparedAsInFloat64) {
  const at::Tensor reference = matrix().mul(1.0 / 3.0);
  const Tolerance tolerance{.relative = 1e-3, .of_rms = 1e-3, .absolute = 0.0, .of_norm = 2e-3, .of_row_norm = 1e-3};
  for (const auto dtype : {at::kBFloat16, at::kHalf, at::kFloat}) {
    const at::Tensor actual = reference.mul(1.0009).to(dtype);
    const Verification verdict = compare_tensors("x", actual, reference, tolerance);
    const Verification wide = compare_tensors("x", actual.to(at::kDouble), reference.to(at::kDouble), tolerance);
    EXPECT_NEAR(verdict.worst_error, wide.worst_error, 1e-3 * wide.worst_error) << dtype;
    EXPECT_EQ(verdict.worst_where, wide.worst_where) << dtype;
  }
}

TEST(CompareTensors, ABoundThatIsMetInFloat32IsMet) {
  const at::Tensor reference = at::arange(1, 1001, at::TensorOptions{}.dtype(at::kFloat)).div_(7.0);
  // The float32 nearest to 2.3 is a little less.
  const Tolerance tolerance{.relative = 2.3, .of_rms = 0.0, .absolute = 0.0};
  const at::Tensor actual = reference.clone();
  for (std::int64_t i = 0; i < actual.numel(); ++i) {
    const double right = reference[i].item<double>();
    float value = static_cast<float>(right + 2.3 * right);
    while (static_cast<double>(value) - right > 2.3 * right) value = std::nextafter(value, 0.0F);
    actual[i] = value;
  }
  EXPECT_TRUE(compare_tensors("x", actual.to(at::kDouble), reference, tolerance).passed);
  EXPECT_TRUE(compare_tensors("x", actual, reference, tolerance).passed);
  EXPECT_FALSE(compare_tensors("x", actual.mul(1.0 + 1e-5), reference, tolerance).passed);
}

TEST(CompareTensors, AReferenceTooLargeForItsSquareAllowsNothingBesides) {
  const at::Tensor reference = at::full({4, 4}, 1e30F);  // the square is infinite in float32
  EXPECT_FALSE(compare_tensors("x", reference.mul(1.5), reference, {.relative = 1e-3, .of_rms = 1.0}).passed);
  EXPECT_TRUE(compare_tensors("x", reference.mul(1.0005), reference, {.relative = 1e-3, .of_rms = 1.0}).passed);
}

TEST(Comparison, TensorsComparedAsOneKeepTheirNamesAndIndices) {
  const at::Tensor reference = at::arange(1, 11, at::TensorOptions{}.dtype(at::kFloat));
  const std::vector<Comparison::Part> parts{{"a", {2, 3}}, {"b", {4}}};
  const auto verdict_of = [&](std::int64_t wrong) {
    const at::Tensor actual = reference.clone();
    actual[wrong].add_(1.0);
    Comparison comparison;
    comparison.add(parts, actual, reference, {.relative = 1e-6, .of_rms = 0.0, .absolute = 0.5});
    return comparison.finish({});
  };
  EXPECT_THAT(verdict_of(4).message, HasSubstr("a[1, 1] is 6, the reference 5: 2 times"));
  EXPECT_EQ(verdict_of(4).worst_where, "a[1, 1]");
  EXPECT_THAT(verdict_of(9).message, HasSubstr("b[3] is 11, the reference 10: 2 times"));
}

TEST(Comparison, TensorsComparedAsOneHaveNoScaleInCommon) {
  Comparison comparison;
  EXPECT_THROW(comparison.add({{"a", {4}}, {"b", {12}}}, matrix().flatten(), matrix().flatten(), kTight),
               std::invalid_argument);
}

TEST(Comparison, WorstIsOverAllAndTheMessageOfTheFirstFailure) {
  Comparison comparison;
  comparison.add("fine", matrix(), matrix(), kTight);
  comparison.add("bad", matrix().add(1), matrix(), kTight);
  comparison.add("worse", matrix().add(100), matrix(), kTight);
  const Verification verdict = comparison.finish("a reference");
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.reference, "a reference");
  EXPECT_THAT(verdict.message, HasSubstr("bad[0, 0]"));
  EXPECT_THAT(verdict.worst_where, HasSubstr("worse["));
}

/// Pairs with four shapes, types and tolerances. The error of each is determined by its index.
struct Pair {
  std::string name;
  at::Tensor actual, reference;
  Tolerance tolerance;
};

std::vector<Pair> pairs_of_all_kinds() {
  const Tolerance loose{.relative = 0.0, .of_rms = 1.0, .absolute = 0.0, .of_norm = 1.0, .of_row_norm = 1.0};
  std::vector<Pair> pairs;
  for (int i = 0; i < 5; ++i) {
    const at::Tensor reference = matrix().mul(i + 1);
    const auto named = [&](const char* kind) { return kind + std::to_string(i); };
    pairs.push_back({named("matrix"), reference.add(0.1 * i), reference, loose});
    pairs.push_back({named("transposed"), reference.t().mul(1.0 + 0.01 * i), reference.t(), loose});
    pairs.push_back({named("bfloat16"), reference.to(at::kBFloat16), reference.add(0.2 * i), loose});
    pairs.push_back({named("element"), reference.flatten().add(0.1 * i), reference.flatten(), {.absolute = 1.0}});
    pairs.push_back({named("scalar"), reference.sum().mul(1.0 + 0.1 * i), reference.sum(), {.relative = 1.0}});
  }
  return pairs;
}

TEST(Comparison, BatchesHaveTheVerdictsOfSingleTensors) {
  const std::vector<Pair> pairs = pairs_of_all_kinds();
  for (std::size_t wrong = 0; wrong < pairs.size(); ++wrong) {
    Comparison single, batched;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Pair& pair = pairs[i];
      const at::Tensor actual = i == wrong ? pair.actual.mul(3.0) : pair.actual;
      single.add(pair.name, actual, pair.reference, pair.tolerance);
      batched.add_batched(pair.name, actual, pair.reference, pair.tolerance);
    }
    const Verification expected = single.finish({}), verdict = batched.finish({});
    EXPECT_FALSE(verdict.passed) << pairs[wrong].name;
    EXPECT_EQ(verdict.message, expected.message);
    EXPECT_EQ(verdict.worst_where, expected.worst_where);
    EXPECT_DOUBLE_EQ(verdict.worst_error, expected.worst_error);
  }
}

TEST(Comparison, ABatchNamesTheFirstFailureThatWasAdded) {
  Comparison comparison;
  comparison.add_batched("small", matrix().flatten().add(1), matrix().flatten(), kTight);
  comparison.add("at once", matrix().add(1), matrix(), kTight);
  comparison.add_batched("missing", at::Tensor{}, matrix(), kTight);
  const Verification verdict = comparison.finish({});
  EXPECT_THAT(verdict.message, HasSubstr("small[0] is 2"));
  EXPECT_EQ(verdict.worst_where, "missing");
}

TEST(Comparison, FullBatchesAreComparedBeforeTheEnd) {
  const at::Tensor large = at::full({5 << 20}, 1.0F);  // 20 MiB
  at::Tensor changed = large.clone();
  Comparison comparison;
  for (int i = 0; i < 4; ++i) comparison.add_batched("full", changed, large, kTight);
  changed.fill_(2.0);
  comparison.add_batched("waits", changed, large, kTight);
  comparison.compare_waiting();
  changed.fill_(1.0);
  EXPECT_THAT(comparison.finish({}).message, HasSubstr("waits[0] is 2"));
}

/// Counts the operations of ATen that run while the object lives.
class CountedOperations {
 public:
  CountedOperations()
      : handle_{at::addThreadLocalCallback(
            at::RecordFunctionCallback([](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> {
              ++count;
              return nullptr;
            }).scopes({at::RecordScope::FUNCTION}))} {
    count = 0;
  }
  CountedOperations(const CountedOperations&) = delete;
  CountedOperations& operator=(const CountedOperations&) = delete;
  ~CountedOperations() { at::removeCallback(handle_); }
  static inline int count{};

 private:
  at::CallbackHandle handle_;
};

TEST(Comparison, ABatchTakesTheOperationsOfOneTensor) {
  const auto operations_of = [](int tensors) {
    const at::Tensor reference = matrix(), actual = matrix();
    const CountedOperations counted;
    Comparison comparison;
    for (int i = 0; i < tensors; ++i) comparison.add_batched("m", actual, reference, kTight);
    comparison.compare_waiting();
    return CountedOperations::count;
  };
  const int of_one = operations_of(1);
  EXPECT_GT(of_one, 20);
  EXPECT_LT(operations_of(32), of_one + 32 * 8);  // views of the inputs and of the results
}

at::Tensor numbers() { return at::arange(1, 7, at::TensorOptions{}.dtype(at::kFloat)).view({2, 3}); }

TEST(VerifyEqual, PassesForTheSameValues) {
  const Verification verdict = verify_equal("x", numbers(), numbers(), "itself");
  EXPECT_TRUE(verdict.passed);
  EXPECT_EQ(verdict.worst_error, 0.0);
  EXPECT_EQ(verdict.reference, "itself");
}

TEST(VerifyEqual, NamesTheFirstElementThatDiffersHoweverLittle) {
  at::Tensor actual = numbers();
  actual[1][1] = std::nextafter(5.0F, 6.0F);
  actual[1][2] = 7;
  const Verification verdict = verify_equal("x", actual, numbers(), "itself");
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.worst_error, kWorstErrorCap);
  EXPECT_EQ(verdict.worst_where, "x[4]");
  EXPECT_EQ(verdict.message, "x[4] is 5.00000048, but must be exactly 5 (bad elements: 2)");
}

TEST(VerifyEqual, NaNIsEqualToNothing) {
  at::Tensor actual = numbers();
  actual[0][0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(verify_equal("x", actual, actual, "itself").passed);
}

}  // namespace

}  // namespace tbench::model
