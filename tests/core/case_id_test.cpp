#include "tbench/core/case_id.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

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

TEST(CaseIdTest, NamesTheKeyThatIsNotThere) {
  EXPECT_EQ(message_of<std::out_of_range>([] { static_cast<void>(kExample.at("batch")); }),
            "case 'Model/size:2.7B/ctx:1024/pass:train_step' has no key 'batch'");
  EXPECT_THROW(static_cast<void>(kExample.int_at("batch")), std::out_of_range);
}

TEST(CaseIdTest, NamesTheValueThatIsNoNumber) {
  EXPECT_EQ(message_of<std::invalid_argument>([] { static_cast<void>(kExample.int_at("size")); }),
            "case 'Model/size:2.7B/ctx:1024/pass:train_step': size is not a whole number");
}

}  // namespace
}  // namespace tbench
