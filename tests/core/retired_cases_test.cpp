#include "tbench/core/case_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tbench/core/error.hpp"

namespace tbench {
namespace {

using ::testing::HasSubstr;

bool contains(const std::string& text, const std::string& name, Suite suite = Suite::kFull) {
  return RetiredCases::parse(text, "r.txt").contain(suite, CaseId::parse(name));
}

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(RetiredCases::parse(text, "r.txt"));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(RetiredCases, ALineFitsTheCasesWithItsValuesAndWithoutItsAbsentKeys) {
  const std::string line = "drop full Attention pass:backward,forward heads:1 -deterministic";
  EXPECT_TRUE(contains(line, "Attention/heads:1/pass:backward"));
  EXPECT_TRUE(contains(line, "Attention/heads:1/pass:forward"));
  EXPECT_FALSE(contains(line, "Attention/heads:1/pass:forward_backward"));
  EXPECT_FALSE(contains(line, "Attention/heads:16/pass:backward"));
  EXPECT_FALSE(contains(line, "Attention/pass:backward")) << "a key that the case has not";
  EXPECT_FALSE(contains(line, "Attention/heads:1/pass:backward/deterministic:1"));
  EXPECT_FALSE(contains(line, "Model/heads:1/pass:backward"));
  EXPECT_FALSE(contains(line, "Attention/heads:1/pass:backward", Suite::kStandard));
}

TEST(RetiredCases, TheFirstLineThatFitsDecides) {
  const std::string lines = "# why\n\nkeep full Model size:small  # this one stays\ndrop full Model size:small,xl\n";
  EXPECT_FALSE(contains(lines, "Model/size:small"));
  EXPECT_TRUE(contains(lines, "Model/size:xl"));
  EXPECT_FALSE(contains("", "Model/size:xl"));
}

TEST(RetiredCases, ABadLineIsNamed) {
  EXPECT_THAT(error_of("# fine\nlose full Model size:xl"), HasSubstr("r.txt:2: 'lose' is neither drop nor keep"));
  EXPECT_THAT(error_of("drop big Model size:xl"), HasSubstr("r.txt:1: there is no suite 'big'"));
  for (const char* word : {"size", ":xl", "size:", "-"}) {
    EXPECT_THAT(error_of(std::string{"drop full Model "} + word), HasSubstr("is neither KEY:VALUE nor -KEY")) << word;
  }
  EXPECT_THAT(error_of("drop full Model"), HasSubstr("expected: drop|keep SUITE FAMILY KEY:VALUE"));
}

TEST(RetiredCases, TheBuiltInOnesAreThoseOfTheFile) {
  EXPECT_TRUE(retired_cases().contain(Suite::kStandard, CaseId::parse("Model/size:xl/impl:flash/exec:graph")));
  EXPECT_FALSE(retired_cases().contain(Suite::kFull, CaseId::parse("Model/size:xl/impl:flash/exec:graph")));
}

}  // namespace
}  // namespace tbench
