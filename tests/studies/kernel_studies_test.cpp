// Tests the studies of kernels with traces whose figures are computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernel_study_samples.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::studies {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(TopKernels, NameTheLongestOfEveryPhase) {
  const StudyReport report = report_of("top_kernels", {inferred(), trained()});
  ASSERT_EQ(report.sections.size(), 3U);
  EXPECT_EQ(report.sections[0].caption,
            "Model size:small ctx:512 batch:4 precision:bf16 impl:eager. The longest kernel of each phase; calls and "
            "total of a step, the others of a call");
  EXPECT_EQ(header(report.sections[0]),
            "pass|phase|class|calls|total ms|% of phase|mean us|std us|min us|max us|kernel");
  EXPECT_THAT(rows(report.sections[0]),
              ElementsAre("forward|forward|gemm|10|4.500|90.0|450.0|2.000|5.000|4500|nvjet_a<bf16>",
                          "train_step|forward|gemm|10|3.000|60.0|300.0|2.000|5.000|3000|nvjet_a<bf16>",
                          "train_step|backward|softmax_backward|12|4.000|50.0|333.3|2.000|5.000|4000|softmax_bw<float>",
                          "train_step|optimizer|optimizer|3|3.000|100.0|1000|2.000|5.000|3000|adam"));
  EXPECT_THAT(report.notes, IsEmpty());
  EXPECT_THAT(report.commands, IsEmpty());
}

/// One repetition was measured before the kernel was renamed. If the names were not paired, each would have half of the
/// calls.
TEST(TopKernels, PairOldNamesOfOurKernelsWithPresentOnes) {
  Record old = inferred();
  Record present = inferred();
  present.repetition_index = 1;
  old.trace->kernels[0].name = "tbench::kernels::sm90::attention_forward_wgmma_kernel<64>()";
  present.trace->kernels[0].name = "tbench::kernels::sm90::attention_fwd_sm90_kernel<64>()";
  EXPECT_EQ(rows(report_of("top_kernels", {old, present}).sections[0]).front(),
            "forward|forward|gemm|10|4.500|90.0|450.0|2.000|5.000|4500|"
            "tbench::kernels::sm90::attention_fwd_sm90_kernel<64>()");
}

TEST(TopKernels, NameTheLongestThatIsNoMatrixProduct) {
  const StudyReport report = report_of("top_kernels", {inferred(), trained()});
  EXPECT_THAT(rows(report.sections[1]),
              ElementsAre("forward|forward|softmax_forward|12|0.5000|10.0|41.67|2.000|5.000|500.0|softmax_fw<float>",
                          "train_step|forward|softmax_forward|12|0.8000|16.0|66.67|2.000|5.000|800.0|softmax_fw<float>",
                          "train_step|backward|softmax_backward|12|4.000|50.0|333.3|2.000|5.000|4000|softmax_bw<float>",
                          "train_step|optimizer|optimizer|3|3.000|100.0|1000|2.000|5.000|3000|adam"));
}

TEST(TopKernels, SayWhatForwardsLongestIsInTraining) {
  const StudyReport report = report_of("top_kernels", {inferred(), trained()});
  EXPECT_EQ(header(report.sections[2]),
            "longest of forward + backward too|% of forward|% of backward|% of forward + backward|kernel");
  // The shares are 3 of 5 ms, 3.5 of 8 and 6.5 of 13.
  EXPECT_THAT(rows(report.sections[2]), ElementsAre("yes|60.0|43.8|50.0|nvjet_a<bf16>"));

  Record other = trained();
  other.trace->kernels[4].total = {7 * kMs};  // softmax's backward: 7 of 16 ms
  EXPECT_THAT(rows(report_of("top_kernels", {inferred(), other}).sections[2]),
              ElementsAre("no|60.0|31.8|40.6|nvjet_a<bf16>"));
}

TEST(NonGemm, IsEverythingElseByClass) {
  const StudyReport report = report_of("non_gemm", {inferred(), trained()});
  EXPECT_EQ(header(report.sections[0]), "pass|phase|class|calls|total ms|% of phase");
  EXPECT_THAT(
      rows(report.sections[0]),
      ElementsAre("forward|forward|softmax_forward|12|0.5000|10.0", "forward|forward|(all)|12|0.5000|10.0",
                  "train_step|forward|softmax_forward|12|0.8000|16.0", "train_step|forward|memcpy|1|0.2000|4.0",
                  "train_step|forward|(all)|13|1.000|20.0", "train_step|backward|softmax_backward|12|4.000|50.0",
                  "train_step|backward|elementwise|24|0.5000|6.2", "train_step|backward|(all)|36|4.500|56.2",
                  "train_step|optimizer|optimizer|3|3.000|100.0", "train_step|optimizer|(all)|3|3.000|100.0"));
  EXPECT_NEAR(report.sections[0].rows[7][5].value.value(), 56.25, 1e-9);
}

TEST(NonGemm, ListsTheEightLongestOfAPhase) {
  Record record = inferred();
  for (int i = 1; i <= 10; ++i) {
    record.trace->kernels.push_back(kernel("forward", "elementwise", "add" + std::to_string(i), 1, 0.01 * i));
  }
  const StudySection section = report_of("non_gemm", {record}).sections.at(1);
  std::vector<std::string> names;
  for (const auto& row : section.rows) names.push_back(row.back().text);
  EXPECT_THAT(names, ElementsAre("softmax_fw", "add10", "add9", "add8", "add7", "add6", "add5", "add4", ""))
      << "the last row is the training step, which nobody measured";
}

TEST(GemmShare, IsOfKernelsAndOfTheStep) {
  const StudyReport report = report_of("gemm_share", {inferred(), trained()});
  EXPECT_EQ(header(report.sections[0]),
            "pass:forward of kernels %|pass:forward of step %|pass:forward_backward of kernels %|"
            "pass:forward_backward of step %|pass:train_step of kernels %|pass:train_step of step %|"
            "pass:forward_backward of kernels change pp|pass:forward_backward of step change pp|"
            "pass:train_step of kernels change pp|pass:train_step of step change pp");
  // Forward: 4.5 ms of 5 ms of kernels and of a step of 6 ms. Training step: 7.5 ms of 15.8 ms, without the copy, and
  // of 20 ms.
  EXPECT_THAT(rows(report.sections[0]), ElementsAre("90.0|75.0|[1]||47.5|37.5|||-42.5|-37.5"));
  EXPECT_NEAR(report.sections[0].rows[0][4].value.value(), 100 * 7.5 / 15.8, 1e-9);
  EXPECT_THAT(
      rows(report.sections[1]),
      ElementsAre("forward|forward|4.500|5.000|90.0", "forward_backward||[1]||", "train_step|forward|4.000|4.800|83.3",
                  "train_step|backward|3.500|8.000|43.8", "train_step|optimizer|0|3.000|0.0"));
}

TEST(KernelClasses, AreSharesOfThePhaseAndOfTheStep) {
  const StudyReport report = report_of("kernel_classes", {inferred(), trained()});
  EXPECT_EQ(header(report.sections[0]), "pass|phase|class|operations|total ms|% of phase|% of step");
  EXPECT_THAT(
      rows(report.sections[0]),
      ElementsAre(
          "forward|forward|gemm|10|4.500|90.0|90.0", "forward|forward|softmax_forward|12|0.5000|10.0|10.0",
          "train_step|forward|gemm|15|4.000|80.0|25.0", "train_step|forward|softmax_forward|12|0.8000|16.0|5.0",
          "train_step|forward|memcpy|1|0.2000|4.0|1.2", "train_step|backward|softmax_backward|12|4.000|50.0|25.0",
          "train_step|backward|gemm|20|3.500|43.8|21.9", "train_step|backward|elementwise|24|0.5000|6.2|3.1",
          "train_step|optimizer|optimizer|3|3.000|100.0|18.8", "train_step|(step)|gemm|35|7.500|46.9|46.9",
          "train_step|(step)|softmax_backward|12|4.000|25.0|25.0", "train_step|(step)|optimizer|3|3.000|18.8|18.8",
          "train_step|(step)|softmax_forward|12|0.8000|5.0|5.0", "train_step|(step)|elementwise|24|0.5000|3.1|3.1",
          "train_step|(step)|memcpy|1|0.2000|1.2|1.2"));
}

TEST(Launches, CountKernelsAndTellHowLongTheGpuWaits) {
  const StudyReport report = report_of("launches", {inferred(), trained()});
  EXPECT_EQ(
      header(report.sections[0]),
      "pass|step ms|GPU ms|idle %|host %|us per launch|kernels|launches|host gaps ms|device gaps ms|longest gap us");
  // Idle shares are 1 - 5 / 6 and 1 - 16 / 20. Kernels are 10 + 12 and 10 + 5 + 12 + 12 + 20 + 24 + 3, without the
  // copy.
  EXPECT_THAT(rows(report.sections[0]),
              ElementsAre("forward|6.000|5.000|16.7|16.2|228.6|22|22|0|0|0", "forward_backward|[1]|||||||||",
                          "train_step|20.00|16.00|20.0|19.4|268.6|86|60|1.000|0.5000|250.0"));
  EXPECT_EQ(header(report.sections[1]), "pass|phase|kernels|kernels ms|mean us|copies and fills|copies ms");
  EXPECT_THAT(rows(report.sections[1]),
              ElementsAre("forward|forward|22|5.000|227.3|0|0", "forward_backward||[1]||||",
                          "train_step|forward|27|4.800|177.8|1|0.2000", "train_step|backward|56|8.000|142.9|0|0",
                          "train_step|optimizer|3|3.000|1000|0|0"));
}

TEST(KernelStudies, TakeTheMedianOverTheProcesses) {
  Record other = trained(1.2);
  other.trace->kernels[4].name = "softmax_of_another_build";
  const StudyReport report = report_of("top_kernels", {trained(), trained(1.1), other});
  // Softmax's backward has 4 and 4.4 ms, and 0 in the third repetition: 4 of 4 + 3.85 + 0.55 ms. A kernel of only one
  // of three repetitions is left out.
  EXPECT_THAT(
      rows(report.sections[0]),
      ElementsAre("forward|||[1]|||||||", "train_step|forward|gemm|10|3.300|60.0|330.0|2.000|5.000|3600|nvjet_a<bf16>",
                  HasSubstr("train_step|backward|softmax_backward|12|4.000|47.6|333.3"),
                  "train_step|optimizer|optimizer|3|3.300|100.0|1100|2.000|5.000|3600|adam"));
  EXPECT_THAT(report.notes, ElementsAre("Several measurements of a case: their median (at most 3)."));
}

TEST(KernelStudies, SayWhichOptionMakesTraces) {
  Record untraced = inferred();
  untraced.trace.reset();
  const StudyReport report =
      report_of("top_kernels", {untraced, support::failed_record(id_of("train_step"), Status::kOom, "no room")});
  EXPECT_THAT(rows(report.sections[0]), ElementsAre("forward|||[1]|||||||", "train_step|||OOM|||||||"));
  EXPECT_THAT(report.notes, ElementsAre("1 of 2 cases have a time and no trace: --tb_trace=on records one."));
  EXPECT_THAT(report.commands,
              ElementsAre("./transformer_bench --tb_study=top_kernels --tb_trace=on --tb_axis=Model.size=small "
                          "--tb_axis=Model.ctx=512 --tb_axis=Model.precision=bf16 "
                          "--benchmark_filter='/pass:forward/' "
                          "--benchmark_out=top_kernels_1.json"));
}

TEST(KernelStudies, SayWhereACaseHasNoSuchKernelAndHowOftenItFailed) {
  Record products = inferred();
  products.trace->kernels.resize(1);
  const StudyReport report = report_of(
      "top_kernels", {products, support::failed_record(id_of("forward"), Status::kOom, "no room"), trained()});
  EXPECT_THAT(rows(report.sections[1]),
              ElementsAre("forward|||none|||||||", "forward|||1 of 2 failed|||||||", HasSubstr("train_step|forward|"),
                          HasSubstr("train_step|backward|"), HasSubstr("train_step|optimizer|")));
}

TEST(KernelStudies, SayWhatTheTracesLack) {
  Record record = trained();
  record.trace->dropped = 3;
  record.trace->without_launch = 2;
  record.trace->kernels[3].kernel_class = "other";  // 0.2 of 16 ms
  EXPECT_THAT(report_of("top_kernels", {inferred(), record}).notes,
              ElementsAre("The traces lack 5 operations, dropped or without a launch."));
  record = trained();
  record.trace->kernels[6].kernel_class = "other";  // 0.5 of 21 ms
  EXPECT_THAT(report_of("top_kernels", {inferred(), record}).notes,
              ElementsAre("2.4 % of the time is of class other: 'tbench classify' names the rules' gaps."));
}

TEST(KernelStudies, ArePrintedInEveryFormat) {
  const StudyReport report = report_of("top_kernels", {trained()});
  EXPECT_THAT(study_page(report, StudyFormat::kText),
              AllOf(HasSubstr("train_step  optimizer  optimizer"), HasSubstr("— [1]")));
  EXPECT_THAT(study_page(report, StudyFormat::kMarkdown),
              HasSubstr("| train_step | forward | gemm | 10 | 3.000 | 60.0 | 300.0 | 2.000 | 5.000 | 3000 | "
                        "nvjet_a |"));
  EXPECT_THAT(study_page(report, StudyFormat::kCsv),
              AllOf(HasSubstr("top_kernels 1,small,512,4,forward,bf16,eager,,,,,,,,,,,./transformer_bench "
                              "--tb_study=top_kernels --tb_trace=on"),
                    HasSubstr("train_step,bf16,eager,backward,softmax_backward,12,4.000,50.0,333.3,")));
  EXPECT_THAT(study_page(report, StudyFormat::kLatex), HasSubstr("train\\_step & optimizer & optimizer & 3 & 3.000 &"));
}

TEST(KernelStudies, JsonHasNumbersWithAllTheirDigits) {
  const results::Json json =
      results::Json::parse(study_page(report_of("top_kernels", {trained()}), StudyFormat::kJson));
  const results::Json& table = json.at("tables").at(0);
  EXPECT_EQ(table.at("columns").at(10), "kernel");
  EXPECT_EQ(table.at("rows").at(0).at(3).at("measured_by"), json.at("commands").at(0));
  const results::Json& backward = table.at("rows").at(2);
  EXPECT_EQ(backward.at(6).at("text"), "333.3");
  EXPECT_NEAR(backward.at(6).at("value").get<double>(), 4e3 / 12, 1e-9);
  EXPECT_FALSE(backward.at(2).contains("value"));
  EXPECT_EQ(backward.at(10).at("text"), "softmax_bw");
  EXPECT_EQ(backward.at(10).at("full"), "softmax_bw<float>");
}

}  // namespace
}  // namespace tbench::studies
