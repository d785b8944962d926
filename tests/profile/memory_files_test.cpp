#include "tbench/profile/memory_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "profile/files/pickle_writer.hpp"
#include "support/memory_log.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"

namespace tbench::profile {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::array<std::string_view, 2> kPhases{"forward", "backward"};

// What Python makes of it: memory_viz_test.py.
TEST(Pickle, IsTheDocumentedFormat) {
  PickleWriter out;
  out.begin_dict();
  out.entry("a", 5);
  out.entry("b", "a");
  out.text("c");
  out.begin_list();
  out.number(-1);
  out.number(std::int64_t{1} << 40);
  out.end_list();
  out.end_dict();
  using namespace std::string_literals;
  EXPECT_EQ(std::move(out).take(),
            "\x80\x02}("
            "X\1\0\0\0ar\0\0\0\0J\5\0\0\0"
            "X\1\0\0\0br\1\0\0\0j\0\0\0\0"
            "X\1\0\0\0cr\2\0\0\0](J\xff\xff\xff\xff\x8a\x08\0\0\0\0\0\1\0\0eu."s);
}

TEST(MemoryCsv, HasAnEventARow) {
  const support::LoggedSteps logged;
  const std::string csv = memory_csv(logged.log, logged.steps, kPhases);
  EXPECT_THAT(csv, StartsWith("event,step,phase,range,address,bytes,allocated bytes\n"
                              "1,1,forward,FORWARD/layer.0,0x100000,100,1100\n"
                              "2,1,forward,FORWARD/layer.1,0x200000,200,1300\n"
                              "3,1,backward,BACKWARD/layer.1,0x900000,40,1340\n"));
  EXPECT_THAT(csv, HasSubstr("6,2,forward,,0x900000,-40,1000\n"));
  EXPECT_THAT(csv, HasSubstr("11,2,backward,BACKWARD/layer.1,0x100000,-100,1040\n"));
}

TEST(MemoryCsv, WhatIsBehindTheStepsIsInNone) {
  support::LoggedSteps logged;
  logged.log.events.push_back({.address = 1, .bytes = 8, .allocated = 1'048, .range = 0});
  EXPECT_THAT(memory_csv(logged.log, logged.steps, kPhases), HasSubstr("12,2,,,0x1,8,1048\n"));
  EXPECT_THAT(memory_csv(logged.log, {}, kPhases), HasSubstr("12,,,,0x1,8,1048\n"));
}

TEST(MemoryPickle, WritesEachStackOnce) {
  const support::LoggedSteps logged;
  const std::string pickle = memory_pickle(logged.log);
  const std::string name = "layer.1";
  EXPECT_NE(pickle.find(name), std::string::npos);
  EXPECT_EQ(pickle.find(name), pickle.rfind(name));
}

TEST(MemoryFiles, AFolderThatIsNotThereIsNamed) {
  const support::TemporaryFolder folder;
  const support::LoggedSteps logged;
  write_memory_files(folder.path(), logged.log, logged.steps, kPhases);
  EXPECT_TRUE(std::filesystem::exists(folder.file(kMemoryCsvName)));
  EXPECT_TRUE(std::filesystem::exists(folder.file(kMemoryPickleName)));
  try {
    write_memory_files(folder.file("none"), logged.log, logged.steps, kPhases);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("none/memory.csv"));
  }
}

}  // namespace
}  // namespace tbench::profile
