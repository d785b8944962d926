#include "studies/ranks/gradient_order.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "tbench/core/work.hpp"

namespace tbench::studies {
namespace {

// Extents that keep the sums short: head_dim is 2.
const ModelSize kMini{"mini", 4, 8, 1, 2};
constexpr TensorLayout kJoined{.joined_qkv = true, .joined_gate_up = true};

// FLOP of the backward pass of 8 tokens:
//   LM head              4 * 8 * 10,000 * 4  1,280,000
//   w2                   4 * 8 * 4 * 8           1,024
//   w1, w3               each the same           2,048
//   output projection    4 * 8 * 4 * 4             512
//   attention's core     2.5 * 4 * 2 * 8 * 8 * 2 / 2  1,280
//   q, k, v              each 512                1,536
//                                            1,286,400
constexpr double kTotal = 1'286'400;

TEST(GradientOrder, GoesFromTheLastParameterToTheFirst) {
  const std::vector<GradientTensor> tensors = gradient_order(kMini, 8, 1, kJoined);
  const std::vector<std::int64_t> elements{40'000, 4, 32, 64, 4, 16, 48, 4, 40'000};
  const std::vector<double> done{1'280'000, 1'280'000, 1'281'024, 1'283'072, 1'283'072,
                                 1'283'584, 1'286'400, 1'286'400, 1'286'400};
  ASSERT_EQ(tensors.size(), elements.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(tensors[i].elements, elements[i]) << i;
    EXPECT_DOUBLE_EQ(tensors[i].backward_share, done[i] / kTotal) << i;
  }
}

TEST(GradientOrder, TensorsThatAreNotJoinedAreCompleteOneByOne) {
  const std::vector<GradientTensor> tensors = gradient_order(kMini, 8, 1, {});
  ASSERT_EQ(tensors.size(), 12U);
  EXPECT_EQ(tensors[3].elements, 32);  // w1 and w3
  EXPECT_DOUBLE_EQ(tensors[3].backward_share, 1'282'048 / kTotal);
  EXPECT_DOUBLE_EQ(tensors[4].backward_share, 1'283'072 / kTotal);
  EXPECT_EQ(tensors[7].elements, 16);                               // q, k and v
  EXPECT_DOUBLE_EQ(tensors[7].backward_share, 1'285'376 / kTotal);  // 1,283,584 + 1,280 + 512
  EXPECT_DOUBLE_EQ(tensors[9].backward_share, 1);
}

TEST(GradientOrder, HasAllParametersAndTheBackwardPassesFlop) {
  for (const ModelSize& size : builtin_model_sizes()) {
    for (const TensorLayout& layout : {TensorLayout{}, kJoined}) {
      std::int64_t elements = 0;
      double before = 0;
      const std::vector<GradientTensor> tensors = gradient_order(size, 512, 4, layout);
      for (const GradientTensor& tensor : tensors) {
        elements += tensor.elements;
        EXPECT_GE(tensor.backward_share, before);
        before = tensor.backward_share;
      }
      EXPECT_EQ(elements, parameter_count(size)) << size.name;
      EXPECT_DOUBLE_EQ(before, 1);
      const Flop backward{model_step_work(size, 512, 4, Pass::kForwardBackward).flop.value -
                          model_step_work(size, 512, 4, Pass::kForward).flop.value};
      const double head = 4.0 * 2048 * 10'000 * static_cast<double>(size.d_model);
      EXPECT_NEAR(tensors.front().backward_share, head / backward.value, 1e-12) << size.name;
    }
  }
}

TEST(GradientOrder, RefusesExtentsThatAreNotPositive) {
  EXPECT_THROW(static_cast<void>(gradient_order(kMini, 0, 1, {})), std::invalid_argument);
}

}  // namespace
}  // namespace tbench::studies
