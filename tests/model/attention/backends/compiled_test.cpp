// Tests that `compiled` refuses to run without packages or with damaged ones. PyTorch makes the packages, so they are
// tested with the whole program (tests/bench/packages_test.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tbench/model/attention_case.hpp"

namespace tbench::model {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CompiledAttention : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  /// Removes the files one by one, because LibTorch exports a remove_all() that crashes in a program with another one.
  void TearDown() override {
    std::filesystem::remove(package_);
    std::filesystem::remove(folder_);
  }

  [[nodiscard]] AttentionConfig config(std::int64_t seq, AttentionPass pass = AttentionPass::kForward) const {
    return {.shape = {.batch = 2, .heads = 1, .seq_q = seq, .seq_kv = seq, .head_dim = 32, .causal = true},
            .pass = pass,
            .precision = Precision::kFp32,
            .impl = "compiled",
            .deterministic = false,
            .device = DeviceKind::kCpu,
            .seed = 1,
            .packages = folder_};
  }
  static std::string reason(const AttentionConfig& config) {
    return make_attention_case(config)->unsupported_reason().value_or("none");
  }

  std::string folder_ =
      (std::filesystem::temp_directory_path() / ("tbench_packages_" + std::to_string(::getpid()))).string();
  std::string package_ = folder_ + "/attention_forward_cpu_d32_causal1_fp32.pt2";
};

TEST_F(CompiledAttention, WithoutAFolderSaysHowToMakeOne) {
  AttentionConfig none = config(64);
  none.packages.clear();
  EXPECT_EQ(reason(none),
            "no packages: tools/compile_attention.py --out DIR --head-dim 32 --causal 1 --precision fp32 --device cpu, "
            "then --tb_packages=DIR");
}

TEST_F(CompiledAttention, WithoutAPackageNamesItAndItsCommand) {
  EXPECT_THAT(reason(config(64)),
              AllOf(HasSubstr("no package '" + folder_ + "/attention_forward_cpu_d32_causal1_fp32.pt2'"),
                    HasSubstr("compile_attention.py --out " + folder_ + " --head-dim 32")));
  EXPECT_THAT(reason(config(64, AttentionPass::kForwardBackward)), HasSubstr("attention_training_cpu"));
}

TEST_F(CompiledAttention, WhatNoPackageTakesIsSaidFirst) {
  EXPECT_THAT(reason(config(65)), HasSubstr("steps of 8"));
  AttentionConfig one = config(64);
  one.shape.batch = 1;
  EXPECT_THAT(reason(one), HasSubstr("two heads or sequences"));
}

TEST_F(CompiledAttention, ADamagedPackageIsNamed) {
  std::ofstream{package_} << "no archive";
  const auto step = make_attention_case(config(64));
  ASSERT_EQ(step->unsupported_reason(), std::nullopt);
  try {
    step->build();
    FAIL() << "a damaged package was loaded";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("attention_forward_cpu_d32_causal1_fp32.pt2"), HasSubstr("compile it again")));
  }
}

}  // namespace
}  // namespace tbench::model
