#include "tbench/profile/profile_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/terminal.hpp"
#include "trace_samples.hpp"

namespace tbench::profile {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Profile step_profile() { return analyse(in_microseconds(one_step()), KernelRules::built_in()); }

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
      "· (residual),,0.06000,,,0.06000,,,,2,2\n"       // 80 - 20, 100 - 40
      "· (not attention),,0.08000,,,0.06000,,,,2,2\n"  // 100 - 20, 100 - 40
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
            "phase,%,top kernel,%,top kernel other than matrix products\n"
            "FORWARD,90.0,nvjet_a,10.0,softmax_warp_forward\n"
            "OPTIMIZER,50.0,multi_tensor_apply_kernel,50.0,multi_tensor_apply_kernel\n"
            "(no phase),100.0,mystery,100.0,mystery\n");
}

std::string layer_page(const std::string& table, TableOptions options = {}) {
  const Profile profile = analyse(in_microseconds(one_layer()), KernelRules::built_in());
  return profile_page(profile, options, PageFormat::kCsv, {}, {table}, std::nullopt);
}

TEST(ProfilePage, DerivedRanges) {
  EXPECT_THAT(layer_page("ranges"),
              HasSubstr("· · ffn,1,0.02000,0.02000,0.03000,0.03000,0.03000,0.03000,12.8,1,1\n"  // 30 / 234
                        "· (projections),,0.01600,,,0.06000,,,,2,2\n"   // 8 + 8 on the host, 40 + 20 of the GPU
                        "· (residual),,0.03400,,,0.004000,,,,1,1\n"     // 140 - 6 - 80 - 20, 184 - 10 - 140 - 30
                        "· (not attention),,0.1200,,,0.04400,,,,3,3\n"  // 200 - 80, 184 - 140
                        "BACKWARD,1,"));
}

TEST(ProfilePage, MatrixProducts) {
  EXPECT_EQ(layer_page("gemm_share"),
            "phase,matrix products ms,kernels ms,of kernels %,span ms,of span %\n"
            "FORWARD,0.1400,0.1840,76.1,0.2000,70.0\n"  // 40 + 30 + 20 + 20 + 30; from 100 to 300
            "BACKWARD,0.05000,0.05000,100.0,0.05000,100.0\n"
            "(all),0.1900,0.2340,81.2,0.3000,63.3\n");
  EXPECT_EQ(layer_page("softmax_vs_matmul"),
            "phase,softmax ms,softmax %,matmul ms,matmul %,softmax / matmul,QK^T ms,context ms,other ms\n"
            "FORWARD,0.02000,25.0,0.05000,62.5,0.4000,0.03000,0.02000,0.01000\n");  // 15 + 5, 30 + 20, 10: of 80
  EXPECT_EQ(layer_page("non_gemm", {.top = 2}),
            "phase,class,calls,total ms,share %,kernel\n"
            "FORWARD,softmax_forward,1,0.01500,8.2,softmax_warp_forward\n"  // 15 / 184
            "FORWARD,norm,1,0.01000,5.4,at::native::vectorized_layer_norm_kernel\n"
            "FORWARD,(all),5,0.04400,23.9,all 5 other than matrix products\n");  // 15 + 10 + 10 + 5 + 4
}

TEST(ProfilePage, Launches) {
  EXPECT_EQ(layer_page("launches"),
            "phase,what,count,total ms,of span %,MB\n"
            "FORWARD,kernels,10,,,\n"
            "FORWARD,launches,10,,,\n"
            "FORWARD,GPU busy,,0.1840,92.0,\n"
            "FORWARD,gaps,2,0.01600,8.0,\n"  // 190 to 200, 264 to 270
            "FORWARD,gaps: host wait,,0,0.0,\n"
            "FORWARD,gaps: device wait,,0.01600,8.0,\n"
            "FORWARD,longest gap,,0.01000,,\n"
            "FORWARD,cudaLaunchKernel,10,0.01000,,\n"
            "BACKWARD,kernels,1,,,\n"
            "BACKWARD,launches,1,,,\n"
            "BACKWARD,GPU busy,,0.05000,100.0,\n"
            "BACKWARD,gaps,0,0,0.0,\n"
            "BACKWARD,gaps: host wait,,0,0.0,\n"
            "BACKWARD,gaps: device wait,,0,0.0,\n"
            "BACKWARD,longest gap,,0,,\n"
            "BACKWARD,cudaLaunchKernel,1,0.001000,,\n"
            "(all),kernels,11,,,\n"
            "(all),launches,11,,,\n"
            "(all),GPU busy,,0.2340,78.0,\n"
            "(all),gaps,3,0.06600,22.0,\n"  // also 300 to 350
            "(all),gaps: host wait,,0,0.0,\n"
            "(all),gaps: device wait,,0.06600,22.0,\n"
            "(all),longest gap,,0.05000,,\n"
            "(all),cudaLaunchKernel,11,0.01100,,\n");
  // Copies are listed next to the kernels of their phase. The longest gap is a single gap, however many steps there
  // are.
  EXPECT_THAT(page("launches", PageFormat::kCsv, {.steps = 2}),
              HasSubstr("OPTIMIZER,GPU busy,,0.01500,100.0,\n"  // 150 to 180 over two steps
                        "OPTIMIZER,gaps,0,0,0.0,\n"
                        "OPTIMIZER,gaps: host wait,,0,0.0,\n"
                        "OPTIMIZER,gaps: device wait,,0,0.0,\n"
                        "OPTIMIZER,longest gap,,0,,\n"
                        "OPTIMIZER,cudaMemcpyAsync,0.5000,0.005000,,\n"
                        "OPTIMIZER,cudaLaunchKernel,0.5000,0.002000,,\n"
                        "OPTIMIZER,Memcpy HtoD,0.5000,0.01000,66.7,0.002000\n"
                        "(no phase),kernels,1,,,\n"));
  EXPECT_THAT(page("launches", PageFormat::kCsv, {.steps = 2}), HasSubstr("(all),longest gap,,0.02000,,\n"));
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
  // On a narrow terminal, columns that do not fit follow in a second block.
  const std::string narrow = profile_page(step_profile(), {}, PageFormat::kText, {}, {"ranges"}, 80);
  EXPECT_THAT(narrow, AllOf(HasSubstr("GPU busy ms"), HasSubstr("GPU excl. %")));
  for (const std::string& line : split(narrow, '\n')) EXPECT_LE(render::display_width(line), 80U) << line;
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
    EXPECT_THAT(error.what(), HasSubstr("--table: unknown value 'kernel'; did you mean 'kernels'?"));
  }
}

TEST(ProfileNotes, OfAWholeTraceThereIsNone) {
  const Trace trace = TraceWriter{}.range(0, 9, "a").call(1, 2, 1).kernel(3, 4, 1, "nvjet_a").take();
  EXPECT_THAT(profile_notes(analyse(trace, KernelRules::built_in())), ElementsAre());
}

TEST(ProfileJson, HasEverythingInSeconds) {
  const auto json = nlohmann::json::parse(profile_json(step_profile(), 3, "tbench profile dir"));
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
  EXPECT_DOUBLE_EQ(json.at("phases").at(0).at("span_s").get<double>(), 120e-6);  // from 20 to 140
  EXPECT_EQ(json.at("phases").at(1).at("copies").at(0).at("bytes"), 4000);
  EXPECT_EQ(json.at("phases").at(2).at("calls").at(0).at("calls"), 1);
  EXPECT_THAT(json.at("range_kernels").at(0).at("path"), ElementsAre("FORWARD", "layer.*"));
  EXPECT_DOUBLE_EQ(json.at("range_kernels").at(0).at("total_s").get<double>(), 60e-6);
}

}  // namespace
}  // namespace tbench::profile
