// Compares RoPE's kernel with float64 formulas, from the packed product to heads and back, with and without vectors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/device_array.hpp"
#include "tbench/kernels/rope.hpp"

namespace tbench::kernels {
namespace {

constexpr double kU = 0x1p-24;

struct Extents {
  std::int64_t batch, heads, seq, head_dim;
  std::int64_t offset{};  // offset of every array from an aligned address, in elements: even
};

const std::vector<Extents> kExtents{{1, 1, 1, 2},  {1, 1, 1, 8},   {2, 3, 7, 22},     {3, 25, 33, 64},
                                    {2, 4, 9, 80}, {1, 2, 129, 6}, {2, 3, 17, 64, 2}, {1, 5, 3, 36}};

class RopeOnGpu : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    if (is_without_gpu()) GTEST_SKIP() << "no GPU on this machine";
  }

  static std::int64_t count_of(const Extents& e) { return e.batch * e.heads * e.seq * e.head_dim; }

  /// Returns angles that belong to no position, so that the test finds a row of the table at the wrong index.
  static Doubles angles(const Extents& e) { return normal_values(e.seq * e.head_dim / 2, Precision::kFp32, 9); }
  static Doubles table(const Extents& e, double (*function)(double)) {
    Doubles values = angles(e);
    for (double& value : values) value = function(value);
    return stored(values, Precision::kFp32);
  }

  /// Returns the index of element [batch, seq, part, head, column] of the product.
  static std::size_t packed(const Extents& e, std::int64_t parts, std::int64_t b, std::int64_t s, std::int64_t part,
                            std::int64_t h, std::int64_t column) {
    return static_cast<std::size_t>((((b * e.seq + s) * parts + part) * e.heads + h) * e.head_dim + column);
  }

  /// Computes heads from a product of `parts` parts, of which `turned` are rotated. In backward, computes the gradient
  /// of the product from the gradients of the heads.
  static void run(const Extents& e, int parts, int turned, bool backward) {
    const std::int64_t count = count_of(e);
    RopeProblem problem{.batch = e.batch,
                        .heads = e.heads,
                        .seq = e.seq,
                        .head_dim = e.head_dim,
                        .precision = GetParam(),
                        .parts = parts,
                        .turned = turned,
                        .from = {},
                        .to = {},
                        .cos = nullptr,
                        .sin = nullptr,
                        .backward = backward};
    const Doubles cos = table(e, [](double x) { return std::cos(x); }),
                  sin = table(e, [](double x) { return std::sin(x); });
    const DeviceArray cos_array{cos, Precision::kFp32}, sin_array{sin, Precision::kFp32};
    problem.cos = cos_array.floats();
    problem.sin = sin_array.floats();
    const Doubles product = normal_values(parts * count, GetParam(), 1),
                  heads = normal_values(parts * count, GetParam(), 2);
    const DeviceArray product_array =
        backward ? DeviceArray{parts * count, GetParam(), e.offset} : DeviceArray{product, GetParam(), e.offset};
    const DeviceArray heads_array =
        backward ? DeviceArray{heads, GetParam(), e.offset} : DeviceArray{parts * count, GetParam(), e.offset};
    for (int part = 0; part < parts; ++part) {
      const auto i = static_cast<std::size_t>(part);
      auto* const tensor =
          static_cast<std::byte*>(heads_array.data()) + part * count * (GetParam() == Precision::kFp32 ? 4 : 2);
      (backward ? problem.to : problem.from).at(i) = packed_part(product_array.data(), problem, part);
      (backward ? problem.from : problem.to).at(i) = contiguous_heads(tensor, problem);
    }
    rope(problem, nullptr);

    const Doubles& from = backward ? heads : product;
    Doubles expected(from.size()), allowed(from.size());
    for (std::int64_t part = 0; part < parts; ++part) {
      for (std::int64_t b = 0; b < e.batch; ++b) {
        for (std::int64_t h = 0; h < e.heads; ++h) {
          for (std::int64_t s = 0; s < e.seq; ++s) {
            for (std::int64_t i = 0; i < e.head_dim; i += 2) {
              const std::size_t in_product = packed(e, parts, b, s, part, h, i);
              const auto in_heads =
                  static_cast<std::size_t>(part * count + ((b * e.heads + h) * e.seq + s) * e.head_dim + i);
              const std::size_t at = backward ? in_product : in_heads, source = backward ? in_heads : in_product;
              const auto angle = static_cast<std::size_t>((s * e.head_dim + i) / 2);
              const double x = from[source], y = from[source + 1];
              const double c = part < turned ? cos[angle] : 1.0;
              const double t = part < turned ? (backward ? -sin[angle] : sin[angle]) : 0.0;
              expected[at] = x * c - y * t;
              expected[at + 1] = x * t + y * c;
              for (const std::size_t j : {at, at + 1}) {
                allowed[j] = part < turned
                                 ? 2 * kU * (std::abs(x) + std::abs(y)) +
                                       1.01 * round_off(GetParam()) * std::abs(expected[j]) + least_error(GetParam())
                                 : 0.0;  // a copy
              }
            }
          }
        }
      }
    }
    expect_close(backward ? "product" : "heads", (backward ? product_array : heads_array).read(), expected,
                 [&](std::size_t i) { return allowed[i]; });
  }
};

TEST_P(RopeOnGpu, ProductToHeadsAndBack) {
  for (const Extents& e : kExtents) {
    for (const bool backward : {false, true}) {
      SCOPED_TRACE(
          fmt::format("[{}, {}, {}, {}] + {}, backward {}", e.batch, e.heads, e.seq, e.head_dim, e.offset, backward));
      run(e, 3, 2, backward);
    }
  }
}

TEST_P(RopeOnGpu, OtherNumbersOfParts) {
  for (const auto& [parts, turned] :
       {std::pair{1, 0}, std::pair{1, 1}, std::pair{2, 2}, std::pair{3, 0}, std::pair{3, 3}}) {
    SCOPED_TRACE(fmt::format("{} of {}", turned, parts));
    run({2, 3, 17, 64}, parts, turned, false);
  }
}

TEST_P(RopeOnGpu, InPlace) {
  const Extents e{2, 3, 17, 64};
  RopeProblem problem{.batch = e.batch,
                      .heads = e.heads,
                      .seq = e.seq,
                      .head_dim = e.head_dim,
                      .precision = GetParam(),
                      .parts = 1,
                      .turned = 1,
                      .from = {},
                      .to = {},
                      .cos = nullptr,
                      .sin = nullptr,
                      .backward = false};
  const DeviceArray cos{Doubles(17 * 32, 0.0), Precision::kFp32}, sin{Doubles(17 * 32, 1.0), Precision::kFp32};
  problem.cos = cos.floats();
  problem.sin = sin.floats();
  const Doubles x = normal_values(count_of(e), GetParam(), 3);
  const DeviceArray array{x, GetParam()};
  problem.from[0] = problem.to[0] = contiguous_heads(array.data(), problem);
  rope(problem, nullptr);
  Doubles expected(x.size());  // a rotation by a right angle: (a, b) becomes (-b, a)
  for (std::size_t i = 0; i < x.size(); i += 2) {
    expected[i] = -x[i + 1];
    expected[i + 1] = x[i];
  }
  EXPECT_EQ(array.read(), expected);
}

INSTANTIATE_TEST_SUITE_P(Precisions, RopeOnGpu, testing::Values(Precision::kFp32, Precision::kBf16, Precision::kFp16),
                         [](const auto& run) { return std::string{to_string(run.param)}; });

}  // namespace
}  // namespace tbench::kernels
