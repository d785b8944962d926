// Runs tbench as a user does, and expects its answers to mistakes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/sample_results.hpp"

namespace tbench::tool {

inline const std::string kGolden = TBENCH_TEST_DATA "/results_golden.json";

inline support::ChildResult tbench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TBENCH_TOOL);
  return support::run_tool(arguments);
}

/// Expects exit status 2, nothing on stdout, and one line on stderr.
inline void expect_usage_error(const std::vector<std::string>& arguments,
                               const testing::Matcher<std::string>& message) {
  const support::ChildResult result = tbench(arguments);
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, testing::AllOf(testing::StartsWith("tbench: "), message));
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
}

/// Returns results whose samples are longer by 0.1 %.
inline results::ResultFile of_another_process(results::ResultFile file) {
  for (Record& record : file.records) {
    if (record.timing) support::scale_samples(*record.timing, 1.001);
  }
  return file;
}

}  // namespace tbench::tool
