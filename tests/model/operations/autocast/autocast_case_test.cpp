// Tests dtypes under autocast on the CPU, where both 16-bit formats run, and that a wrong result is found.
#include "tbench/model/autocast_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tbench/core/error.hpp"
#include "tests/model/case_support.hpp"
#include "tests/model/planted_output.hpp"

namespace tbench::model {
namespace {

using testing::HasSubstr;

AutocastConfig cpu_autocast(AutocastModule subject, Precision precision, std::uint64_t seed = 1) {
  return {.subject = subject, .precision = precision, .device = DeviceKind::kCpu, .seed = seed};
}

std::map<std::string, std::string> verified_labels(const AutocastConfig& config) {
  const auto operation = verified(make_autocast_case(config));
  launch(*operation);
  return operation->labels();
}

class AutocastOnCpu : public testing::TestWithParam<Precision> {};

TEST_P(AutocastOnCpu, TheToyModelsLayerNormStaysIn16BitsAndItsLossDoesNot) {
  const std::string narrow{to_string(GetParam())};
  // Autocast on a CPU does not change layer norm, which takes 16-bit input with float32 weights.
  const std::map<std::string, std::string> expected{{"parameters", "fp32"},
                                                    {"fc1", narrow},
                                                    {"relu", narrow},
                                                    {"layer norm", narrow + "+fp32 -> " + narrow},
                                                    {"logits", narrow},
                                                    {"loss", "fp32"},
                                                    {"backward products", narrow},
                                                    {"gradients", "fp32"}};
  EXPECT_EQ(verified_labels(cpu_autocast(AutocastModule::kToy, GetParam())), expected);
}

TEST_P(AutocastOnCpu, TheToyModelIsVerifiedForAnySeed) {
  for (std::uint64_t seed = 2; seed < 40; ++seed) {
    const auto operation = make_autocast_case(cpu_autocast(AutocastModule::kToy, GetParam(), seed));
    operation->build();
    const Verification verdict = operation->verify();
    EXPECT_TRUE(verdict.passed) << seed << ": " << verdict.message;
  }
}

TEST_P(AutocastOnCpu, EveryOperationOfTheTransformerIsFound) {
  const auto labels = verified_labels(cpu_autocast(AutocastModule::kTransformer, GetParam()));
  EXPECT_EQ(labels.size(), 22U + 3);  // roles; backward's products, parameters and gradients
  const std::string narrow{to_string(GetParam())};
  for (const char* product : {"q projection", "k projection", "v projection", "scores", "context", "output projection",
                              "swiglu gate", "swiglu up", "swiglu down", "logits", "backward products"}) {
    EXPECT_EQ(labels.at(product), narrow) << product;
  }
  for (const char* wide : {"parameters", "gradients", "embedding", "rmsnorm", "rope"}) {
    EXPECT_EQ(labels.at(wide), "fp32") << wide;
  }
  // The residual stream is float32 because the embedding is. The tensors added to it are 16-bit.
  EXPECT_EQ(labels.at("residual"), "fp32+" + narrow + " -> fp32");
}

TEST_P(AutocastOnCpu, AWrongResultIsCaught) {
  const auto operation = make_autocast_case(cpu_autocast(AutocastModule::kToy, GetParam()));
  operation->build();
  const at::ScalarType dtype = GetParam() == Precision::kBf16 ? at::kBFloat16 : at::kHalf;
  ASSERT_TRUE(operation->verify().passed);
  const PlantedOutput fault{"aten::mm", dtype, 1.5};  // the reference's products are in float32
  const Verification verdict = operation->verify();
  EXPECT_TRUE(PlantedOutput::planted());
  EXPECT_FALSE(verdict.passed);
}

INSTANTIATE_TEST_SUITE_P(All, AutocastOnCpu, testing::Values(Precision::kBf16, Precision::kFp16),
                         [](const auto& run) { return std::string{to_string(run.param)}; });

TEST(Autocast, ADtypeThatItDoesNotComputeInIsRefused) {
  try {
    static_cast<void>(make_autocast_case(cpu_autocast(AutocastModule::kToy, Precision::kFp32)));
    FAIL() << "autocast to fp32";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("precision:fp32"));
  }
}

TEST(Autocast, CountsTheToyModelsProducts) {
  // forward 2 * 32 * (20 * 10 + 10 * 5), backward 2 * 32 * (20 * 10 + 2 * 10 * 5)
  EXPECT_EQ(make_autocast_case(cpu_autocast(AutocastModule::kToy, Precision::kBf16))->work().flop.value,
            16'000 + 19'200);
}

}  // namespace
}  // namespace tbench::model
