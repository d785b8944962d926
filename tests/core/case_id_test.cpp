#include "tbench/core/case_id.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tbench/core/error.hpp"

namespace tbench {
namespace {

const CaseId kExample{"Model", {{"size", "2.7B"}, {"ctx", "1024"}, {"pass", "train_step"}}};

template <class Error, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(CaseIdTest, NameHoldsTheParametersInTheirOrder) {
  EXPECT_EQ(kExample.name(), "Model/size:2.7B/ctx:1024/pass:train_step");
}

TEST(CaseIdTest, ParseIsTheInverseOfName) {
  EXPECT_EQ(CaseId::parse(kExample.name()), kExample);
  EXPECT_EQ(CaseId::parse("Kernel/shape:2:3").at("shape"), "2:3");  // only the first colon separates
}

TEST(CaseIdTest, TheOrderOfParametersIsPartOfTheIdentity) {
  const CaseId other{"Model", {{"ctx", "1024"}, {"size", "2.7B"}, {"pass", "train_step"}}};
  EXPECT_NE(other, kExample);
  EXPECT_NE(CaseId("Gemm", kExample.parameters()), kExample);
}

TEST(CaseIdTest, ParseRefusesWhatIsNoName) {
  for (const char* name : {"", "Model", "/ctx:1", "Model/", "Model/ctx", "Model/:1", "Model/ctx:", "Model//ctx:1"}) {
    EXPECT_THROW(static_cast<void>(CaseId::parse(name)), std::invalid_argument) << name;
  }
  EXPECT_EQ(message_of<std::invalid_argument>([] { static_cast<void>(CaseId::parse("Model/ctx:8/batch")); }),
            "case name 'Model/ctx:8/batch': 'batch' is not key:value");
}

TEST(CaseIdTest, GivesValuesByKey) {
  EXPECT_EQ(kExample.at("size"), "2.7B");
  EXPECT_EQ(kExample.int_at("ctx"), 1024);
}

TEST(CaseIdTest, TellsWhatItHas) {
  ASSERT_NE(kExample.find("ctx"), nullptr);
  EXPECT_EQ(*kExample.find("ctx"), "1024");
  EXPECT_EQ(kExample.find("batch"), nullptr);
  const std::vector<CaseId::Parameter> both{{"pass", "train_step"}, {"size", "2.7B"}};
  const std::vector<CaseId::Parameter> other{{"pass", "train_step"}, {"size", "small"}};
  EXPECT_TRUE(kExample.has(both));
  EXPECT_FALSE(kExample.has(other));
  EXPECT_TRUE(kExample.has({}));
}

TEST(CaseIdTest, NamesTheKeyThatIsNotThere) {
  EXPECT_EQ(message_of<std::out_of_range>([] { static_cast<void>(kExample.at("batch")); }),
            "case 'Model/size:2.7B/ctx:1024/pass:train_step' has no key 'batch'");
  EXPECT_THROW(static_cast<void>(kExample.int_at("batch")), std::out_of_range);
}

TEST(CaseIdTest, NamesTheValueThatIsNoNumber) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { static_cast<void>(kExample.int_at("size")); }),
            "case 'Model/size:2.7B/ctx:1024/pass:train_step': size is not a whole number");
}

TEST(CaseFilter, FindsTheExpressionAnywhereInTheName) {
  const CaseFilter filter{"impl:(sdpa|flash)$", "--filter"};
  EXPECT_TRUE(filter("Model/size:small/impl:sdpa"));
  EXPECT_FALSE(filter("Attention/impl:sdpa_flash"));
  EXPECT_FALSE(filter("Model/size:small/impl:eager"));
}

TEST(CaseFilter, WhatWouldTakeTheStackIsRefused) {
  const CaseFilter filter{".*x$", "--filter"};
  EXPECT_FALSE(filter(std::string(1024, 'A')));
  EXPECT_THROW(static_cast<void>(filter(std::string(1025, 'A'))), UsageError);
  EXPECT_THROW((CaseFilter{std::string(70'000, 'a'), "--filter"}), UsageError);
  EXPECT_THROW((CaseFilter{std::string(2'000, '(') + std::string(2'000, ')'), "--filter"}), UsageError);
  EXPECT_TRUE((CaseFilter{"((a|b)|(c))+", "--filter"})("xcx"));
}

TEST(CaseFilter, ALeadingMinusSelectsTheOthers) {
  const CaseFilter filter{"-impl:eager", "--filter"};
  EXPECT_FALSE(filter("Model/impl:eager"));
  EXPECT_TRUE(filter("Model/impl:sdpa"));
}

TEST(CaseFilter, AnEmptyExpressionSelectsAll) { EXPECT_TRUE((CaseFilter{"", "--filter"}("Model/impl:eager"))); }

TEST(CaseFilter, IsPosixExtendedForEveryFlag) {
  // ECMAScript's classes and lazy repeats are not part of it: 'd' is a letter here, not any digit.
  EXPECT_FALSE((CaseFilter{"ctx:[[:alpha:]]", "REGEX"}("Model/ctx:512")));
  EXPECT_TRUE((CaseFilter{"ctx:[[:digit:]]{3}", "REGEX"}("Model/ctx:512")));
  EXPECT_TRUE((CaseFilter{"m:4096?/", "REGEX"}("Gemm/m:409/n:1")));
}

TEST(CaseFilter, AnExpressionThatIsNoneNamesFlagAndValue) {
  try {
    static_cast<void>(CaseFilter{"Model/(", "--benchmark_filter"});
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                ::testing::StartsWith("--benchmark_filter: 'Model/(' is not an extended regular expression: "));
  }
}

}  // namespace
}  // namespace tbench
