// Compares the kernels of the norms of q and k with float64 formulas, with and without vectors, in place and not.
#include "tbench/kernels/qk_norm_rope.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "qk_norm_rope/run.hpp"
#include "support/device_array.hpp"

namespace tbench::kernels {
namespace {

/// Tokens, positions, heads of q and k, head_dim, padding and offset. The largest has more rows than the grid of the
/// backward pass takes at a time.
const std::vector<QkExtents> kExtents{{1, 1, 1, 1, 2},        {6, 3, 2, 1, 16},        {10, 5, 4, 2, 64, 128},
                                      {33, 33, 3, 1, 80, 80}, {14, 7, 6, 2, 96, 8},    {1200, 600, 16, 8, 128, 1024},
                                      {9, 3, 5, 5, 128},      {8, 4, 2, 1, 256},       {8, 4, 2, 1, 6, 2},
                                      {12, 6, 4, 2, 22},      {12, 4, 4, 2, 64, 0, 2}, {12, 4, 4, 2, 64, 2},
                                      {7, 7, 4, 1, 36, 6},    {5, 5, 2, 2, 254, 2}};

class QkNormRopeOnGpu : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    if (is_without_gpu()) GTEST_SKIP() << "no GPU on this machine";
  }
};

TEST_P(QkNormRopeOnGpu, ResultsAreThoseOfTheFormulas) {
  for (const QkExtents& e : kExtents) {
    for (const bool in_place : {false, true}) {
      SCOPED_TRACE(fmt::format("{} tokens of {}, {} + {} heads x {} + {}, offset {}, in place {}", e.tokens, e.seq,
                               e.heads, e.kv_heads, e.head_dim, e.padding, e.offset, in_place));
      const QkInputs inputs = qk_inputs(e, GetParam());
      const std::vector<QkResult> actual = run_qk_norm_rope(e, GetParam(), inputs, in_place);
      const std::vector<QkResult> expected = QkReference{e, GetParam(), inputs, in_place}.results();
      for (std::size_t i = 0; i < actual.size(); ++i) {
        expect_close(actual[i].name, actual[i].values, expected[i].values,
                     [&](std::size_t at) { return expected[i].allowed[at]; });
      }
    }
  }
}

TEST_P(QkNormRopeOnGpu, TheSameBitsEveryTime) {
  const QkExtents e{1200, 600, 16, 8, 128, 1024};
  const QkInputs inputs = qk_inputs(e, GetParam());
  const std::vector<QkResult> first = run_qk_norm_rope(e, GetParam(), inputs, /*in_place=*/true);
  for (int run = 0; run < 3; ++run) {
    const std::vector<QkResult> again = run_qk_norm_rope(e, GetParam(), inputs, /*in_place=*/true);
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(again[i].values, first[i].values) << first[i].name;
  }
}

TEST_P(QkNormRopeOnGpu, SharesOfManyLayersAreAddedUpTogether) {
  const QkNormRopeShape shape = shape_of({64, 64, 4, 2, 80}, GetParam());
  const std::int64_t floats = qk_norm_workspace_bytes(shape) / 4;
  constexpr int kLayers = kQkNormsOfALaunch + 2;
  std::vector<DeviceArray> workspaces, sums;
  std::vector<QkNormShares> layers;
  for (int layer = 0; layer < kLayers; ++layer) {
    workspaces.emplace_back(Doubles(static_cast<std::size_t>(floats), layer + 1.0), Precision::kFp32);
    for (int weight = 0; weight < 2; ++weight) sums.emplace_back(shape.head_dim, Precision::kFp32);
    layers.push_back({.workspace = workspaces.back().floats(), .dq_weight = nullptr, .dk_weight = nullptr});
  }
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    layers[layer].dq_weight = sums[2 * layer].floats();
    layers[layer].dk_weight = sums[2 * layer + 1].floats();
  }
  qk_norm_weight_gradients(shape, layers, nullptr);
  const double shares = static_cast<double>(floats) / static_cast<double>(2 * shape.head_dim);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double expected = shares * static_cast<double>(i / 2 + 1);
    EXPECT_EQ(sums[i].read(), Doubles(static_cast<std::size_t>(shape.head_dim), expected)) << i;
  }
  qk_norm_weight_gradients(shape, {}, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Precisions, QkNormRopeOnGpu,
                         testing::Values(Precision::kFp32, Precision::kBf16, Precision::kFp16),
                         [](const auto& run) { return std::string{to_string(run.param)}; });

}  // namespace
}  // namespace tbench::kernels
