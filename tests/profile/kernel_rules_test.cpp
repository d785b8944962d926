#include "tbench/profile/kernel_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"

namespace tbench::profile {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  try {
    static_cast<void>(KernelRules::parse(text, "my.txt"));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(KernelRules, TheFirstThatIsFoundDecides) {
  const KernelRules rules = KernelRules::parse(
      "# comment\n"
      "\n"
      "  gemm \t^my_(mm|bmm)  \r\n"
      "norm a b$\n"
      "copy my_",
      "my.txt");
  EXPECT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules.classify("my_bmm_3"), KernelClass::kGemm);
  EXPECT_EQ(rules.classify("not_my_mm"), KernelClass::kCopy);
  EXPECT_EQ(rules.classify("x a b"), KernelClass::kNorm);
  EXPECT_EQ(rules.classify("x a b "), KernelClass::kOther);
  EXPECT_EQ(rules.classify(""), KernelClass::kOther);
}

TEST(KernelRules, ReadMangledNames) {
  const KernelRules rules = KernelRules::parse("gemm ^spin\\(unsigned", "my.txt");
  EXPECT_EQ(rules.classify("_Z4spiny"), KernelClass::kGemm);
  EXPECT_EQ(rules.classify("_Znonsense"), KernelClass::kOther);
}

TEST(KernelRules, SayWhereAFileIsWrong) {
  EXPECT_THAT(refusal("# a\n gem x"), AllOf(HasSubstr("'my.txt', line 2, column 2: 'gem' is not a class of kernels"),
                                            HasSubstr("did you mean 'gemm'?")));
  EXPECT_THAT(refusal("zzz x"), HasSubstr("'zzz' is not a class of kernels (classes: gemm, attention_"));
  EXPECT_THAT(refusal("gemm a\nnorm  \n"),
              HasSubstr("line 2, column 5: class 'norm' has no expression; write 'norm EXPR"));
  EXPECT_EQ(refusal("gemm a\n\nnorm  ab(c\n"),
            "'my.txt', line 3, column 9: 'ab(c' is not a rule: '(' has no ')'; write '\\(' for the bracket itself");
  EXPECT_THAT(refusal("gemm ab[z-a]c"),
              AllOf(HasSubstr("line 1, column 8: 'ab[z-a]c' is not a rule: "), HasSubstr("range")));
  EXPECT_THAT(refusal("gemm x{2}"), HasSubstr("line 1, column 7: 'x{2}' is not a rule: '{' would count"));
  EXPECT_THAT(refusal(""), HasSubstr("'my.txt' has no rule"));
  EXPECT_THAT(refusal("# only a comment"), HasSubstr("'my.txt' has no rule"));
  EXPECT_THAT(refusal(std::string_view{"gemm a\0b", 8}), HasSubstr("'my.txt' is not a text file"));
}

TEST(KernelRules, AreReadFromAFile) {
  const support::TemporaryFolder folder;
  support::write_text(folder.file("rules.txt"), "loss ^mine");
  EXPECT_EQ(KernelRules::read(folder.file("rules.txt")).classify("mine"), KernelClass::kLoss);
  EXPECT_THROW(static_cast<void>(KernelRules::read(folder.file("none.txt"))), UsageError);
  EXPECT_THROW(static_cast<void>(KernelRules::read(folder.path())), UsageError);
}

TEST(KernelClassifier, TellsTheSameAsTheRulesEveryTime) {
  KernelClassifier classify{KernelRules::built_in()};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(classify("ampere_sgemm_128x64_tn"), KernelClass::kGemm);
    EXPECT_EQ(classify("my_kernel"), KernelClass::kOther);
  }
}

/// The test takes 0.3 s in a release build on one core of an EPYC. The limit allows for sanitizers and a busy machine.
TEST(KernelRules, ClassifyTenThousandDistinctNames) {
  const std::string begin = "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::";
  const std::string end(400, 'x');
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(KernelRules::built_in().classify(begin + std::to_string(i) + end), KernelClass::kElementwise);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{10});
}

}  // namespace
}  // namespace tbench::profile
