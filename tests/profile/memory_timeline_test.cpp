// Tests which ranges hold the memory in the second step of memory_log.hpp, read back from the file of memory_csv().
#include "tbench/profile/memory_timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "support/memory_log.hpp"
#include "tbench/core/error.hpp"
#include "tbench/profile/profile_files.hpp"

namespace tbench::profile {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::array<std::string_view, 2> kPhases{"forward", "backward"};
constexpr const char* kHeader = "event,step,phase,range,address,bytes,allocated bytes\n";

std::vector<MemoryRow> logged_rows() {
  const support::LoggedSteps logged;
  return read_memory_csv(memory_csv(logged.log, logged.steps, kPhases), "memory.csv");
}

TEST(MemoryTimeline, IsOfTheLastStep) {
  const std::optional<MemoryTimeline> timeline = memory_timeline(logged_rows());
  ASSERT_TRUE(timeline);
  EXPECT_EQ(timeline->step, 2);
  // The events: the old gradient of 40 is freed, activations of 100 and 200 and a gradient of 40 are allocated, and the
  // activations are freed.
  EXPECT_THAT(timeline->events, ElementsAre(1, 2, 3, 4, 5, 6));
  ASSERT_THAT(timeline->bands, SizeIs(3));
  EXPECT_EQ(timeline->bands[0].range, "before the step");
  EXPECT_THAT(timeline->bands[0].bytes, ElementsAre(1000, 1000, 1000, 1000, 1000, 1000));
  EXPECT_EQ(timeline->bands[1].range, "FORWARD/layer.*");
  EXPECT_THAT(timeline->bands[1].bytes, ElementsAre(0, 100, 300, 300, 100, 0));
  EXPECT_EQ(timeline->bands[2].range, "BACKWARD/layer.*");
  EXPECT_THAT(timeline->bands[2].bytes, ElementsAre(0, 0, 0, 40, 40, 40));
  EXPECT_EQ(timeline->peak, 3U);
  ASSERT_THAT(timeline->phases, SizeIs(2));
  EXPECT_EQ(timeline->phases[1].name, "backward");
  EXPECT_EQ(timeline->phases[1].point, 3U);
}

TEST(MemoryTimeline, FewerPointsKeepThePeak) {
  const std::optional<MemoryTimeline> timeline = memory_timeline(logged_rows(), {.max_points = 2});
  ASSERT_TRUE(timeline);
  EXPECT_THAT(timeline->events, ElementsAre(3, 4)) << "of 1,000, 1,100, 1,300 and of 1,340, 1,140, 1,040";
  EXPECT_THAT(timeline->bands[1].bytes, ElementsAre(300, 300));
  EXPECT_EQ(timeline->peak, 1U);
  EXPECT_EQ(timeline->phases[1].point, 1U);
}

MemoryRow row(const std::string& range, std::uint64_t address, std::int64_t bytes, std::int64_t allocated) {
  return {.step = 1, .phase = "forward", .range = range, .address = address, .bytes = bytes, .allocated = allocated};
}

TEST(MemoryTimeline, SmallBandsAreOthers) {
  const std::vector<MemoryRow> rows{row("a", 1, 10, 10), row("b", 2, 40, 50), row("c", 3, 20, 70), row("", 4, 5, 75)};
  const std::optional<MemoryTimeline> timeline = memory_timeline(rows, {.max_bands = 3});
  ASSERT_TRUE(timeline);
  ASSERT_THAT(timeline->bands, SizeIs(3));
  EXPECT_EQ(timeline->bands[1].range, "b");
  EXPECT_EQ(timeline->bands[2].range, "others");
  EXPECT_THAT(timeline->bands[2].bytes, ElementsAre(10, 10, 30, 35)) << "c, a and what is in no range";
}

TEST(MemoryTimeline, AnAddressIsGivenOutAgain) {
  const std::vector<MemoryRow> rows{row("a", 1, 10, 10), row("b", 1, -10, 0), row("b", 1, 30, 30)};
  const std::optional<MemoryTimeline> timeline = memory_timeline(rows);
  ASSERT_TRUE(timeline);
  ASSERT_THAT(timeline->bands, SizeIs(3));
  EXPECT_EQ(timeline->bands[1].range, "b");
  EXPECT_THAT(timeline->bands[1].bytes, ElementsAre(0, 0, 30));
  EXPECT_THAT(timeline->bands[2].bytes, ElementsAre(10, 0, 0)) << "freed by b, but a's";
}

TEST(MemoryTimeline, NeedsAStep) {
  EXPECT_FALSE(memory_timeline({}));
  const support::LoggedSteps logged;
  EXPECT_FALSE(memory_timeline(read_memory_csv(memory_csv(logged.log, {}, kPhases), "memory.csv")));
}

TEST(ReadMemoryCsv, ReadsWhatIsWritten) {
  const std::vector<MemoryRow> rows = read_memory_csv(
      std::string{kHeader} + "1,2,forward,\"a,\"\"b\"\"\",0xff00000000,-5000000000,7\n2,,,,0x1,8,15\n", "memory.csv");
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].step, 2);
  EXPECT_EQ(rows[0].phase, "forward");
  EXPECT_EQ(rows[0].range, "a,\"b\"");
  EXPECT_EQ(rows[0].address, 0xff00000000U);
  EXPECT_EQ(rows[0].bytes, -5'000'000'000);
  EXPECT_EQ(rows[0].allocated, 7);
  EXPECT_EQ(rows[1].step, 0);
}

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(read_memory_csv(text, "dir/memory.csv"));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(ReadMemoryCsv, SaysWhereItIsDamaged) {
  EXPECT_THAT(error_of(""), HasSubstr("dir/memory.csv:1: the file is empty; trace the case again"));
  EXPECT_THAT(error_of("name,ms\n"), HasSubstr("dir/memory.csv:1: not the header 'event,step,"));
  for (const char* line :
       {"1,1,forward,a,0x1,5", "1,1,forward,a,1,5,5", "1,1,forward,a,0x,5,5", "1,1,forward,a,0x1,x,5",
        "1,-1,forward,a,0x1,5,5", "1,1,forward,a,0x1,5,-5", "1,1,forward,\"a,0x1,5,5", "",
        "1,1,forward,a,0xfffffffffffffffff,5,5", "1,1,forward,a,0x1,17592186044417,5",
        "1,1,forward,a,0x1,-17592186044417,5", "1,1,forward,a,0x1,5,17592186044417"}) {
    EXPECT_THAT(error_of(std::string{kHeader} + "1,1,forward,a,0x1,5,5\n" + line + "\n"),
                AllOf(HasSubstr("dir/memory.csv:3: not an event"), HasSubstr("move the file away")))
        << line;
  }
  EXPECT_THAT(error_of(std::string{kHeader} + "1,1,forward,a,0x1,5,5"), HasSubstr(":2: the last line is not whole"));
}

}  // namespace
}  // namespace tbench::profile
