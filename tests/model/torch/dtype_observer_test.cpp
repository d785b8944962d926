#include "model/torch/dtype_observer.hpp"

#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "model/torch/scopes.hpp"

namespace tbench::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(DtypeObserver, SeesTheDtypeAfterAutocastsCasts) {
  const at::Tensor x = at::ones({2, 3}), weight = at::ones({4, 3});
  const DtypeObserver observer;
  {
    const AutocastScope autocast{Precision::kBf16, at::kCPU};
    const LayerMark mark{"layer"};
    static_cast<void>(at::relu(at::linear(x, weight)));
  }
  static_cast<void>(at::linear(x, weight));
  const auto& operations = observer.operations();
  ASSERT_EQ(operations.size(), 3U);
  EXPECT_EQ(operations[0].name, "aten::linear");
  EXPECT_EQ(operations[0].layer, "layer");
  EXPECT_THAT(operations[0].ran_in, ElementsAre(at::kBFloat16));
  EXPECT_THAT(operations[0].returned, ElementsAre(at::kBFloat16));
  EXPECT_EQ(operations[1].name, "aten::relu");
  EXPECT_EQ(operations[1].layer_call, operations[0].layer_call);
  EXPECT_EQ(operations[2].layer, "");
  EXPECT_THAT(operations[2].ran_in, ElementsAre(at::kFloat));
}

TEST(DtypeObserver, LeavesOutHostNumbersAndSeesMixedInputs) {
  const at::Tensor wide = at::ones({3}), narrow = at::ones({3}, at::TensorOptions{}.dtype(at::kBFloat16));
  const DtypeObserver observer;
  static_cast<void>(narrow.div(3.0));
  static_cast<void>(wide.add(narrow));
  static_cast<void>(narrow.gt(0.5));
  const auto& operations = observer.operations();
  ASSERT_EQ(operations.size(), 3U);
  EXPECT_THAT(operations[0].ran_in, ElementsAre(at::kBFloat16));
  EXPECT_THAT(operations[1].ran_in, ElementsAre(at::kFloat, at::kBFloat16));
  EXPECT_THAT(operations[1].returned, ElementsAre(at::kFloat));
  EXPECT_THAT(operations[2].returned, IsEmpty());
}

TEST(DtypeObserver, OneAtATimeAndNothingAfterItsEnd) {
  {
    const DtypeObserver observer;
    EXPECT_THROW(DtypeObserver{}, std::logic_error);
    static_cast<void>(at::ones({1}).neg());
    EXPECT_FALSE(observer.operations().empty());
  }
  const LayerMark mark{"nobody looks"};
  static_cast<void>(at::ones({1}).neg());
  const DtypeObserver next;
  EXPECT_THAT(next.operations(), IsEmpty());
}

TEST(DtypesByRole, CountsWithinACallOfTheLayerAndJoinsWhatDiffers) {
  const Dtypes wide{at::kFloat}, narrow{at::kHalf}, both{at::kFloat, at::kHalf};
  const std::vector<ObservedOperation> operations{
      {"a", 1, "aten::mul", narrow, narrow}, {"a", 1, "aten::mul", wide, narrow}, {"a", 2, "aten::mul", wide, wide},
      {"a", 2, "aten::mul", wide, narrow},   {"", 0, "aten::add", both, wide},    {"b", 3, "aten::mul", both, both},
  };
  const std::vector<OperationRole> roles{{"a", "aten::mul", 1, "first"},
                                         {"a", "aten::mul", 2, "second"},
                                         {"", "aten::add", 0, "sum"},
                                         {"b", "aten::mul", 0, "mixed"},
                                         {"b", "aten::mul", 2, "never"}};
  EXPECT_THAT(dtypes_by_role(operations, roles),
              ElementsAre(Pair("first", "fp16, fp32"), Pair("mixed", "fp32+fp16"), Pair("second", "fp32 -> fp16"),
                          Pair("sum", "fp32+fp16 -> fp32")));
}

}  // namespace
}  // namespace tbench::model
