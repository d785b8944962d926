// Tests which cases a package serves, according to its facts. Packages themselves are tested with the program:
// tests/bench/plugins/kernel_packages_test.py.
#include "model/plugins/package.hpp"

#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "tbench/core/error.hpp"

namespace tbench::model {
namespace {

using testing::HasSubstr;
using testing::Optional;
using testing::StrEq;

KernelPackage attention_package() {
  return {.path = "/own.pt2",
          .name = "own",
          .part = "Attention",
          .graphs = {"forward/fp32/causal1", "training/fp32/causal1", "backward/fp32/causal1", "forward/bf16/causal1"},
          .extents = {{.name = "heads", .min = 2, .max = 64, .step = 1},
                      {.name = "seq_len", .min = 16, .max = 1024, .step = 8},
                      {.name = "head_dim", .min = 64, .max = 64, .step = 1}}};
}

PackageQuestion question() {
  return {.precision = "fp32",
          .flags = "/causal1",
          .with_backward = true,
          .extents = {{"batch", 1}, {"heads", 2}, {"seq_len", 1024}, {"head_dim", 64}}};
}

TEST(Package, IsAFileOfItsName) {
  EXPECT_TRUE(is_kernel_package("/a/mine.pt2"));
  EXPECT_FALSE(is_kernel_package("/a.pt2/libmine.so"));
}

TEST(Package, ServesWhatItsGraphsAndExtentsSay) {
  EXPECT_EQ(package_refusal(attention_package(), question()), std::nullopt);
  PackageQuestion asked = question();
  asked.extents["seq_len"] = 16;
  asked.extents["heads"] = 64;
  EXPECT_EQ(package_refusal(attention_package(), asked), std::nullopt);
}

TEST(Package, SaysWhichGraphItLacks) {
  PackageQuestion asked = question();
  asked.precision = "fp16";
  EXPECT_THAT(package_refusal(attention_package(), asked),
              Optional(StrEq("own has nothing in fp16: export it with --precision fp16")));
  asked.precision = "bf16";
  EXPECT_THAT(package_refusal(attention_package(), asked),
              Optional(StrEq("own has no backward pass: export it with --backward")));
  asked.with_backward = false;
  EXPECT_EQ(package_refusal(attention_package(), asked), std::nullopt);
  asked.flags = "/causal0";
  EXPECT_THAT(package_refusal(attention_package(), asked),
              Optional(StrEq("own has nothing for causal0: export it without --fix of that")));
}

TEST(Package, SaysWhichExtentItDoesNotServe) {
  const auto refusal_with = [](const std::string& name, std::int64_t value) {
    PackageQuestion asked = question();
    asked.extents[name] = value;
    return package_refusal(attention_package(), asked);
  };
  EXPECT_THAT(refusal_with("head_dim", 32),
              Optional(StrEq("own serves head_dim 64 alone, not 32: export it with --fix head_dim=32")));
  EXPECT_THAT(refusal_with("heads", 1),
              Optional(StrEq("own serves heads from 2 to 64 in steps of 1, not 1: export it with --fix heads=1")));
  for (const std::int64_t seq_len : {8, 1020, 1032}) EXPECT_NE(refusal_with("seq_len", seq_len), std::nullopt);
  KernelPackage odd = attention_package();
  odd.extents.push_back({.name = "width", .min = 1, .max = 2, .step = 1});
  EXPECT_THAT(package_refusal(odd, question()), Optional(StrEq("Attention has no extent width")));
}

TEST(Package, ResultsAreContiguousAndOfTheirTypes) {
  const at::Tensor y = at::zeros({3, 5}), more = at::zeros({2}, at::kDouble);
  const std::array floats{at::kFloat, at::kFloat};
  const auto fault = [](const std::vector<at::Tensor>& results, std::span<const at::ScalarType> dtypes) {
    return result_fault(results, dtypes);
  };
  EXPECT_EQ(fault({y, more}, std::span{floats}.first(1)), std::nullopt);
  EXPECT_THAT(fault({y}, floats), Optional(StrEq("it returns 1 tensors, not 2")));
  EXPECT_THAT(fault({y, more}, floats), Optional(StrEq("result 1 is Double of strides [1], not Float and contiguous")));
  EXPECT_THAT(fault({y.t(), y}, floats),
              Optional(StrEq("result 0 is Float of strides [1, 5], not Float and contiguous")));
}

TEST(Package, AFileThatIsNoneIsRefused) {
  const std::string path = testing::TempDir() + "none.pt2";
  std::ofstream{path} << "none";
  try {
    static_cast<void>(read_kernel_package(path, DeviceKind::kCpu));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("it is not a package of tools/export_kernel.py: "));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace tbench::model
