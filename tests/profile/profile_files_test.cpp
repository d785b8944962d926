#include "tbench/profile/profile_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "profile/files/pickle_writer.hpp"
#include "support/file_size_limit.hpp"
#include "support/memory_log.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
#include "tbench/profile/flame_graph.hpp"
#include "tbench/profile/profile_page.hpp"
#include "tbench/results/durable_file.hpp"
#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

void write(const std::string& folder, const Trace& trace = one_step(), const TraceFacts& facts = {}) {
  write_profile_files(folder, trace, facts, analyse(trace, KernelRules::built_in()));
}

std::string error_of(const std::string& folder) {
  try {
    write(folder);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(FoldedStacks, HaveRangesClassAndKernel) {
  EXPECT_EQ(folded_stacks(analyse(one_step(), KernelRules::built_in())),
            "(no range);other;mystery 15\n"
            "FORWARD;layer.*;attention;gemm;nvjet_a 30\n"
            "FORWARD;layer.*;attention;softmax_forward;softmax_warp_forward 10\n"
            "FORWARD;layer.*;gemm;nvjet_a 60\n"
            "OPTIMIZER;memcpy;Memcpy HtoD 20\n"
            "OPTIMIZER;optimizer;multi_tensor_apply_kernel 20\n");
}

TEST(FoldedStacks, AddUpKernelsThatDifferInTemplateArgumentsAndKeepTheirFormat) {
  const Trace trace = TraceWriter{}
                          .range(0, 9, "a;b\nc")
                          .call(1, 2, 1)
                          .call(3, 4, 2)
                          .kernel(10, 15, 1, "void mystery<float>(float*)")
                          .kernel(20, 27, 2, "void mystery<double>(double*)")
                          .take();
  EXPECT_EQ(folded_stacks(analyse(trace, KernelRules::built_in())), "a,b c;other;mystery 12\n");
}

TEST(ProfileFiles, AreWrittenAndReplaced) {
  const support::TemporaryFolder folder;
  const std::string path = folder.file("new/folder");
  write(path, one_layer(), {.steps = 2});
  write(path, in_microseconds(one_step()), {.steps = 2, .gpus = {"NVIDIA H200"}});
  const auto text_of = [&](const std::string& name) { return results::read_whole_file(path + "/" + name); };
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{path}, {}), 6);
  EXPECT_EQ(read_trace_file(path).trace, in_microseconds(one_step()));
  EXPECT_EQ(read_trace_file(path).facts.steps, 2);
  EXPECT_THAT(text_of("kernels.csv"),
              AllOf(StartsWith("phase,class,calls,total ms,"), HasSubstr("\nFORWARD,gemm,1.500,0.04500,90.0,30.00,"),
                    HasSubstr("\"void softmax_warp_forward<float, float, float, 9, false, ")));
  EXPECT_THAT(text_of("ranges.csv"), HasSubstr("\n· layer.*,1,0.04000,"));
  EXPECT_THAT(text_of("api.csv"), HasSubstr("\ncudaLaunchKernel,3,0.01200,"));
  EXPECT_THAT(text_of("folded.txt"), HasSubstr("FORWARD;layer.*;gemm;nvjet_a 60000\n"));
  EXPECT_EQ(text_of("summary.json"),
            profile_json(analyse(in_microseconds(one_step()), KernelRules::built_in()), 2, "tbench profile " + path));
}

TEST(ProfileFiles, OfAnEmptyTraceHaveTheirHeaders) {
  const support::TemporaryFolder folder;
  write(folder.path(), Trace{});
  EXPECT_THAT(results::read_whole_file(folder.file("ranges.csv")), StartsWith("range,n,host ms,"));
  EXPECT_EQ(results::read_whole_file(folder.file("folded.txt")), "");
}

TEST(ProfileFiles, OfSomebodyElseStay) {
  for (const char* name : {"trace.json.gz", "kernels.csv", "summary.json"}) {
    const support::TemporaryFolder folder;
    support::write_text(folder.file(name), "mine");
    EXPECT_THAT(error_of(folder.path()), AllOf(HasSubstr(folder.file(name)), HasSubstr("not an earlier profile")));
    EXPECT_THAT(folder.names(), ElementsAre(name));
    EXPECT_EQ(results::read_whole_file(folder.file(name)), "mine");
  }
  const support::TemporaryFolder folder;
  support::write_text(folder.file("notes.txt"), "mine");
  EXPECT_EQ(error_of(folder.path()), "no error");
}

TEST(ProfileFiles, WithoutAFolderToWriteTo) {
  const support::TemporaryFolder folder;
  support::write_text(folder.file("file"), "");
  EXPECT_THAT(error_of(folder.file("file")), AllOf(HasSubstr("file'"), HasSubstr("give a folder that can be written")));
  EXPECT_THAT(error_of(folder.file("file/below")), HasSubstr("cannot make the folder"));
}

TEST(ProfileFiles, OnAFullDisk) {
  const support::TemporaryFolder folder;
  std::string error;
  {
    const support::FileSizeLimit limit{100};
    error = error_of(folder.path());
  }
  EXPECT_THAT(error, AllOf(HasSubstr("cannot write '" + folder.file("trace.json.gz")), HasSubstr("ulimit -f")));
  EXPECT_THAT(folder.names(), IsEmpty());
}

constexpr std::array<std::string_view, 2> kPhases{"forward", "backward"};

// Tests the bytes of the format. memory_viz_test.py reads them in Python.
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
