// Tests that the check finds faults injected into products that are otherwise correct, in every precision. The correct
// product on the CPU is computed in float64 and rounded.
#include "model/operations/gemm/verify.hpp"

#include <ATen/ops/mm.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>

namespace tbench::model {
namespace {

using testing::HasSubstr;

at::Tensor in_float64(const at::Tensor& values, const at::Tensor& scale) {
  return scale.defined() ? values.to(at::kDouble).mul(scale.to(at::kDouble)) : values.to(at::kDouble);
}

/// Truncates float32 to TF32 by clearing its lower 13 bits, as a tensor core may read it.
at::Tensor cut_to_tf32(const at::Tensor& values) {
  constexpr std::int64_t kUpper = ~std::int64_t{0x1fff};
  return values.clone().view(at::kInt).bitwise_and(kUpper).view(at::kFloat);
}

GemmOperands right_product(GemmPrecision precision, std::int64_t m = 70, std::int64_t n = 48, std::int64_t k = 96) {
  GemmOperands operands = make_gemm_operands(
      {.m = m, .n = n, .k = k, .precision = precision, .impl = "aten", .device = DeviceKind::kCpu, .seed = 1});
  const bool is_tf32 = precision == GemmPrecision::kTf32;
  const at::Tensor x = is_tf32 ? cut_to_tf32(operands.x) : operands.x;
  const at::Tensor w = is_tf32 ? cut_to_tf32(operands.w) : operands.w;
  operands.y.copy_(at::mm(in_float64(x, operands.x_scale), in_float64(w, operands.w_scale).t()));
  return operands;
}

class EveryGemmPrecision : public testing::TestWithParam<GemmPrecision> {};

INSTANTIATE_TEST_SUITE_P(All, EveryGemmPrecision, testing::ValuesIn(kAllGemmPrecisions),
                         [](const auto& run) { return std::string{to_string(run.param)}; });

TEST_P(EveryGemmPrecision, ARightProductPasses) {
  for (const std::int64_t k : {1, 2, 16, 96, 2000}) {
    const GemmVerdict verdict = verify_gemm(right_product(GetParam(), 70, 48, k));
    EXPECT_TRUE(verdict.verification.passed) << k << ": " << verdict.verification.message;
    EXPECT_THAT(verdict.verification.reference, HasSubstr("float64"));
  }
}

TEST_P(EveryGemmPrecision, AWrongElementIsFoundWithItsIndex) {
  GemmOperands operands = right_product(GetParam());
  operands.y[41][7] += 5.0;  // half the rms of a sum of 96 terms
  const GemmVerdict verdict = verify_gemm(operands);
  EXPECT_FALSE(verdict.verification.passed);
  EXPECT_THAT(verdict.verification.message, HasSubstr("y[41, 7] is"));
}

TEST_P(EveryGemmPrecision, AnElementThatWasNotWrittenIsFound) {
  GemmOperands operands = right_product(GetParam());
  operands.y[69][47] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(verify_gemm(operands).verification.passed);
}

TEST_P(EveryGemmPrecision, ALastTermLeftOutIsFound) {
  GemmOperands operands = right_product(GetParam());
  const at::Tensor last_x = in_float64(operands.x, operands.x_scale).narrow(1, 95, 1);
  const at::Tensor last_w = in_float64(operands.w, operands.w_scale).narrow(1, 95, 1);
  operands.y.sub_(at::mm(last_x, last_w.t()).to(operands.y.scalar_type()));
  EXPECT_FALSE(verify_gemm(operands).verification.passed);
}

TEST_P(EveryGemmPrecision, ATransposedOperandIsFound) {
  GemmOperands operands = right_product(GetParam(), 64, 64, 64);
  operands.y.copy_(at::mm(in_float64(operands.x, operands.x_scale), in_float64(operands.w, operands.w_scale)));
  EXPECT_FALSE(verify_gemm(operands).verification.passed);
}

TEST(VerifyGemm, AWrongScaleIsFound) {
  GemmOperands operands = right_product(GemmPrecision::kFp8E4m3);
  operands.x_scale = operands.x_scale.mul(1.05);
  EXPECT_FALSE(verify_gemm(operands).verification.passed);
}

TEST(VerifyGemm, Tf32InPlaceOfFp32IsFoundHoweverLongTheSums) {
  for (const std::int64_t k : {16, 96, 4096, 65536}) {
    GemmOperands operands = right_product(GemmPrecision::kTf32, 16, 16, k);
    EXPECT_TRUE(verify_gemm(operands).verification.passed) << k;
    operands.config.precision = GemmPrecision::kFp32;
    EXPECT_FALSE(verify_gemm(operands).verification.passed) << k;
  }
}

TEST(VerifyGemm, SixteenBitSumsInPlaceOfFloat32OnesAreFound) {
  GemmOperands operands = right_product(GemmPrecision::kFp16, 32, 32, 4096);
  at::Tensor sums = at::mm(operands.x.narrow(1, 0, 1).to(at::kDouble), operands.w.narrow(1, 0, 1).to(at::kDouble).t());
  for (std::int64_t i = 1; i < 4096; ++i) {
    sums = sums.to(at::kHalf).to(at::kDouble);
    sums.addmm_(operands.x.narrow(1, i, 1).to(at::kDouble), operands.w.narrow(1, i, 1).to(at::kDouble).t());
  }
  operands.y.copy_(sums);
  EXPECT_FALSE(verify_gemm(operands).verification.passed);
}

TEST(VerifyGemm, TheRelativeErrorIsThatOfTheNorms) {
  GemmOperands operands = right_product(GemmPrecision::kFp32);
  operands.y.mul_(1.25);  // exact in float32, except for the rounding
  EXPECT_NEAR(verify_gemm(operands).relative_error, 0.25, 1e-6);
}

// The products exceed the CPU's limit of 2^28 multiplications: 1024 * 2048 * 256 = 2^29.
constexpr std::int64_t kLargeM = 1024, kLargeN = 2048, kLargeK = 256;

TEST(VerifyGemm, OfALargeProductRowsAndColumnsAreChecked) {
  GemmOperands operands = right_product(GemmPrecision::kFp32, kLargeM, kLargeN, kLargeK);
  const CheckedPart part = checked_part(operands.config);
  ASSERT_FALSE(part.whole);
  // 2^28 / 256 / 3072 = 341 lines: every 4th of 1024 rows, every 7th of 2048 columns
  EXPECT_EQ(part.rows.step, 4);
  EXPECT_EQ(part.columns.step, 7);
  EXPECT_LT(part.rows.begin, 4);
  EXPECT_LT(part.columns.begin, 7);
  const GemmVerdict right = verify_gemm(operands);
  EXPECT_TRUE(right.verification.passed) << right.verification.message;
  EXPECT_THAT(right.verification.reference, HasSubstr("every 4th row"));
  EXPECT_THAT(right.verification.reference, HasSubstr("every 7th column"));
  EXPECT_LT(right.relative_error, 1e-7);

  const std::int64_t row = part.rows.begin + 3 * part.rows.step, column = part.columns.begin + 5 * part.columns.step;
  const auto failure_of = [&](std::int64_t i, std::int64_t j, double value) {
    GemmOperands faulty = operands;
    faulty.y = operands.y.clone();
    faulty.y[i][j] = value;
    const GemmVerdict verdict = verify_gemm(faulty);
    return verdict.verification.passed ? std::string{} : verdict.verification.message;
  };
  EXPECT_THAT(failure_of(row, column + 1, 1e3),
              HasSubstr("y of rows " + std::to_string(part.rows.begin) + " + 4 i[3, "));
  EXPECT_THAT(failure_of(row + 1, column, 1e3), HasSubstr("transposed[5, "));
  // The next element is in no checked row and in no checked column, so the row's signed sum must find it.
  const auto in_sum = HasSubstr(fmt::format("y r of random signs r[{}]", row + 1));
  EXPECT_THAT(failure_of(row + 1, column + 1, 1e3), in_sum);
  EXPECT_THAT(failure_of(row + 1, column + 1, std::numeric_limits<double>::infinity()), in_sum);
  const double value = operands.y[row + 1][column + 1].item<double>();
  EXPECT_THAT(failure_of(row + 1, column + 1, value + 0.1), in_sum);  // the rms is 16
  EXPECT_EQ(failure_of(row + 1, column + 1, value + 1e-4), "");
}

TEST(CheckedPart, AtLeastOneRowAndOneColumn) {
  const CheckedPart part = checked_part({.m = 1 << 20,
                                         .n = 1 << 20,
                                         .k = 1 << 20,
                                         .precision = GemmPrecision::kBf16,
                                         .impl = "aten",
                                         .device = DeviceKind::kCpu,
                                         .seed = 5});
  EXPECT_EQ(part.rows.step, 1 << 20);
  EXPECT_EQ(part.columns.step, 1 << 20);
  EXPECT_NE(part.rows.begin, part.columns.begin);
}

TEST(CheckedPart, FollowsTheSeed) {
  const auto part = [](std::uint64_t seed) {
    return checked_part({.m = 16384,
                         .n = 16384,
                         .k = 16384,
                         .precision = GemmPrecision::kBf16,
                         .impl = "aten",
                         .device = DeviceKind::kCuda,
                         .seed = seed});
  };
  EXPECT_EQ(part(1).rows.begin, part(1).rows.begin);
  // 2^36 / 2^14 / 2^15 = 128 rows of 16384
  EXPECT_EQ(part(1).rows.step, 128);
  EXPECT_TRUE(part(1).rows.begin != part(2).rows.begin || part(1).columns.begin != part(2).columns.begin);
}

/// Makes its own y, which is correct, has another shape, or is not written.
class OwnProduct final : public GemmProduct {
 public:
  enum class Kind { kRight, kAnotherShape, kNotWritten };
  OwnProduct(const GemmOperands& operands, Kind kind) : x_{operands.x}, w_{operands.w}, kind_{kind} {}
  void launch() override {
    y_.reset();
    if (kind_ == Kind::kRight) y_ = at::mm(x_, w_.t());
    if (kind_ == Kind::kAnotherShape) y_ = at::mm(w_, x_.t());
    if (kind_ == Kind::kNotWritten) y_ = before_.defined() ? before_ : at::mm(x_, w_.t());
    before_ = y_;
  }
  [[nodiscard]] bool makes_y() const override { return true; }
  [[nodiscard]] at::Tensor take_y() override { return std::exchange(y_, {}); }

 private:
  at::Tensor x_, w_, y_, before_;
  Kind kind_;
};

TEST(VerifyGemmProduct, AProductMayMakeItsOwnY) {
  GemmOperands operands = right_product(GemmPrecision::kFp32);
  operands.y.reset();
  const auto verdict_of = [&](OwnProduct::Kind kind, std::uint64_t seed) {
    OwnProduct product{operands, kind};
    return verify_gemm_product(operands, product, seed).verification;
  };
  for (const std::uint64_t seed : {1, 2}) EXPECT_TRUE(verdict_of(OwnProduct::Kind::kRight, seed).passed);
  EXPECT_FALSE(operands.y.defined());
  EXPECT_FALSE(verdict_of(OwnProduct::Kind::kNotWritten, 2).passed);
  const Verification another_shape = verdict_of(OwnProduct::Kind::kAnotherShape, 2);
  EXPECT_FALSE(another_shape.passed);
  EXPECT_EQ(another_shape.message, "y: its shape is [48, 70], the reference's is [70, 48]");
}

}  // namespace
}  // namespace tbench::model
