// Tests dtypes under autocast on a GPU, which unlike the CPU runs layer norm and softmax in float32.
#include <gmock/gmock.h>

#include <map>
#include <string>

#include "tbench/model/autocast_case.hpp"
#include "tests/model/case_support.hpp"

namespace tbench::model {
namespace {

class AutocastOnGpu : public GpuTest, public testing::WithParamInterface<Precision> {
 protected:
  static std::map<std::string, std::string> verified_labels(AutocastModule subject) {
    const AutocastConfig config{.subject = subject, .precision = GetParam(), .device = DeviceKind::kCuda, .seed = 1};
    return verified(make_autocast_case(config))->labels();
  }
};

TEST_P(AutocastOnGpu, TheToyModelIsAsTheCourseSaysIt) {
  const std::string narrow{to_string(GetParam())};
  const std::map<std::string, std::string> expected{
      {"parameters", "fp32"},        {"fc1", narrow},      {"relu", narrow},
      {"layer norm", "fp32"},        {"logits", narrow},   {"loss", narrow + " -> fp32"},
      {"backward products", narrow}, {"gradients", "fp32"}};
  EXPECT_EQ(verified_labels(AutocastModule::kToy), expected);
}

TEST_P(AutocastOnGpu, TheTransformersSoftmaxIsInFloat32) {
  const std::string narrow{to_string(GetParam())};
  const auto labels = verified_labels(AutocastModule::kTransformer);
  EXPECT_EQ(labels.size(), 22U + 3);
  for (const char* product : {"q projection", "scores", "context", "swiglu down", "logits", "backward products"}) {
    EXPECT_EQ(labels.at(product), narrow) << product;
  }
  for (const char* wide : {"parameters", "gradients", "softmax exp", "softmax sum", "softmax", "loss exp", "loss"}) {
    EXPECT_EQ(labels.at(wide), "fp32") << wide;
  }
}

INSTANTIATE_TEST_SUITE_P(All, AutocastOnGpu, testing::Values(Precision::kFp16, Precision::kBf16),
                         [](const auto& run) { return std::string{to_string(run.param)}; });

}  // namespace
}  // namespace tbench::model
