// Compares the kernels of cross entropy with float64 formulas: rows in registers and rows that are read twice, in place
// and not, masked tokens, and targets outside the vocabulary.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "support/device_array.hpp"
#include "tbench/kernels/cross_entropy.hpp"

namespace tbench::kernels {
namespace {

constexpr double kU = 0x1p-24;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Rows {
  std::int64_t rows, width;
  std::int64_t offset{};  // in elements
};

const std::vector<Rows> kRows{{1, 1},     {1, 8},         {3, 7},      {2, 1000},   {5, 10'000}, {3, 10'001},
                              {700, 264}, {1, 32'768},    {1, 32'776}, {1, 65'536}, {2, 70'000}, {2, 4096},
                              {3, 8192},  {3, 10'000, 1}, {2, 512, 4}, {2, 20'480}};

class CrossEntropyOnGpu : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    if (is_without_gpu()) GTEST_SKIP() << "no GPU on this machine";
  }

  struct Options {
    double scale{};  // on the device; 0: none
    double factor{1};
    bool in_place{true};
  };

  static std::vector<std::int64_t> some_targets(const Rows& rows) {
    std::vector<std::int64_t> targets;
    for (std::int64_t row = 0; row < rows.rows; ++row) targets.push_back((row * 7919 + rows.width - 1) % rows.width);
    return targets;
  }

  static void run(const Rows& rows, const Doubles& logits, const std::vector<std::int64_t>& targets,
                  const Options& options) {
    const DeviceBytes target_bytes{targets.size() * sizeof(std::int64_t)};
    TBENCH_CUDA_CHECK(cudaMemcpy(target_bytes.data(), targets.data(), target_bytes.size(), cudaMemcpyHostToDevice));
    const DeviceArray array{logits, GetParam(), rows.offset}, apart{std::ssize(logits), GetParam(), rows.offset};
    const DeviceArray& gradient = options.in_place ? array : apart;
    const DeviceArray losses{rows.rows, Precision::kFp32}, lse{rows.rows, Precision::kFp32};
    const DeviceArray scale{Doubles{options.scale}, Precision::kFp32};
    cross_entropy({.rows = rows.rows,
                   .width = rows.width,
                   .precision = GetParam(),
                   .logits = array.data(),
                   .targets = reinterpret_cast<const std::int64_t*>(target_bytes.data()),
                   .gradient = gradient.data(),
                   .factor = static_cast<float>(options.factor),
                   .scale = options.scale != 0 ? scale.floats() : nullptr,
                   .losses = losses.floats(),
                   .lse = lse.floats()},
                  nullptr);
    if (!options.in_place) expect_close("logits", array.read(), logits, [](std::size_t) { return 0.0; });
    expect(rows, logits, targets, options.factor * (options.scale != 0 ? options.scale : 1.0), losses.read(),
           lse.read(), gradient.read());
  }

 private:
  static void expect(const Rows& rows, const Doubles& logits, const std::vector<std::int64_t>& targets, double scale,
                     const Doubles& actual_losses, const Doubles& actual_lse, const Doubles& actual_gradient) {
    const auto width = static_cast<std::size_t>(rows.width);
    Doubles lse, losses, gradient(logits.size()), allowed(logits.size()), row_error;
    for (std::size_t row = 0; row < targets.size(); ++row) {
      const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row * width), end = begin + rows.width;
      const bool has_nan = std::any_of(begin, end, [](double x) { return std::isnan(x) || x == kInfinity; });
      const double largest = *std::max_element(begin, end);
      double sum = 0, size = 0;
      for (auto x = begin; x != end; ++x) {
        sum += std::exp(*x - largest);
        if (std::isfinite(*x)) size = std::max(size, std::abs(*x));
      }
      lse.push_back(has_nan ? kNan : largest + std::log(sum));
      const bool is_word = targets[row] >= 0 && targets[row] < rows.width;
      losses.push_back(is_word ? lse[row] - logits[row * width + static_cast<std::size_t>(targets[row])] : kNan);
      // Relative errors of an exponential: the product of its argument and log2(e), the reference and lse are rounded.
      // Relative errors of the sum: additions within a thread and over threads.
      row_error.push_back(kU * (8 * size + 24 + std::sqrt(static_cast<double>(width)) / 4));
      for (std::size_t i = 0; i < width; ++i) {
        const std::size_t at = row * width + i;
        const double p = std::exp(logits[at] - lse[row]);
        gradient[at] = scale * (static_cast<std::int64_t>(i) == targets[row] ? p - 1 : p);
        const bool is_target = static_cast<std::int64_t>(i) == targets[row];
        allowed[at] = std::abs(scale) * (row_error[row] * p + (is_target ? 2 * kU : 0.0)) +
                      1.01 * round_off(GetParam()) * std::abs(gradient[at]) + least_error(GetParam());
      }
    }
    expect_close("lse", actual_lse, lse, [&](std::size_t i) { return row_error[i] + kU * std::abs(lse[i]); });
    expect_close("loss", actual_losses, losses,
                 [&](std::size_t i) { return 2 * row_error[i] + 2 * kU * (std::abs(lse[i]) + std::abs(losses[i])); });
    expect_close("gradient", actual_gradient, gradient, [&](std::size_t i) { return allowed[i]; });
  }
};

TEST_P(CrossEntropyOnGpu, RowsOfAnyWidth) {
  for (const Rows& rows : kRows) {
    for (const bool in_place : {true, false}) {
      SCOPED_TRACE(fmt::format("{} x {} + {}, in place {}", rows.rows, rows.width, rows.offset, in_place));
      run(rows, normal_values(rows.rows * rows.width, GetParam(), 1), some_targets(rows), {.in_place = in_place});
    }
  }
}

TEST_P(CrossEntropyOnGpu, GradientsHaveTheFactorAndTheScale) {
  const Rows rows{5, 1000};
  run(rows, normal_values(5000, GetParam(), 2), some_targets(rows), {.scale = 1024, .factor = 1.0 / 5});
}

TEST_P(CrossEntropyOnGpu, LargeLogits) {
  for (const Rows& rows : {Rows{4, 1000}, Rows{2, 70'000}}) {
    Doubles logits = normal_values(rows.rows * rows.width, GetParam(), 3);
    for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = 20 * logits[i] + (i < 1000 ? -300 : 200);
    run(rows, stored(logits, GetParam()), some_targets(rows), {});
  }
}

TEST_P(CrossEntropyOnGpu, MaskedWordsHaveNoShare) {
  for (const Rows& rows : {Rows{3, 10'000}, Rows{2, 70'000}, Rows{2, 66}}) {
    Doubles logits = normal_values(rows.rows * rows.width, GetParam(), 4);
    const std::vector<std::int64_t> targets = some_targets(rows);
    // Only a few threads keep a contribution to the sum, and their logits are far below zero.
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const auto column = static_cast<std::int64_t>(i) % rows.width;
      const bool is_target = column == targets[i / static_cast<std::size_t>(rows.width)];
      logits[i] = column % 33 == 0 || is_target ? logits[i] - 200 : -kInfinity;
    }
    run(rows, stored(logits, GetParam()), targets, {});
  }
}

TEST_P(CrossEntropyOnGpu, WhatIsNotFiniteStaysInItsRow) {
  for (const Rows& rows : {Rows{4, 1000}, Rows{4, 70'000}}) {
    Doubles logits = normal_values(rows.rows * rows.width, GetParam(), 5);
    logits[static_cast<std::size_t>(rows.width) + 3] = kNan;
    logits[static_cast<std::size_t>(3 * rows.width) - 1] = kInfinity;
    run(rows, logits, some_targets(rows), {});
  }
}

TEST_P(CrossEntropyOnGpu, ATargetThatIsNoWordHasNoOneAndNoLoss) {
  for (const Rows& rows : {Rows{4, 1000}, Rows{4, 70'000}}) {
    run(rows, normal_values(rows.rows * rows.width, GetParam(), 6), {-1, 5, rows.width, std::int64_t{1} << 40}, {});
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, CrossEntropyOnGpu,
                         testing::Values(Precision::kFp32, Precision::kBf16, Precision::kFp16),
                         [](const auto& run) { return std::string{to_string(run.param)}; });

}  // namespace
}  // namespace tbench::kernels
