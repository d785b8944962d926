#include "tbench/profile/profile_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tbench/core/error.hpp"
#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// One step, its nanoseconds as microseconds.
Profile step_profile() {
  Trace trace = one_step();
  const auto scale = [](auto& events) {
    for (auto& event : events) {
      event.start_ns *= 1000;
      event.end_ns *= 1000;
    }
  };
  scale(trace.operations);
  scale(trace.calls);
  scale(trace.ranges);
  return analyse(trace, KernelRules::built_in());
}

std::string page(const std::string& table, PageFormat format = PageFormat::kCsv, TableOptions options = {}) {
  return profile_page(step_profile(), options, format, {}, {table}, std::nullopt);
}

TEST(ProfilePage, Ranges) {
  EXPECT_EQ(
      page("ranges"),
      "range,n,host ms,host excl. ms,GPU span ms,GPU sum ms,GPU busy ms,GPU excl. ms,GPU excl. %,operations,launches\n"
      "FORWARD,1,0.1000,0.02000,0.1200,0.1000,0.1000,0,0.0,4,4\n"
      "· layer.*,2,0.08000,0.06000,0.1020,0.1000,0.1000,0.06000,38.7,4,4\n"  // 60 / 155
      "· · attention,1,0.02000,0.02000,0.04000,0.04000,0.04000,0.04000,25.8,2,2\n"
      "OPTIMIZER,1,0.04000,0.04000,0.03000,0.04000,0.03000,0.04000,25.8,2,1\n"
      "(no range),,,,,,,0.01500,9.7,2,\n");
}

TEST(ProfilePage, PhasesAndClasses) {
  EXPECT_EQ(page("phases"),
            "phase,launches,kernels,kernels ms,copies ms,share %,matrix products %\n"
            "FORWARD,4,4,0.1000,0,64.5,90.0\n"
            "OPTIMIZER,1,1,0.02000,0.02000,25.8,0.0\n"
            "(no phase),1,2,0.01500,0,9.7,0.0\n");
  EXPECT_EQ(page("classes"),
            "phase,class,operations,total ms,share of phase %,share of all %\n"
            "FORWARD,gemm,3,0.09000,90.0,58.1\n"
            "FORWARD,softmax_forward,1,0.01000,10.0,6.5\n"
            "OPTIMIZER,optimizer,1,0.02000,50.0,12.9\n"
            "OPTIMIZER,memcpy,1,0.02000,50.0,12.9\n"
            "(no phase),other,2,0.01500,100.0,9.7\n");
}

TEST(ProfilePage, Kernels) {
  EXPECT_EQ(page("kernels"),
            "phase,class,calls,total ms,share %,mean us,std us,min us,max us,kernel\n"
            "FORWARD,gemm,3,0.09000,90.0,30.00,10.00,20.00,40.00,nvjet_a\n"
            "FORWARD,softmax_forward,1,0.01000,10.0,10.00,0,10.00,10.00,softmax_warp_forward\n"
            "OPTIMIZER,optimizer,1,0.02000,50.0,20.00,0,20.00,20.00,multi_tensor_apply_kernel\n"
            "(no phase),other,2,0.01500,100.0,7.500,3.536,5.000,10.00,mystery\n");
  EXPECT_THAT(page("kernels", PageFormat::kCsv, {.top = 1}), Not(HasSubstr("softmax_warp")));
  EXPECT_THAT(page("kernels", PageFormat::kCsv, {.has_full_names = true}),
              HasSubstr("\"void softmax_warp_forward<float, float, float, 9, false, false>(float*)\""));
  EXPECT_EQ(page("top_kernels"),
            "phase,%,top kernel,%,top kernel that is no matrix product\n"
            "FORWARD,90.0,nvjet_a,10.0,softmax_warp_forward\n"
            "OPTIMIZER,50.0,multi_tensor_apply_kernel,50.0,multi_tensor_apply_kernel\n"
            "(no phase),100.0,mystery,100.0,mystery\n");
}

TEST(ProfilePage, DevicesCallsAndCopies) {
  EXPECT_EQ(page("devices"),
            "device,span ms,busy ms,busy %,host wait ms,device wait ms,other ms,gaps,longest us,kernels,launches\n"
            "0,0.2000,0.1450,72.5,0,0.05000,0.005000,5,20.00,7,6\n");
  EXPECT_EQ(page("calls"),
            "call,calls,total ms,mean us,std us,min us,max us\n"
            "cudaLaunchKernel,6,0.02400,4.000,0.8944,3.000,5.000\n"  // squared distances 1+0+1+1+0+1 over 5
            "cudaMemcpyAsync,1,0.01000,10.00,0,10.00,10.00\n");
  EXPECT_EQ(page("copies"), "copy,count,MB,total ms,GB/s,share %\nMemcpy HtoD,1,0.004000,0.02000,0.2000,12.9\n");
}

TEST(ProfilePage, PerStep) {
  EXPECT_EQ(page("copies", PageFormat::kCsv, {.steps = 2}),
            "copy,count,MB,total ms,GB/s,share %\nMemcpy HtoD,0.5000,0.002000,0.01000,0.2000,12.9\n");
  EXPECT_THAT(page("phases", PageFormat::kText, {.steps = 2}), HasSubstr("Phases, per step\n"));
}

TEST(ProfilePage, Formats) {
  EXPECT_THAT(page("copies", PageFormat::kText),
              StartsWith("Copies and fills\n"
                         "copy         count        MB  total ms    GB/s  share %\n"
                         "-------------------------------------------------------\n"
                         "Memcpy HtoD      1  0.004000   0.02000  0.2000     12.9\n"));
  EXPECT_THAT(page("copies", PageFormat::kMarkdown), StartsWith("**Copies and fills**\n\n| copy | count |"));
  EXPECT_THAT(page("copies", PageFormat::kLatex),
              StartsWith("\\begin{longtable}{lrrrrr}\n\\caption{Copies and fills}"));
  // On a narrow terminal the columns that matter least go.
  const std::string narrow = profile_page(step_profile(), {}, PageFormat::kText, {}, {"ranges"}, 80);
  EXPECT_THAT(narrow, HasSubstr("GPU excl. %  launches\n"));
  EXPECT_THAT(narrow, Not(HasSubstr("GPU busy ms")));
  const std::string all = profile_page(step_profile(), {}, PageFormat::kText, {"what was read"}, {}, 80);
  EXPECT_THAT(all, StartsWith("what was read\n\nRanges: "));
  EXPECT_THAT(all, HasSubstr("\n1 of 8 operations have no call that launched them"));
  EXPECT_THAT(all, HasSubstr("\n2 of 8 operations were launched in no range (9.7 % of the time)"));
  EXPECT_THAT(all, HasSubstr("\n9.7 % of the time is of class other"));
}

TEST(ProfilePage, ATableThatThereIsNotIsRefused) {
  try {
    static_cast<void>(page("kernel"));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--table: unknown value 'kernel'; did you mean 'kernels'? (values: ranges, "));
  }
}

TEST(ProfileNotes, OfAWholeTraceThereIsNone) {
  const Trace trace = TraceWriter{}.range(0, 9, "a").call(1, 2, 1).kernel(3, 4, 1, "nvjet_a").take();
  EXPECT_THAT(profile_notes(analyse(trace, KernelRules::built_in())), ElementsAre());
}

TEST(ProfileJson, HasEverythingInSeconds) {
  const auto json = nlohmann::json::parse(profile_json(step_profile(), 3));
  EXPECT_EQ(json.at("steps"), 3);
  EXPECT_DOUBLE_EQ(json.at("operations_s").get<double>(), 155e-6);
  EXPECT_DOUBLE_EQ(json.at("devices").at(0).at("busy_s").get<double>(), 145e-6);
  EXPECT_EQ(json.at("devices").at(0).at("host_bound"), false);
  EXPECT_EQ(json.at("kernels").at(1).at("class"), "softmax_forward");
  EXPECT_EQ(json.at("kernels").at(0).at("calls"), 3);
  EXPECT_THAT(json.at("ranges").at(2).at("path"), ElementsAre("FORWARD", "layer.*", "attention"));
  EXPECT_DOUBLE_EQ(json.at("ranges").at(1).at("gpu_span_s").get<double>(), 102e-6);
  EXPECT_EQ(json.at("copies").at(0).at("bytes"), 4000);
  EXPECT_EQ(json.at("calls").size(), 2U);
  EXPECT_EQ(json.at("classes").size(), 5U);
  EXPECT_EQ(json.at("phases").size(), 3U);
}

}  // namespace
}  // namespace tbench::profile
