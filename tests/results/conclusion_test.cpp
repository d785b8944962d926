#include "tbench/results/conclusion.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tbench::results {
namespace {

TEST(Conclusion, StandsBeforeTheRest) {
  const Json document = concluded("diff", {.verdict = "SAME", .why = {"a", "b"}, .next = "tbench x"}, {{"cases", 1}});
  EXPECT_EQ(document.dump(),
            R"({"schema":"tbench.diff/1","verdict":"SAME","why":["a","b"],"next":"tbench x","cases":1})");
}

TEST(Conclusion, HasANullWhereThereIsNothingToDo) {
  const Json document = concluded("gate", {.verdict = "PASSED", .why = {"a"}}, Json::object());
  EXPECT_TRUE(document.at("next").is_null());
  EXPECT_EQ(document.size(), 4U);
}

TEST(CorrectableError, IsAUsageErrorWithACommand) {
  try {
    throw CorrectableError{"no trace; trace it", "transformer_bench --tb_trace=on"};
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "no trace; trace it");
    EXPECT_EQ(dynamic_cast<const CorrectableError&>(error).next(), "transformer_bench --tb_trace=on");
  }
}

}  // namespace
}  // namespace tbench::results
