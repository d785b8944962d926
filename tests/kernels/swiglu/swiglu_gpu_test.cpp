// Compares SwiGLU's kernels with float64 formulas: two matrices and one product that holds both, with and without
// vectors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/device_array.hpp"
#include "tbench/kernels/swiglu.hpp"

namespace tbench::kernels {
namespace {

constexpr double kU = 0x1p-24;

struct Extents {
  std::int64_t rows, width;
  std::int64_t offset{};  // in elements
};

const std::vector<Extents> kExtents{{1, 1},    {1, 8},    {3, 131},     {7, 136},    {2, 4096},
                                    {33, 768}, {5, 6400}, {129, 24, 0}, {5, 640, 1}, {4, 512, 4}};

class SwigluOnGpu : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    if (is_without_gpu()) GTEST_SKIP() << "no GPU on this machine";
  }

  static std::string text(const Extents& e) { return fmt::format("{} x {} + {}", e.rows, e.width, e.offset); }
  static double logistic(double x) { return 1 / (1 + std::exp(-x)); }
  /// Returns the relative error, in round-offs, of an exponential and of the operations after it. A fast exponential
  /// has the error of a rounded product, |x| log2(e).
  static double roundoffs(double gate) { return 12 + 3 * std::abs(gate); }
  /// @param of_s  factor of the logistic function, which float32 may round to 0 if it is below 2^-126
  static double error_of(double value, double float_error, double of_s) {
    return float_error + 0x1p-125 * std::abs(of_s) + 1.01 * round_off(GetParam()) * std::abs(value) +
           least_error(GetParam());
  }

  /// Runs on one product, in whose rows gate and up are next to each other.
  static void run(const Extents& extents, const Doubles& product) {
    const std::int64_t count = extents.rows * extents.width;
    const SwigluShape shape{.rows = extents.rows, .width = extents.width, .precision = GetParam()};
    const Doubles dh = normal_values(count, GetParam(), 2);
    const DeviceArray inputs{product, GetParam(), extents.offset}, dh_array{dh, GetParam(), extents.offset};
    const DeviceArray h{count, GetParam(), extents.offset}, h_again{count, GetParam(), extents.offset};
    const DeviceArray gradients{2 * count, GetParam(), extents.offset};
    const auto pair_of = [&](const DeviceArray& array) {
      auto* const gate = static_cast<std::byte*>(array.data());
      const auto bytes = static_cast<std::size_t>(extents.width) * (GetParam() == Precision::kFp32 ? 4 : 2);
      return GatedPair<void*>{.gate = gate, .up = gate + bytes, .stride = 2 * extents.width};
    };
    const GatedPair<void*> of_inputs = pair_of(inputs);
    const GatedPair<const void*> pair{.gate = of_inputs.gate, .up = of_inputs.up, .stride = of_inputs.stride};
    swiglu_forward(shape, pair, h.data(), nullptr);
    swiglu_backward(
        shape, {.inputs = pair, .dh = dh_array.data(), .gradients = pair_of(gradients), .h = h_again.data()}, nullptr);
    EXPECT_EQ(inputs.read().size(), product.size());
    expect(extents, product, dh, h.read(), h_again.read(), gradients.read());
    // Runs in place and without h.
    swiglu_backward(shape, {.inputs = pair, .dh = dh_array.data(), .gradients = of_inputs, .h = nullptr}, nullptr);
    expect(extents, product, dh, h.read(), h.read(), inputs.read());
  }

  static void expect(const Extents& extents, const Doubles& product, const Doubles& dh, const Doubles& h,
                     const Doubles& h_again, const Doubles& gradients) {
    Doubles expected_h, h_allowed, expected(product.size()), allowed(product.size());
    const auto width = static_cast<std::size_t>(extents.width);
    for (std::size_t i = 0; i < dh.size(); ++i) {
      const std::size_t at = i / width * 2 * width + i % width;
      const double gate = product[at], up = product[at + width], s = logistic(gate), error = roundoffs(gate) * kU;
      expected_h.push_back(gate * s * up);
      h_allowed.push_back(error_of(expected_h[i], error * std::abs(expected_h[i]), gate * up));
      expected[at] = dh[i] * up * (s + gate * s * (1 - s));
      allowed[at] =
          error_of(expected[at], error * std::abs(dh[i] * up) * (s + std::abs(gate) * s * (1 - s) + std::abs(gate * s)),
                   dh[i] * up * (1 + std::abs(gate)));
      expected[at + width] = dh[i] * gate * s;
      allowed[at + width] = error_of(expected[at + width], error * std::abs(expected[at + width]), dh[i] * gate);
    }
    expect_close("h", h, expected_h, [&](std::size_t i) { return h_allowed[i]; });
    expect_close("h of the backward", h_again, expected_h, [&](std::size_t i) { return h_allowed[i]; });
    expect_close("gradients", gradients, expected, [&](std::size_t i) { return allowed[i]; });
  }
};

TEST_P(SwigluOnGpu, OneProduct) {
  for (const Extents& extents : kExtents) {
    SCOPED_TRACE(text(extents));
    run(extents, normal_values(2 * extents.rows * extents.width, GetParam(), 1));
  }
}

TEST_P(SwigluOnGpu, LargeGates) {
  Doubles product = normal_values(2 * 64, GetParam(), 3);
  const Doubles gates{20, -20, 80, -80, 87.5, -87.5, 89, -89, 100, -100, 1000, -1000, 0, -0.0};
  for (std::size_t i = 0; i < gates.size(); ++i) product[i] = gates[i];
  run({1, 64}, stored(product, GetParam()));
}

TEST_P(SwigluOnGpu, TwoMatricesOfRowsApart) {
  // Rows have 40 elements and are 48 apart in each matrix.
  constexpr std::int64_t kRows = 3, kWidth = 40, kStride = 48;
  const Doubles gate = normal_values(kRows * kStride, GetParam(), 4),
                up = normal_values(kRows * kStride, GetParam(), 5);
  const DeviceArray gate_array{gate, GetParam()}, up_array{up, GetParam()}, h{kRows * kWidth, GetParam()};
  swiglu_forward({.rows = kRows, .width = kWidth, .precision = GetParam()},
                 {.gate = gate_array.data(), .up = up_array.data(), .stride = kStride}, h.data(), nullptr);
  Doubles expected;
  for (std::size_t i = 0; i < kRows * kWidth; ++i) {
    const std::size_t at = i / kWidth * kStride + i % kWidth;
    expected.push_back(gate[at] * logistic(gate[at]) * up[at]);
  }
  expect_close("h", h.read(), expected,
               [&](std::size_t i) { return error_of(expected[i], 30 * kU * std::abs(expected[i]), 0.0); });
}

TEST_P(SwigluOnGpu, WhatIsNotFiniteStaysInItsElement) {
  Doubles product = normal_values(2 * 2 * 64, GetParam(), 6);
  product[5] = std::numeric_limits<double>::quiet_NaN();        // a gate in row 0
  product[64 + 9] = std::numeric_limits<double>::infinity();    // an up in row 0
  product[128 + 70] = std::numeric_limits<double>::infinity();  // an up in row 1
  run({2, 64}, product);
}

INSTANTIATE_TEST_SUITE_P(Precisions, SwigluOnGpu, testing::Values(Precision::kFp32, Precision::kBf16, Precision::kFp16),
                         [](const auto& run) { return std::string{to_string(run.param)}; });

}  // namespace
}  // namespace tbench::kernels
