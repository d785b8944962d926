// Compares the norm's kernels with float64 formulas, in all types that they support, at widths with and without
// vectors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "support/device_array.hpp"
#include "tbench/kernels/rmsnorm.hpp"

namespace tbench::kernels {
namespace {

constexpr double kU = 0x1p-24, kEpsilon = 1e-5;

struct Extents {
  std::int64_t rows, width;
  std::int64_t offset{};  // offset of every array from an aligned address, in elements
};

const std::vector<Extents> kExtents{{1, 1},     {1, 8},     {7, 66},      {3, 131},      {33, 768},
                                    {40, 1600}, {5, 2560},  {700, 96},    {2, 5000},     {2, 5001},
                                    {1, 16384}, {5000, 16}, {12, 768, 1}, {12, 5000, 3}, {3, 33}};

class NormOnGpu : public testing::TestWithParam<NormTypes> {
 protected:
  void SetUp() override {
    if (is_without_gpu()) GTEST_SKIP() << "no GPU on this machine";
  }
  static const NormTypes& types() { return GetParam(); }
  static NormShape shape_of(const Extents& extents) {
    return {.rows = extents.rows, .width = extents.width, .types = types(), .epsilon = static_cast<float>(kEpsilon)};
  }
  /// Returns the float32 round-offs of a sum over a row and of the operations that follow it.
  static double roundoffs(const Extents& extents) { return 16 + std::sqrt(static_cast<double>(extents.width)); }
};

struct ForwardResult {
  Doubles sum, normed, rstd;
};

ForwardResult forward(const NormShape& shape, std::int64_t offset, const Doubles& x,
                      const std::optional<Doubles>& branch, const Doubles& weight) {
  const NormTypes& types = shape.types;
  const DeviceArray x_array{x, types.stream, offset}, weight_array{weight, types.weight, offset};
  const DeviceArray branch_array{branch.value_or(Doubles{}), types.branch, offset};
  const DeviceArray sum{branch ? std::ssize(x) : 0, types.stream, offset}, normed{std::ssize(x), types.branch, offset};
  const DeviceArray rstd{shape.rows, Precision::kFp32};
  norm_forward(shape,
               {.x = x_array.data(),
                .branch = branch ? branch_array.data() : nullptr,
                .weight = weight_array.data(),
                .sum = branch ? sum.data() : nullptr,
                .normed = normed.data(),
                .rstd = rstd.floats()},
               nullptr);
  expect_close("x", x_array.read(), x, [](std::size_t) { return 0.0; });
  return {.sum = branch ? sum.read() : x, .normed = normed.read(), .rstd = rstd.read()};
}

TEST_P(NormOnGpu, Forward) {
  for (const Extents& extents : kExtents) {
    for (const bool with_branch : {false, true}) {
      SCOPED_TRACE(fmt::format("{} x {} + {}, branch {}", extents.rows, extents.width, extents.offset, with_branch));
      const std::int64_t count = extents.rows * extents.width;
      const auto width = static_cast<std::size_t>(extents.width);
      const Doubles x = normal_values(count, types().stream, 1),
                    weight = normal_values(extents.width, types().weight, 3);
      std::optional<Doubles> branch;
      Doubles sums = x;
      if (with_branch) {
        branch = normal_values(count, types().branch, 2);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += (*branch)[i];
      }
      const ForwardResult result = forward(shape_of(extents), extents.offset, x, branch, weight);
      expect_close("sum", result.sum, sums, [&](std::size_t i) {
        return (round_off(types().stream) + kU) * std::abs(sums[i]) + least_error(types().stream);
      });
      Doubles rstd, normed;
      for (std::size_t row = 0; row < static_cast<std::size_t>(extents.rows); ++row) {
        double squares = 0;
        for (std::size_t i = row * width; i < (row + 1) * width; ++i) squares += result.sum[i] * result.sum[i];
        rstd.push_back(1 / std::sqrt(squares / static_cast<double>(width) + kEpsilon));
        for (std::size_t i = 0; i < width; ++i) normed.push_back(result.sum[row * width + i] * rstd[row] * weight[i]);
      }
      expect_close("rstd", result.rstd, rstd, [&](std::size_t i) { return roundoffs(extents) * kU * rstd[i]; });
      expect_close("normed", result.normed, normed, [&](std::size_t i) {
        return (1.01 * round_off(types().branch) + roundoffs(extents) * kU) * std::abs(normed[i]) +
               least_error(types().branch);
      });
    }
  }
}

struct BackwardInputs {
  Doubles sum, weight, rstd, dnormed, dsum;  // dsum may be empty: null
};

struct BackwardResult {
  Doubles dx, dbranch, dweight;
};

BackwardInputs backward_inputs(const NormShape& shape, bool with_dsum) {
  const std::int64_t count = shape.rows * shape.width;
  BackwardInputs inputs{.sum = normal_values(count, shape.types.stream, 4),
                        .weight = normal_values(shape.width, shape.types.weight, 5),
                        .rstd = {},
                        .dnormed = normal_values(count, shape.types.branch, 6),
                        .dsum = normal_values(with_dsum ? count : 0, shape.types.stream, 7)};
  // Any scale of a row is valid. This scale does not make the norm 1, so that the test finds a kernel that computes its
  // own scale.
  inputs.rstd = normal_values(shape.rows, Precision::kFp32, 8);
  for (double& rstd : inputs.rstd) rstd = 0.5 + std::abs(rstd);
  inputs.rstd = stored(inputs.rstd, Precision::kFp32);
  return inputs;
}

/// The inputs and outputs of a backward pass on the device.
struct Tensors {
  Tensors(const NormShape& shape, std::int64_t offset, const BackwardInputs& inputs)
      : sum{inputs.sum, shape.types.stream, offset},
        weight{inputs.weight, shape.types.weight, offset},
        rstd{inputs.rstd, Precision::kFp32},
        dnormed{inputs.dnormed, shape.types.branch, offset},
        dsum{inputs.dsum, shape.types.stream, offset},
        dx{shape.rows * shape.width, shape.types.stream, offset},
        dbranch{shape.rows * shape.width, shape.types.branch, offset},
        dweight{shape.width, shape.types.weight, offset} {}

  [[nodiscard]] NormBackward arguments(const DeviceArray& workspace) const {
    return {.sum = sum.data(),
            .weight = weight.data(),
            .rstd = rstd.floats(),
            .dnormed = dnormed.data(),
            .dsum = dsum.count() == 0 ? nullptr : dsum.data(),
            .dx = dx.data(),
            .dbranch = dbranch.data(),
            .dweight = dweight.data(),
            .workspace = workspace.floats()};
  }

  DeviceArray sum, weight, rstd, dnormed, dsum, dx, dbranch, dweight;
};

BackwardResult backward(const NormShape& shape, std::int64_t offset, const BackwardInputs& inputs) {
  const Tensors tensors{shape, offset, inputs};
  const DeviceArray workspace{norm_workspace_bytes(shape) / 4, Precision::kFp32};
  norm_backward(shape, tensors.arguments(workspace), nullptr);
  static_cast<void>(workspace.read());  // checks its guards
  return {.dx = tensors.dx.read(), .dbranch = tensors.dbranch.read(), .dweight = tensors.dweight.read()};
}

TEST_P(NormOnGpu, Backward) {
  for (const Extents& extents : kExtents) {
    for (const bool with_dsum : {false, true}) {
      SCOPED_TRACE(fmt::format("{} x {} + {}, dsum {}", extents.rows, extents.width, extents.offset, with_dsum));
      const NormShape shape = shape_of(extents);
      const BackwardInputs in = backward_inputs(shape, with_dsum);
      const BackwardResult result = backward(shape, extents.offset, in);
      const auto width = static_cast<std::size_t>(extents.width);
      Doubles dx(in.sum.size()), allowed(in.sum.size()), dweight(width), sizes(width);
      for (std::size_t row = 0; row < static_cast<std::size_t>(extents.rows); ++row) {
        double products = 0, product_sizes = 0;
        const auto normed = [&](std::size_t i) { return in.sum[row * width + i] * in.rstd[row]; };
        const auto slope = [&](std::size_t i) { return in.dnormed[row * width + i] * in.weight[i]; };
        for (std::size_t i = 0; i < width; ++i) {
          products += slope(i) * normed(i);
          product_sizes += std::abs(slope(i) * normed(i));
          dweight[i] += in.dnormed[row * width + i] * normed(i);
          sizes[i] += std::abs(in.dnormed[row * width + i] * normed(i));
        }
        for (std::size_t i = 0; i < width; ++i) {
          const std::size_t at = row * width + i;
          const double past = with_dsum ? in.dsum[at] : 0.0;
          dx[at] = in.rstd[row] * (slope(i) - normed(i) * products / static_cast<double>(width)) + past;
          const double terms = std::abs(slope(i)) + std::abs(normed(i)) * product_sizes / static_cast<double>(width);
          allowed[at] = kU * (roundoffs(extents) * in.rstd[row] * terms + 2 * std::abs(past)) +
                        1.01 * round_off(types().stream) * std::abs(dx[at]) + least_error(types().stream);
        }
      }
      expect_close("dx", result.dx, dx, [&](std::size_t i) { return allowed[i]; });
      expect_close("dbranch", result.dbranch, dx, [&](std::size_t i) {
        return allowed[i] + 1.01 * round_off(types().branch) * std::abs(dx[i]) + least_error(types().branch);
      });
      expect_close("dweight", result.dweight, dweight, [&](std::size_t i) {
        return 32 * kU * sizes[i] + 1.01 * round_off(types().weight) * std::abs(dweight[i]) +
               least_error(types().weight);
      });
    }
  }
}

TEST_P(NormOnGpu, TheSameBitsEveryTime) {
  const NormShape shape = shape_of({1000, 1600});
  const BackwardInputs inputs = backward_inputs(shape, true);
  const BackwardResult first = backward(shape, 0, inputs);
  for (int i = 0; i < 3; ++i) {
    const BackwardResult again = backward(shape, 0, inputs);
    EXPECT_EQ(again.dweight, first.dweight);
    EXPECT_EQ(again.dx, first.dx);
  }
}

TEST_P(NormOnGpu, SharesOfSeveralWeightsAreAddedUpLater) {
  for (const Extents& extents : {Extents{1000, 1600}, Extents{3, 33}, Extents{70, 768, 1}}) {
    const NormShape shape = shape_of(extents);
    const BackwardInputs inputs = backward_inputs(shape, true);
    const BackwardResult at_once = backward(shape, extents.offset, inputs);
    const Tensors tensors{shape, extents.offset, inputs};
    // There are more norms than fit into one launch, all with the same shares.
    const DeviceArray workspace{norm_workspace_bytes(shape) / 4, Precision::kFp32};
    NormBackward arguments = tensors.arguments(workspace);
    arguments.dweight = nullptr;
    norm_backward(shape, arguments, nullptr);
    std::vector<DeviceArray> dweights;
    std::vector<NormShares> norms;
    for (int i = 0; i < kNormsOfALaunch + 2; ++i) {
      dweights.emplace_back(shape.width, types().weight, extents.offset);
      norms.push_back({.workspace = workspace.floats(), .dweight = dweights.back().data()});
    }
    norm_weight_gradients(shape, norms, nullptr);
    EXPECT_EQ(tensors.dx.read(), at_once.dx);
    const Doubles first = dweights.front().read();
    expect_close("dweight", first, at_once.dweight, [&](std::size_t i) {
      return 32 * kU * static_cast<double>(shape.rows) + 2 * round_off(types().weight) * std::abs(first[i]);
    });
    for (const DeviceArray& dweight : dweights) EXPECT_EQ(dweight.read(), first);
  }
  norm_weight_gradients(shape_of({1, 8}), {}, nullptr);
}

TEST_P(NormOnGpu, WhatIsNotFiniteStaysInItsRow) {
  const NormShape shape = shape_of({9, 768});
  Doubles x = normal_values(9 * 768, types().stream, 9);
  x[3 * 768 + 700] = std::numeric_limits<double>::quiet_NaN();
  x[5 * 768] = std::numeric_limits<double>::infinity();
  const ForwardResult result = forward(shape, 0, x, std::nullopt, Doubles(768, 1.0));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t row = i / 768;
    if (row == 3) {
      ASSERT_TRUE(std::isnan(result.normed[i])) << i;
    } else if (row == 5) {  // an infinite norm gives 0, and NaN for the infinite element itself
      ASSERT_TRUE(i == 5 * 768 ? std::isnan(result.normed[i]) : result.normed[i] == 0) << i;
    } else {
      ASSERT_TRUE(std::isfinite(result.normed[i])) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, NormOnGpu,
                         testing::Values(NormTypes{Precision::kFp32, Precision::kFp32, Precision::kFp32},
                                         NormTypes{Precision::kBf16, Precision::kBf16, Precision::kBf16},
                                         NormTypes{Precision::kFp16, Precision::kFp16, Precision::kFp16},
                                         NormTypes{Precision::kFp32, Precision::kBf16, Precision::kFp32},
                                         NormTypes{Precision::kFp32, Precision::kFp16, Precision::kFp32}),
                         [](const auto& run) {
                           return fmt::format("{}_{}", to_string(run.param.stream), to_string(run.param.branch));
                         });

}  // namespace
}  // namespace tbench::kernels
