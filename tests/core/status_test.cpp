#include "tbench/core/status.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tbench {
namespace {

TEST(StatusTest, NamesGoBothWaysAndDiffer) {
  EXPECT_EQ(to_string(Status::kOk), "ok");
  EXPECT_EQ(to_string(Status::kOom), "oom");
  EXPECT_EQ(to_string(Status::kUnsupported), "unsupported");
  EXPECT_EQ(to_string(Status::kIncorrect), "incorrect");
  EXPECT_EQ(to_string(Status::kUnstable), "unstable");
  EXPECT_EQ(to_string(Status::kThrottled), "throttled");
  EXPECT_EQ(to_string(Status::kTimeout), "timeout");
  EXPECT_EQ(to_string(Status::kCrashed), "crashed");
  std::set<std::string_view> names;
  for (const Status status : kAllStatuses) {
    EXPECT_EQ(parse_status(to_string(status)), status);
    names.insert(to_string(status));
  }
  EXPECT_EQ(names.size(), 8U);
}

TEST(StatusTest, ParseTakesNothingElse) {
  for (const char* text : {"", "OK", "ok ", "fail", "time"}) EXPECT_EQ(parse_status(text), std::nullopt) << text;
}

TEST(StatusTest, AStatusHasATimeOrFailsTheRunOrNeither) {
  const std::set<Status> timed{Status::kOk, Status::kUnstable, Status::kThrottled};
  const std::set<Status> failed{Status::kIncorrect, Status::kTimeout, Status::kCrashed};
  for (const Status status : kAllStatuses) {
    EXPECT_EQ(has_time(status), timed.contains(status)) << to_string(status);
    EXPECT_EQ(is_failure(status), failed.contains(status)) << to_string(status);
  }
}

}  // namespace
}  // namespace tbench
