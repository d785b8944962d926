#include "bench/run/case_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "support/memory_log.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/profile/kernel_rules.hpp"
#include "tbench/profile/profile.hpp"
#include "tbench/profile/trace_file.hpp"

namespace tbench::bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kPhases{"forward", "backward"};
const CaseId kCase = CaseId::parse("Model/size:small/ctx:512");

profile::Trace one_kernel() {
  profile::Trace trace;
  trace.names = {"cudaLaunchKernel", "my_kernel"};
  trace.threads = {{.process = 0, .id = 1}};
  trace.calls = {{.start_ns = 0, .end_ns = 5, .name = 0, .thread = 0, .correlation = 1}};
  trace.operations = {{.start_ns = 10, .end_ns = 30, .name = 1, .correlation = 1}};
  return trace;
}

void write(CaseProfile& profile, std::int64_t steps) {
  const profile::Trace trace = one_kernel();
  profile.write(trace, profile::analyse(trace, profile::KernelRules::built_in()), steps);
}

std::string error_of(const std::string& root) {
  try {
    static_cast<void>(take_profile_root(root));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(CaseProfile, IsInAFolderOfItsCasesName) {
  const support::TemporaryFolder folder;
  static_cast<void>(take_profile_root(folder.file("a/b")));
  CaseProfile profile{folder.file("a/b"), kCase, "NVIDIA H200", kPhases};
  write(profile, 3);
  EXPECT_EQ(profile.problem(), std::nullopt);
  const std::string written = folder.file("a/b/Model_size=small_ctx=512");
  const profile::TraceFile file = profile::read_trace_file(written);
  EXPECT_EQ(file.facts.name, kCase.name());
  EXPECT_EQ(file.facts.steps, 3);
  EXPECT_THAT(file.facts.gpus, ::testing::ElementsAre("NVIDIA H200"));
  EXPECT_EQ(file.trace, one_kernel());
  EXPECT_TRUE(fs::exists(written + "/kernels.csv"));
  write(profile, 5);  // another repetition
  EXPECT_EQ(profile.problem(), std::nullopt);
  EXPECT_EQ(profile::read_trace_file(written).facts.steps, 5);
}

TEST(CaseProfile, HasTheAllocationsOfTheMemoryPass) {
  const support::TemporaryFolder folder;
  CaseProfile profile{folder.path(), kCase, "NVIDIA H200", kPhases};
  const support::LoggedSteps logged;
  profile.keep_memory(logged.log, logged.steps);
  const std::string written = folder.file(profile_folder_name(kCase));
  EXPECT_FALSE(fs::exists(written)) << "they come with the trace";
  write(profile, 3);
  EXPECT_EQ(profile.problem(), std::nullopt);
  EXPECT_TRUE(fs::exists(written + "/memory.csv"));
  EXPECT_TRUE(fs::exists(written + "/memory.pickle"));
}

TEST(CaseProfile, TellsWhatKeepsItFromBeingWritten) {
  const support::TemporaryFolder folder;
  CaseProfile profile{folder.path(), kCase, "NVIDIA H200", kPhases};
  std::ofstream{folder.file(profile_folder_name(kCase))} << "a file";
  EXPECT_NO_THROW(write(profile, 3));
  EXPECT_THAT(profile.problem().value_or(""), HasSubstr("Model_size=small_ctx=512"));
  fs::remove(folder.file(profile_folder_name(kCase)));
  write(profile, 3);
  EXPECT_EQ(profile.problem(), std::nullopt);
}

TEST(CaseProfile, ARootHasOneRunAtATime) {
  const support::TemporaryFolder folder;
  {
    const process::UniqueDescriptor first = take_profile_root(folder.path());
    EXPECT_THAT(error_of(folder.path()), HasSubstr("another run is writing there; give a folder that can be written"));
  }
  EXPECT_EQ(error_of(folder.path()), "");
}

TEST(CaseProfile, ARootThatCannotBeIsRefusedBeforeAnyWork) {
  const support::TemporaryFolder folder;
  EXPECT_EQ(error_of(folder.path()), "");
  std::ofstream{folder.file("taken")} << "a file";
  EXPECT_THAT(error_of(folder.file("taken")), AllOf(HasSubstr("--tb_profile="), HasSubstr("taken")));
  EXPECT_THAT(error_of(folder.file("taken/below")), AllOf(HasSubstr("cannot make it"), HasSubstr("can be written")));
}

}  // namespace
}  // namespace tbench::bench
