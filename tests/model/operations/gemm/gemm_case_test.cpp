// Tests matrix products on the CPU: what runs is verified, what cannot run has a reason, work and bytes equal a count
// by hand.
#include "tbench/model/gemm_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <filesystem>
#include <set>
#include <stdexcept>
#include <tuple>

#include "model/operations/gemm/implementation.hpp"
#include "tbench/core/error.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

GemmConfig cpu_gemm(std::int64_t m, std::int64_t n, std::int64_t k, GemmPrecision precision,
                    const std::string& impl = "aten") {
  return {.m = m, .n = n, .k = k, .precision = precision, .impl = impl, .device = DeviceKind::kCpu, .seed = 1};
}

TEST(GemmPrecision, NamesAreReadBack) {
  for (const GemmPrecision precision : kAllGemmPrecisions) {
    EXPECT_EQ(parse_gemm_precision(to_string(precision)), precision);
    const auto common = common_precision(precision);
    EXPECT_EQ(common.has_value(), precision != GemmPrecision::kFp8E4m3);
    EXPECT_EQ(common ? to_string(*common) : "fp8_e4m3", to_string(precision));
  }
  EXPECT_FALSE(parse_gemm_precision("fp8"));
}

class EveryCpuGemm : public testing::TestWithParam<std::tuple<std::int64_t, std::int64_t, std::int64_t>> {};

TEST_P(EveryCpuGemm, VerifiesAndCountsItsError) {
  const auto [m, n, k] = GetParam();
  for (const auto precision : {GemmPrecision::kFp32, GemmPrecision::kBf16}) {
    const auto gemm = make_gemm_case(cpu_gemm(m, n, k, precision));
    ASSERT_EQ(gemm->unsupported_reason(), std::nullopt);
    gemm->build();
    const Verification verdict = gemm->verify();
    EXPECT_TRUE(verdict.passed) << verdict.message;
    EXPECT_THAT(verdict.reference, HasSubstr("float64"));
    launch(*gemm);
    // bf16 rounds the output to 8 bits, with an error of at most 2^-8. The norm of many such errors is about 2^-9.3 of
    // the norm of the outputs.
    const double error = gemm->counters().at("relative_error");
    if (precision == GemmPrecision::kBf16) {
      EXPECT_LT(error, 0x1p-8);
      EXPECT_GT(error, m * n > 100 ? 0x1p-10 : -1.0);
    } else {
      EXPECT_LT(error, 0x1p-16);
    }
    EXPECT_TRUE(gemm->labels().empty());
    const auto again = gemm->verify_again();
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->passed) << again->message;
    EXPECT_EQ(gemm->counters().at("relative_error"), error);  // the error on the data that are timed
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, EveryCpuGemm,
                         testing::Values(std::tuple{1, 1, 1}, std::tuple{1, 7, 3}, std::tuple{37, 53, 29},
                                         std::tuple{64, 96, 128}, std::tuple{3, 2, 4001}, std::tuple{257, 1, 65}));

std::string refusal(const GemmConfig& config) { return make_gemm_case(config)->unsupported_reason().value_or(""); }

TEST(Gemm, WhatACpuCannotRunSaysWhy) {
  EXPECT_THAT(refusal(cpu_gemm(16, 16, 16, GemmPrecision::kTf32)), HasSubstr("TF32"));
  EXPECT_THAT(refusal(cpu_gemm(16, 16, 16, GemmPrecision::kFp16)), HasSubstr("fp16"));
  EXPECT_THAT(refusal(cpu_gemm(16, 16, 16, GemmPrecision::kFp8E4m3)), HasSubstr("fp8_e4m3 is measured on GPUs"));
  for (const auto* impl : {"cublaslt_heuristic", "cublaslt_best"}) {
    EXPECT_THAT(refusal(cpu_gemm(16, 16, 16, GemmPrecision::kFp32, impl)), HasSubstr("cuBLASLt"));
  }
}

TEST(Gemm, WorkIsTwoOperationsATerm) {
  // 2 * 2048 * 10240 * 2560
  const Work work = make_gemm_case(cpu_gemm(2048, 10240, 2560, GemmPrecision::kFp8E4m3))->work();
  EXPECT_EQ(work.flop.value, 107'374'182'400.0);
  EXPECT_EQ(work.bytes, 0);
}

TEST(Gemm, MinBytesAreThoseOfTheThreeMatrices) {
  // x has 3 * 7 elements, w has 5 * 7, and y has 3 * 5.
  const auto least = [](GemmPrecision precision) { return make_gemm_case(cpu_gemm(3, 5, 7, precision))->min_bytes(); };
  EXPECT_EQ(least(GemmPrecision::kFp32), (21 + 35 + 15) * 4);
  EXPECT_EQ(least(GemmPrecision::kBf16), (21 + 35 + 15) * 2);
  EXPECT_EQ(least(GemmPrecision::kFp8E4m3), 21 + 35 + 15 * 2);
}

TEST(Gemm, NonsenseIsAUsageErrorThatNamesIt) {
  EXPECT_THROW(static_cast<void>(make_gemm_case(cpu_gemm(0, 1, 1, GemmPrecision::kFp32))), UsageError);
  try {
    static_cast<void>(make_gemm_case(cpu_gemm(1, 1, 1, GemmPrecision::kFp32, "cublas")));
    FAIL() << "an unknown implementation was taken";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("impl:cublas: unknown; expected one of aten, cublaslt_heuristic"));
  }
}

TEST(Gemm, LaunchBeforeBuildIsExplained) {
  const auto gemm = make_gemm_case(cpu_gemm(1, 1, 1, GemmPrecision::kFp32));
  EXPECT_THROW(launch(*gemm), std::logic_error);
}

TEST(GemmOperands, AreDifferentNormalValuesOfTheSeed) {
  GemmConfig config = cpu_gemm(64, 64, 256, GemmPrecision::kFp32);
  const GemmOperands first = make_gemm_operands(config);
  EXPECT_TRUE(first.x.equal(make_gemm_operands(config).x));
  EXPECT_FALSE(first.x.equal(first.w));
  EXPECT_NEAR(first.x.std().item<double>(), 1.0, 0.05);
  config.seed = 2;
  EXPECT_FALSE(first.x.equal(make_gemm_operands(config).x));
}

TEST(GemmOperands, AreRefilledWhereTheyLie) {
  for (const GemmPrecision precision : kAllGemmPrecisions) {
    GemmConfig config = cpu_gemm(64, 48, 32, precision);
    GemmOperands operands = make_gemm_operands(config);
    const GemmOperands first = operands;
    config.seed = 2;
    const GemmOperands other = make_gemm_operands(config);
    fill_gemm_operands(operands, 2);
    EXPECT_EQ(operands.x.data_ptr(), first.x.data_ptr());
    EXPECT_EQ(operands.w.data_ptr(), first.w.data_ptr());
    EXPECT_TRUE(first.x.view(at::kByte).equal(other.x.view(at::kByte))) << to_string(precision);
    EXPECT_EQ(operands.config.seed, 2U);
    EXPECT_EQ(changed_gemm_operand(operands), std::nullopt);
    operands.w[47][31] = 1.0;
    EXPECT_EQ(changed_gemm_operand(operands), "w");
  }
}

TEST(GemmOperands, Fp8HasScalesThatUseItsWholeRange) {
  const GemmConfig config = cpu_gemm(64, 32, 256, GemmPrecision::kFp8E4m3);
  const GemmOperands scaled = make_gemm_operands(config);
  const GemmOperands plain = make_gemm_operands(cpu_gemm(64, 32, 256, GemmPrecision::kFp32));
  EXPECT_EQ(scaled.x.scalar_type(), at::kFloat8_e4m3fn);
  EXPECT_EQ(scaled.y.scalar_type(), at::kBFloat16);
  EXPECT_EQ(scaled.x.to(at::kFloat).abs().amax().item<float>(), 448.0F);
  EXPECT_NE(scaled.x_scale.item<float>(), scaled.w_scale.item<float>());
  // The error of a normal e4m3 number is at most 2^-4 of it; the error of a subnormal one is at most 2^-10.
  const at::Tensor off = scaled.x.to(at::kFloat).mul(scaled.x_scale).sub(plain.x).abs();
  EXPECT_TRUE(off.le(plain.x.abs().mul(0x1.001p-4).add(scaled.x_scale.mul(0x1p-10))).all().item<bool>());
}

int note_cublas(dl_phdr_info* info, std::size_t, void* folders) {
  const std::filesystem::path file{info->dlpi_name};
  if (file.filename().string().starts_with("libcublas")) {
    static_cast<std::set<std::string>*>(folders)->insert(
        std::filesystem::canonical(file.parent_path() / "libcublasLt.so.13").string());
  }
  return 0;
}

TEST(CublasLibrary, IsTheOneThatComesWithLibTorchsCublas) {
  // Only LibTorch needs libcublas.so. Our code also needs libcublasLt.so.
  std::set<std::string> libraries;
  dl_iterate_phdr(&note_cublas, &libraries);
  EXPECT_EQ(libraries.size(), 1U) << testing::PrintToString(libraries);
}

}  // namespace
}  // namespace tbench::model
