#include "tbench/profile/profile_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "profile/files/folded_stacks.hpp"
#include "support/file_size_limit.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"
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
    EXPECT_THAT(error_of(folder.path()), AllOf(HasSubstr(folder.file(name)), HasSubstr("no earlier profile")));
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
  EXPECT_THAT(error, AllOf(HasSubstr("cannot write '" + folder.file("trace.json.gz")), HasSubstr("give a folder")));
  EXPECT_THAT(folder.names(), IsEmpty());
}

}  // namespace
}  // namespace tbench::profile
