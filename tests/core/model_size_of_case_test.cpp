#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "tbench/core/step_counts.hpp"

namespace tbench {
namespace {

using ::testing::HasSubstr;

std::optional<ModelSize> size_of(const std::string& name) {
  return model_size_of(CaseId::parse(name), builtin_model_sizes());
}

std::string refusal_of(const std::string& name) {
  return layers_invalid_reason(CaseId::parse(name), builtin_model_sizes()).value_or("");
}

TEST(ModelSizeOfCase, IsTheNamedOne) {
  EXPECT_EQ(size_of("Model/size:tiny/ctx:64"), builtin_model_sizes().front());
  EXPECT_EQ(size_of("Model/size:llama3.1-8B/ctx:64")->vocab_size, 128'256);
  EXPECT_EQ(size_of("Model/size:none/ctx:64"), std::nullopt);
  EXPECT_EQ(size_of("Gemm/m:64"), std::nullopt);
}

TEST(ModelSizeOfCase, KeepsTheCasesLayersAndBothTables) {
  const ModelSize whole = size_of("Model/size:llama3.1-8B").value();
  const ModelSize eight = size_of("Model/size:llama3.1-8B/layers:8").value();
  EXPECT_EQ(eight.num_layers, 8);
  EXPECT_EQ(eight.name, "llama3.1-8B.layers8");
  ModelSize lengthened = eight;
  lengthened.name = whole.name;
  lengthened.num_layers = whole.num_layers;
  EXPECT_EQ(lengthened, whole);
  // A layer has 4,096 x (2 x 4,096 + 2 x 1,024) of attention, 3 x 4,096 x 14,336 and two norms of 4,096.
  EXPECT_EQ(parameter_count(whole) - parameter_count(eight), std::int64_t{24} * (41'943'040 + 176'160'768 + 8'192));
  EXPECT_LT(model_step_work(eight, 64, 1, Pass::kForward).flop, model_step_work(whole, 64, 1, Pass::kForward).flop);
}

TEST(ModelSizeOfCase, HasFewerLayersThanTheWholeAndAtLeastOne) {
  EXPECT_EQ(refusal_of("Model/size:tiny"), "");
  EXPECT_EQ(refusal_of("Model/size:tiny/layers:1"), "");
  EXPECT_THAT(refusal_of("Model/size:tiny/layers:2"), HasSubstr("layers:2 is the size's own number of layers"));
  for (const char* const wrong : {"3", "0", "-1", "x", "1.0"}) {
    const std::string name = std::string{"Model/size:tiny/layers:"} + wrong;
    EXPECT_THAT(refusal_of(name), HasSubstr("is not from 1 to 1: the size has 2 layers")) << wrong;
    EXPECT_EQ(size_of(name), std::nullopt) << wrong;
  }
  EXPECT_EQ(size_of("Model/size:tiny/layers:2"), std::nullopt);
}

}  // namespace
}  // namespace tbench
