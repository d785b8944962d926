#include "bench/plan/python_function.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tbench/core/error.hpp"

namespace tbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const model::Plugin kMine{.path = "/a/attention.py:mine", .name = "mine", .digest = "0", .parts = {"Attention"}};

CaseId case_of(const std::string& batch, const std::string& heads, const std::string& d_model,
               const std::string& seq_len, const std::string& precision, const std::string& impl = "mine") {
  return {"Attention",
          {{"batch", batch},
           {"heads", heads},
           {"d_model", d_model},
           {"seq_len", seq_len},
           {"causal", "1"},
           {"pass", "forward"},
           {"precision", precision},
           {"impl", impl}}};
}

TEST(PythonFunction, TheNameOfAnOperationIsTheOperation) {
  EXPECT_EQ(parse_python_function("a/b.py:swiglu").op, "swiglu");
  EXPECT_EQ(parse_python_function("a/b.py:gemm").op, "gemm");
  const PythonFunction mine = parse_python_function("a/b.py:mine");
  EXPECT_EQ(mine.file, "a/b.py");
  EXPECT_EQ(mine.function, "mine");
  EXPECT_EQ(mine.op, "attention");
}

TEST(PythonFunction, IsDeclaredByItsFileAndItsName) {
  const std::string file = testing::TempDir() + "declared.py";
  std::ofstream{file} << "def mine(q, k, v): pass\n";
  const model::Plugin mine = declared_function(file + ":mine");
  EXPECT_EQ(mine.name, "mine");
  EXPECT_EQ(mine.path, file + ":mine");
  EXPECT_EQ(mine.digest.size(), 64U);
  EXPECT_THAT(mine.parts, ElementsAre("Attention"));
  EXPECT_THAT(declared_function(file + ":swiglu").parts, ElementsAre("Kernel/op:swiglu"));
  try {
    static_cast<void>(declared_function(file + ":my kernel"));
    FAIL() << "declared a function that there cannot be";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'my kernel' is not the name of a function of 1 to 32 letters"));
  }
}

TEST(PythonFunction, OneHeadAndSeveralNeedAPackageEach) {
  const std::vector<CaseId> cases{case_of("8", "1", "64", "512", "bf16"), case_of("8", "1", "64", "2048", "bf16"),
                                  case_of("4", "16", "1024", "512", "bf16"), case_of("4", "12", "768", "512", "bf16"),
                                  case_of("4", "16", "2048", "512", "bf16", "flash")};
  EXPECT_THAT(needed_packages(kMine, cases),
              ElementsAre(PackageNeed{"bf16", "heads=1,head_dim=64"}, PackageNeed{"bf16", "head_dim=64"}));
}

TEST(PythonFunction, WhatAPackageDoesNotServeIsFixed) {
  EXPECT_THAT(needed_packages(kMine, std::vector{case_of("1", "1", "64", "100", "fp32")}),
              ElementsAre(PackageNeed{"fp32", "batch=1,heads=1,seq_len=100,head_dim=64"}));
}

TEST(PythonFunction, OtherFamiliesNeedAPackageForEachPrecision) {
  const model::Plugin swiglu{.path = "/a/b.py:swiglu", .name = "swiglu", .digest = "0", .parts = {"Kernel/op:swiglu"}};
  const auto kernel = [](const std::string& op, const std::string& precision) {
    return CaseId{"Kernel", {{"op", op}, {"precision", precision}, {"impl", "swiglu"}}};
  };
  EXPECT_THAT(needed_packages(
                  swiglu, std::vector{kernel("swiglu", "bf16"), kernel("swiglu", "fp32"), kernel("rmsnorm", "fp16")}),
              ElementsAre(PackageNeed{"bf16", ""}, PackageNeed{"fp32", ""}));
  EXPECT_THAT(needed_packages(kMine, std::vector{kernel("swiglu", "bf16")}), IsEmpty());
}

}  // namespace
}  // namespace tbench::bench
