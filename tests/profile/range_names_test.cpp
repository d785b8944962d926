#include "tbench/profile/range_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tbench/core/error.hpp"
#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(parse_range_rename(text));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> names_after(Trace trace, const std::vector<std::string>& maps) {
  std::vector<RangeRename> renames;
  for (const std::string& map : maps) renames.push_back(parse_range_rename(map));
  rename_ranges(trace, renames);
  std::vector<std::string> names;
  for (const Range& range : trace.ranges) names.push_back(trace.names[range.name]);
  return names;
}

/// Returns ranges with the names that other programs use.
Trace theirs() {
  return TraceWriter{}
      .range(0, 10, "train/fwd")
      .range(1, 5, "block 3")
      .range(2, 4, "h.3.attn")
      .range(20, 30, "loss = mse")
      .range(40, 50, "train/fwd")
      .take();
}

TEST(RangeRename, TheLastEqualsSignCounts) {
  const RangeRename rename = parse_range_rename("loss = mse=BACKWARD");
  EXPECT_EQ(rename.from, "loss = mse");
  EXPECT_EQ(rename.to, "BACKWARD");
}

TEST(RangeRename, WithoutTwoNamesIsRefused) {
  EXPECT_THAT(error_of("FORWARD"), AllOf(HasSubstr("--map 'FORWARD': it has no '='"), HasSubstr("Give 'THEIRS=OURS'")));
  EXPECT_THAT(error_of("=FORWARD"), HasSubstr("a name is empty"));
  EXPECT_THAT(error_of("fwd="), HasSubstr("a name is empty"));
}

TEST(RangeRename, WithAStarTooManyIsRefused) {
  EXPECT_THAT(error_of("a*b*=c"), HasSubstr("'a*b*' has 2 '*', and one is allowed"));
  EXPECT_THAT(error_of("a=b*"), HasSubstr("'b*' has more '*' than 'a'"));
}

TEST(RenameRanges, EveryRangeOfTheName) {
  EXPECT_THAT(names_after(theirs(), {"train/fwd=FORWARD", "loss = mse=BACKWARD"}),
              ElementsAre("FORWARD", "block 3", "h.3.attn", "BACKWARD", "FORWARD"));
}

TEST(RenameRanges, AStarStandsForAnyText) {
  EXPECT_THAT(names_after(theirs(), {"h.*.attn=attention", "block *=layer.*"}),
              ElementsAre("train/fwd", "layer.3", "attention", "loss = mse", "train/fwd"));
}

TEST(RenameRanges, TheFirstThatFitsCounts) {
  EXPECT_THAT(names_after(theirs(), {"train/*=*", "*=other"}), ElementsAre("fwd", "other", "other", "other", "fwd"));
}

TEST(RenameRanges, KernelsOfTheNameKeepIt) {
  Trace trace = TraceWriter{}.range(0, 10, "x").call(1, 2, 1).kernel(3, 4, 1, "x").take();
  const std::vector<RangeRename> renames{{.from = "x", .to = "FORWARD"}};
  rename_ranges(trace, renames);
  EXPECT_EQ(trace.names[trace.operations[0].name], "x");
  EXPECT_EQ(trace.names[trace.ranges[0].name], "FORWARD");
}

TEST(RenameRanges, ANameOfNoRangeIsRefused) {
  try {
    static_cast<void>(names_after(theirs(), {"train/fwt=FORWARD"}));
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--map: no range is named 'train/fwt'; did you mean 'train/fwd'?");
  }
}

}  // namespace
}  // namespace tbench::profile
