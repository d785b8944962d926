#include "model/torch/launch_draw.hpp"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "model/torch/compare.hpp"

namespace tbench::model {
namespace {

void draw(const std::vector<DrawnOperand>& operands, std::uint64_t key) {
  draw_operands(operands, key, DeviceKind::kCpu);
}

TEST(HiddenNumber, IsAnotherEveryTime) {
  std::set<std::uint64_t> numbers;
  for (int i = 0; i < 100; ++i) numbers.insert(hidden_number());
  EXPECT_EQ(numbers.size(), 100U);
}

TEST(DrawOperands, AreNormalInEveryType) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf, at::kFloat8_e4m3fn}) {
    constexpr std::int64_t kElements = 100'003;
    const at::Tensor tensor = at::zeros({kElements}, at::TensorOptions{}.dtype(type));
    draw({{.values = tensor}}, 1);
    const at::Tensor values = tensor.to(at::kDouble);
    const auto moment = [&](double power) { return values.pow(power).mean().item<double>(); };
    // Five standard deviations of each mean are allowed; fp8 adds rounding.
    const double root = std::sqrt(static_cast<double>(kElements));
    EXPECT_NEAR(moment(1), 0, 5 / root) << type;
    EXPECT_NEAR(moment(2), 1, 5 * std::sqrt(2.0) / root + 0.005) << type;
    EXPECT_NEAR(moment(3), 0, 5 * std::sqrt(15.0) / root) << type;
    EXPECT_NEAR(moment(4), 3, 5 * std::sqrt(96.0) / root + 0.03) << type;
    EXPECT_EQ(tensor.to(at::kFloat).isfinite().logical_not().sum().item<std::int64_t>(), 0) << type;
  }
}

TEST(DrawOperands, AreTheSameForAKeyAloneAndOthersForEveryOperand) {
  const at::Tensor a = at::zeros({31, 7}), b = at::zeros({31, 7});
  draw({{.values = a}, {.values = b}}, 1);
  EXPECT_FALSE(a.eq(b).any().item<bool>());
  const at::Tensor first = a.clone();
  draw({{.values = a}, {.values = b}}, 2);
  EXPECT_FALSE(a.eq(first).any().item<bool>());
  draw({{.values = a}, {.values = b}}, 1);
  EXPECT_TRUE(has_same_bytes(a, first));
}

TEST(DrawOperands, KnowFactorsDivisorsAndIds) {
  const at::Tensor plain = at::zeros({1000}), scaled = at::zeros({1000}), divided = at::zeros({1000});
  const at::Tensor divisor = at::ones({}).mul(0.5);
  draw({{.values = plain}}, 3);
  draw({{.values = scaled, .factor = 4.0}}, 3);
  draw({{.values = divided, .factor = 2.0, .divisor = divisor}}, 3);
  EXPECT_TRUE(scaled.equal(plain.mul(4)));
  EXPECT_TRUE(divided.equal(plain.mul(4)));
  const at::Tensor ids = at::zeros({10'000}, at::kLong);
  draw({{.values = ids, .ids = 10}}, 3);
  for (std::int64_t id = 0; id < 10; ++id) EXPECT_NEAR(ids.eq(id).sum().item<double>(), 1000, 5 * 30) << id;
  EXPECT_EQ(ids.max().item<std::int64_t>(), 9);
  EXPECT_EQ(ids.min().item<std::int64_t>(), 0);
}

TEST(DrawOperands, FillWhatIsWrittenWithNaN) {
  const at::Tensor operand = at::zeros({5}), output = at::ones({3, 5}, at::kBFloat16), strided = at::ones({3, 5}).t(),
                   none;
  const std::vector<at::Tensor> poisoned{output, none, strided};
  const std::vector<DrawnOperand> operands{{.values = operand}};
  draw_operands(operands, 1, DeviceKind::kCpu, poisoned);
  EXPECT_TRUE(output.isnan().all().item<bool>());
  EXPECT_TRUE(strided.isnan().all().item<bool>());
  EXPECT_FALSE(operand.isnan().any().item<bool>());
}

TEST(DrawALittle, ChangesOneIndexOfTheLastDimensionButOne) {
  const at::Tensor tensor = at::zeros({2, 3, 5, 7});
  draw_a_little(std::vector<DrawnOperand>{{.values = tensor}}, 1, DeviceKind::kCpu);
  const at::Tensor changed = tensor.ne(0);
  EXPECT_EQ(changed.sum().item<std::int64_t>(), 2 * 3 * 7);
  EXPECT_EQ(changed.all(3).sum().item<std::int64_t>(), 2 * 3);
  EXPECT_EQ(changed.any(3).any(0).any(0).sum().item<std::int64_t>(), 1);
}

TEST(DrawALittle, ReachesEveryIndexInTimeAndKnowsVectorsAndScalars) {
  const at::Tensor tensor = at::zeros({8, 2}, at::kBFloat16), vector = at::zeros({5}), scalar = at::zeros({});
  for (std::uint64_t key = 0; key < 100; ++key) {
    draw_a_little(std::vector<DrawnOperand>{{.values = tensor}, {.values = vector}, {.values = scalar}}, key,
                  DeviceKind::kCpu);
    EXPECT_GE(vector.eq(0).sum().item<std::int64_t>(), 4 - static_cast<std::int64_t>(key));
  }
  EXPECT_TRUE(tensor.ne(0).all().item<bool>());
  EXPECT_TRUE(vector.ne(0).all().item<bool>());
  EXPECT_NE(scalar.item<float>(), 0);
}

}  // namespace
}  // namespace tbench::model
