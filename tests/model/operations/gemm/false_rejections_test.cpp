// Tests how often the verification of a matrix product rejects a correct one. The products are computed by ATen. For
// the precisions and summation orders that a CPU does not have, the test imitates the least exact correct product.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "model/operations/gemm/verify.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

at::Tensor exact_input(const at::Tensor& values, const at::Tensor& scale) {
  return scale.defined() ? values.to(at::kDouble).mul(scale.to(at::kDouble)) : values.to(at::kDouble);
}

/// Adds one term after the other in float32.
at::Tensor float32_in_turn(const GemmOperands& operands) {
  at::Tensor sums = at::zeros_like(operands.y);
  for (std::int64_t i = 0; i < operands.config.k; ++i) {
    sums.add_(operands.x.narrow(1, i, 1).mul(operands.w.narrow(1, i, 1).t()));
  }
  return sums;
}

/// Splits k as finely as cuBLASLt does, rounds each split's sum to the output's type, and adds the sums in that type.
at::Tensor split_in_turn(const GemmOperands& operands) {
  constexpr std::int64_t kSplitTerms = 32;
  const at::Tensor x = exact_input(operands.x, operands.x_scale), w = exact_input(operands.w, operands.w_scale);
  const auto split = [&](std::int64_t first, std::int64_t count) {
    return at::mm(x.narrow(1, first, count), w.narrow(1, first, count).t()).to(operands.y.scalar_type());
  };
  const std::int64_t k = operands.config.k, splits = std::max<std::int64_t>(1, k / kSplitTerms);
  at::Tensor sums = split(0, splits == 1 ? k : kSplitTerms);
  for (std::int64_t i = 1; i < splits; ++i) {
    sums.add_(split(i * kSplitTerms, i + 1 == splits ? k - i * kSplitTerms : kSplitTerms));
  }
  return sums;
}

at::Tensor tf32_cut_off(const GemmOperands& operands) {
  constexpr std::int64_t kUpper = ~std::int64_t{0x1fff};
  const auto cut = [](const at::Tensor& values) {
    return values.clone().view(at::kInt).bitwise_and(kUpper).view(at::kFloat).to(at::kDouble);
  };
  return at::mm(cut(operands.x), cut(operands.w).t());
}

struct RightProduct {
  GemmPrecision precision;
  at::Tensor (*y)(const GemmOperands& operands);
};

constexpr std::array kRightProducts{
    RightProduct{GemmPrecision::kFp32, [](const GemmOperands& o) { return at::mm(o.x, o.w.t()); }},
    RightProduct{GemmPrecision::kFp32, &float32_in_turn},
    RightProduct{GemmPrecision::kTf32, &tf32_cut_off},
    RightProduct{GemmPrecision::kBf16, [](const GemmOperands& o) { return at::mm(o.x, o.w.t()); }},
    RightProduct{GemmPrecision::kBf16, &split_in_turn},
    RightProduct{GemmPrecision::kFp16, &split_in_turn},
    RightProduct{GemmPrecision::kFp8E4m3, &split_in_turn}};

struct Extents {
  std::int64_t m, n, k;
};
constexpr std::array kExtents{Extents{1, 1, 1},    Extents{1, 16, 16},   Extents{37, 53, 29},
                              Extents{64, 48, 64}, Extents{96, 80, 128}, Extents{8, 130, 320}};

class Imitated final : public GemmProduct {
 public:
  Imitated(const GemmOperands& operands, const RightProduct& right) : operands_{operands}, right_{right} {}
  void launch() override { operands_.y.copy_(right_.y(operands_)); }

 private:
  GemmOperands operands_;
  const RightProduct& right_;
};

TEST(GemmFalseRejections, AtMostOneInAThousandSeeds) {
  const at::NoGradGuard no_grad;
  const OneThread one_thread;
  std::uint64_t rejections = 0;
  double worst = 0;
  const std::uint64_t seeds = false_rejection_seeds();
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const RightProduct& right = kRightProducts.at(seed % kRightProducts.size());
    const Extents& extents = kExtents.at(seed / kRightProducts.size() % kExtents.size());
    GemmOperands operands = make_gemm_operands({.m = extents.m,
                                                .n = extents.n,
                                                .k = extents.k,
                                                .precision = right.precision,
                                                .impl = "imitated",
                                                .device = DeviceKind::kCpu,
                                                .seed = seed});
    Imitated product{operands, right};
    const Verification verdict = verify_gemm_product(operands, product, seed).verification;
    worst = std::max(worst, verdict.worst_error);
    if (verdict.passed) continue;
    ++rejections;
    std::cout << fmt::format("seed {}, {}: {}\n", seed, to_string(right.precision), verdict.message);
  }
  std::cout << fmt::format("{} of {} seeds rejected; the largest error is {:.2f} of its tolerance\n", rejections, seeds,
                           worst);
  EXPECT_LE(rejections, seeds / 1000);
}

/// Large products are also checked by signed sums, which small ones do not use.
TEST(GemmFalseRejections, NoneAmongLargeProducts) {
  const at::NoGradGuard no_grad;
  for (const GemmPrecision precision : {GemmPrecision::kFp32, GemmPrecision::kBf16}) {
    GemmOperands operands = make_gemm_operands({.m = 1024,
                                                .n = 2048,
                                                .k = 256,
                                                .precision = precision,
                                                .impl = "imitated",
                                                .device = DeviceKind::kCpu,
                                                .seed = 3});
    Imitated product{operands, {precision, [](const GemmOperands& o) { return at::mm(o.x, o.w.t()); }}};
    const Verification verdict = verify_gemm_product(operands, product, 4).verification;
    EXPECT_TRUE(verdict.passed) << verdict.message;
    EXPECT_GT(verdict.worst_error, 0.05);
  }
}

}  // namespace
}  // namespace tbench::model
