#include "tbench/results/experiments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tbench/core/error.hpp"

namespace tbench::results {
namespace {

using ::testing::HasSubstr;

const std::string kHeader = "date,commit,gpu,kernel,change,shape,before_us,after_us,kept,reason,source\n";

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(parse_experiments(text, "a.csv"));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Experiments, AreReadWithQuotedCells) {
  const std::vector<Experiment> read = parse_experiments(
      kHeader +
          "2026-11-23,6fca79a,H200,my_kernel,\"a, b\",seq_len:64,10,12.5,no,\"said \"\"no\"\"\nlater\",typed\r\n"
          "2026-11-24,6fca79a,,,library,,,,,,typed",
      "a.csv");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].change, "a, b");
  EXPECT_EQ(read[0].before, Seconds{10e-6});
  EXPECT_EQ(read[0].after, Seconds{12.5e-6});
  EXPECT_EQ(read[0].was_kept, false);
  EXPECT_EQ(read[0].reason, "said \"no\"\nlater");
  EXPECT_EQ(read[1].change, "library");
  EXPECT_FALSE(read[1].before || read[1].after || read[1].was_kept);
}

TEST(Experiments, ErrorsNameTheLineAndTheProblem) {
  EXPECT_THAT(error_of(""), HasSubstr("'a.csv', line 1: the columns are not date,commit,"));
  EXPECT_THAT(error_of(kHeader + "a,b\n"), HasSubstr("line 2: 2 cells instead of 11"));
  EXPECT_THAT(
      error_of(kHeader + "2026-11-23,c,g,k,\"x\ny\",s,1,2,yes,r,typed\n2026-11-23,c,g,k,x,s,1,-2,yes,r,typed\n"),
      HasSubstr("line 4: '-2' is not a time in microseconds"));
  EXPECT_THAT(error_of(kHeader + "2026-02-30,c,g,k,x,s,1,2,yes,r,typed\n"),
              HasSubstr("line 2: '2026-02-30' is not a date"));
  EXPECT_THAT(error_of(kHeader + "2026-11-23,c,g,k,x,s,1,2,maybe,r,typed\n"), HasSubstr("kept is 'maybe'"));
  EXPECT_THAT(error_of(kHeader + "2026-11-23,c,g,k,\"x,s,1,2,yes,r,typed\n"),
              HasSubstr("line 2: a quote is not closed"));
}

}  // namespace
}  // namespace tbench::results
