// The studies of kernels, on traces whose figures are worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/sample_results.hpp"
#include "tbench/core/text.hpp"
#include "tbench/results/result_json.hpp"
#include "tbench/studies/study_report.hpp"

namespace tbench::studies {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kMs = 1e-3;
constexpr double kUs = 1e-6;

CaseId id_of(const std::string& pass, const std::string& size = "small") {
  return {"Model",
          {{"size", size}, {"ctx", "512"}, {"batch", "4"}, {"pass", pass}, {"precision", "bf16"}, {"impl", "eager"}}};
}

TracedKernel kernel(const std::string& phase, const std::string& kernel_class, const std::string& name, double calls,
                    double total_ms) {
  return {.phase = phase,
          .kernel_class = kernel_class,
          .name = name,
          .calls = calls,
          .total = {total_ms * kMs},
          .min = {5 * kUs},
          .max = {total_ms * kMs},
          .standard_deviation = Seconds{2 * kUs}};
}

/// A step of 20 ms of which the GPU works 16. Operations, ms of a step:
///
///   forward    gemm nvjet 3, gemm cutlass 1, softmax 0.8, a copy 0.2    5
///   backward   softmax 4, gemm nvjet 3.5, elementwise 0.5               8
///   optimizer  adam 3                                                   3
Record trained(double factor = 1) {
  Record record = support::timed_record(id_of("train_step"), Seconds{20 * kMs});
  record.trace = StepTrace{
      .steps = 3,
      .span = {17.5 * kMs},
      .device = {16 * kMs},
      .host_gaps = {1 * kMs},
      .device_gaps = {0.5 * kMs},
      .other_gaps = {},
      .longest_gap = {250 * kUs},
      .launches = 60,
      .kernels = {kernel("forward", "gemm", "nvjet_a<bf16>", 10, 3), kernel("forward", "gemm", "cutlass_b", 5, 1),
                  kernel("forward", "softmax_forward", "softmax_fw<float>", 12, 0.8),
                  kernel("forward", "memcpy", "Memcpy DtoD", 1, 0.2),
                  kernel("backward", "softmax_backward", "softmax_bw<float>", 12, 4),
                  kernel("backward", "gemm", "nvjet_a<bf16>", 20, 3.5),
                  kernel("backward", "elementwise", "add", 24, 0.5), kernel("optimizer", "optimizer", "adam", 3, 3)},
      .without_launch = 0,
      .dropped = 0};
  for (TracedKernel& k : record.trace->kernels) {
    k.total = k.total * factor;
    k.max = k.max * factor;
  }
  return record;
}

/// The forward pass alone: 4.5 ms of products, 0.5 ms of softmax, in a step of 6 ms.
Record inferred() {
  Record record = support::timed_record(id_of("forward"), Seconds{6 * kMs});
  record.trace = StepTrace{};
  record.trace->steps = 3;
  record.trace->device = {5 * kMs};
  record.trace->launches = 22;
  record.trace->kernels = {kernel("forward", "gemm", "nvjet_a<bf16>", 10, 4.5),
                           kernel("forward", "softmax_forward", "softmax_fw<float>", 12, 0.5)};
  return record;
}

StudyReport report_of(const std::string& study, std::vector<Record> records) {
  const results::NamedResults file{"a.json",
                                   {.environment = support::gpu_environment(),
                                    .host = {},
                                    .options = {},
                                    .interrupted = false,
                                    .records = std::move(records)}};
  return study_report(
      find_study(study, "--study"), std::vector{file},
      {.axes = {{"Model", {"size", {"small"}}}, {"Model", {"ctx", {"512"}}}, {"Model", {"precision", {"bf16"}}}},
       .filter = {}});
}

/// A table's rows, cells joined by `|`.
std::vector<std::string> rows(const StudySection& section) {
  std::vector<std::string> all;
  for (const auto& row : section.rows) {
    std::vector<std::string> cells;
    for (const StudyCell& cell : row) {
      cells.push_back(cell.footnote > 0 ? "[" + std::to_string(cell.footnote) + "]" : cell.text);
    }
    all.push_back(join(cells, "|"));
  }
  return all;
}

std::string header(const StudySection& section) {
  std::vector<std::string> all;
  for (const render::Column& column : section.columns) all.push_back(column.header);
  return join(all, "|");
}

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
            "longest of backward too|% of forward|% of backward|% of forward + backward|kernel");
  // 3 of 5 ms, 3.5 of 8, 6.5 of 13
  EXPECT_THAT(rows(report.sections[2]), ElementsAre("no|60.0|43.8|50.0|nvjet_a<bf16>"));
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
  EXPECT_THAT(names, ElementsAre("softmax_fw<float>", "add10", "add9", "add8", "add7", "add6", "add5", "add4", ""))
      << "the last row is the training step, which nobody measured";
}

TEST(GemmShare, IsOfKernelsAndOfTheStep) {
  const StudyReport report = report_of("gemm_share", {inferred(), trained()});
  EXPECT_EQ(header(report.sections[0]),
            "pass:forward of kernels %|pass:forward of step %|pass:forward_backward of kernels %|"
            "pass:forward_backward of step %|pass:train_step of kernels %|pass:train_step of step %|"
            "pass:forward_backward of kernels change pp|pass:forward_backward of step change pp|"
            "pass:train_step of kernels change pp|pass:train_step of step change pp");
  // 4.5 of 5 ms of kernels and of a step of 6; 7.5 of 15.8, the copy left out, and of 20
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
  EXPECT_EQ(header(report.sections[0]),
            "pass|step ms|device ms|idle %|kernels|launches|host gaps ms|device gaps ms|longest gap us");
  // idle: 1 - 5 / 6 and 1 - 16 / 20; kernels: 10 + 12 and 10 + 5 + 12 + 12 + 20 + 24 + 3, without the copy
  EXPECT_THAT(rows(report.sections[0]),
              ElementsAre("forward|6.000|5.000|16.7|22|22|0|0|0", "forward_backward|[1]|||||||",
                          "train_step|20.00|16.00|20.0|86|60|1.000|0.5000|250.0"));
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
  // backward: softmax 4 and 4.4, and 0 in the third: 4 of 4 + 3.85 + 0.55 ms; what one of three launched is left out
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
              ElementsAre("transformer_bench --tb_study=top_kernels --tb_trace=on --tb_axis=Model.size=small "
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
                        "nvjet_a\\<bf16\\> |"));
  EXPECT_THAT(study_page(report, StudyFormat::kCsv),
              AllOf(HasSubstr("forward,,,,,,,,,,,transformer_bench --tb_study=top_kernels --tb_trace=on"),
                    HasSubstr("train_step,backward,softmax_backward,12,4.000,50.0,333.3,")));
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
  EXPECT_EQ(backward.at(10).at("text"), "softmax_bw<float>");
}

TracedRange range(const std::string& path, double calls, double host_ms, double gpu_ms, double exclusive_ms) {
  return {.path = path,
          .calls = calls,
          .host = {host_ms * kMs},
          .host_exclusive = {host_ms / 2 * kMs},
          .gpu_span = {(gpu_ms + 0.25) * kMs},
          .gpu_sum = {gpu_ms * kMs},
          .gpu_busy = {gpu_ms * kMs},
          .gpu_exclusive = {exclusive_ms * kMs},
          .operations = calls * 2,
          .launches = calls,
          .host_min = {100 * kUs},
          .host_max = {200 * kUs},
          .host_deviation = Seconds{10 * kUs},
          .gpu_min = Seconds{50 * kUs},
          .gpu_max = Seconds{80 * kUs},
          .gpu_deviation = Seconds{5 * kUs}};
}

/// The trained step with ranges.
Record ranged() {
  Record record = trained();
  record.trace->ranges = {range("FORWARD", 1, 6, 5, 1), range("FORWARD/layer.*", 12, 5, 4, 4),
                          range("BACKWARD", 1, 8, 8, 8)};
  record.trace->ranges[2].gpu_deviation.reset();
  record.trace->parts = {{.of = "FORWARD",
                          .name = "projections",
                          .host = {1 * kMs},
                          .gpu_sum = {2 * kMs},
                          .operations = 24,
                          .launches = 24}};
  // 12 layers of 12 heads of 64 columns, 4 x 512 x 512 scores each: 0.7550 and 38.65 GFLOP.
  record.trace->attention = {
      {.phase = "forward", .softmax = {0.8 * kMs}, .scores = {0.3 * kMs}, .context = {0.1 * kMs}, .other = {0.4 * kMs}},
      {.phase = "backward", .softmax = {2 * kMs}, .scores = {1 * kMs}, .context = {1 * kMs}, .other = {}}};
  return record;
}

TEST(Ranges, HaveBothTimesAndTheirShareOfTheRangeAround) {
  const StudyReport report = report_of("ranges", {inferred(), ranged()});
  ASSERT_EQ(report.sections.size(), 1U);
  EXPECT_EQ(
      header(report.sections[0]),
      "pass|range|calls|host ms|host excl. ms|GPU span ms|GPU ms|GPU excl. ms|GPU % of outer|launches|host min us|"
      "host max us|host std us|GPU min us|GPU max us|GPU std us");
  EXPECT_THAT(
      rows(report.sections[0]),
      ElementsAre(
          "forward||none|||||||||||||",  // its trace has no ranges
          "train_step|FORWARD|1|6.000|3.000|5.250|5.000|1.000|31.2|1|100.0|200.0|10.00|50.00|80.00|5.000",
          "train_step|FORWARD/layer.*|12|5.000|2.500|4.250|4.000|4.000|80.0|12|100.0|200.0|10.00|50.00|80.00|5.000",
          "train_step|BACKWARD|1|8.000|4.000|8.250|8.000|8.000|50.0|1|100.0|200.0|10.00|50.00|80.00|",
          "train_step|FORWARD/(projections)||1.000|||2.000||40.0|24||||||"));
}

TEST(Ranges, OfSeveralProcessesAreMediansOfThoseThatMostHave) {
  Record other = ranged();
  other.trace->ranges[0].host = {9 * kMs};
  other.trace->ranges[0].host_max = {900 * kUs};
  Record third = ranged();
  third.trace->ranges[0].host = {7 * kMs};
  third.trace->ranges[0].host_min = {50 * kUs};
  third.trace->ranges.push_back(range("OPTIMIZER", 1, 1, 1, 1));
  const StudyReport report = report_of("ranges", {ranged(), other, third});
  const std::vector<std::string> all = rows(report.sections[0]);
  ASSERT_EQ(all.size(), 5U);  // of the forward pass alone nothing was measured
  EXPECT_EQ(all[1], "train_step|FORWARD|1|7.000|3.000|5.250|5.000|1.000|31.2|1|50.00|900.0|10.00|50.00|80.00|5.000");
}

TEST(SoftmaxVsMatmul, HoldsTheTimeAgainstTheFlop) {
  const StudyReport report = report_of("softmax_vs_matmul", {ranged()});
  EXPECT_EQ(header(report.sections[0]),
            "pass|phase|softmax ms|QK^T ms|context ms|rest ms|softmax % of all|softmax / matmul: time %|softmax GFLOP|"
            "matmul GFLOP|FLOP %|time % / FLOP %|matmul TFLOP/s|softmax TFLOP/s");
  const std::vector<std::string> all = rows(report.sections[0]);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1], "train_step|forward|0.8000|0.3000|0.1000|0.4000|50.0|200.0|0.7550|38.65|2.0|102.4|96.64|0.9437");
  EXPECT_EQ(all[2], "train_step|backward|2.000|1.000|1.000|0|50.0|100.0||||||");
}

TEST(SoftmaxVsMatmul, OfAnotherSizeThereIsNoFlop) {
  Record mine = ranged();
  mine.id = id_of("train_step", "mine");
  const results::NamedResults file{"a.json",
                                   {.environment = support::gpu_environment(),
                                    .host = {},
                                    .options = {{"size.mine", "768,3072,12,12"}},
                                    .interrupted = false,
                                    .records = {mine}}};
  const StudyReport report = study_report(find_study("softmax_vs_matmul", "--study"), std::vector{file},
                                          {.axes = {{"Model", {"size", {"mine"}}},
                                                    {"Model", {"ctx", {"512"}}},
                                                    {"Model", {"pass", {"train_step"}}},
                                                    {"Model", {"precision", {"bf16"}}}},
                                           .filter = {}});
  EXPECT_EQ(rows(report.sections[0]).at(0), "forward|0.8000|0.3000|0.1000|0.4000|50.0|200.0||||||");
}

TEST(Answers, AreSentencesWithTheirNumbers) {
  Record step = ranged();
  step.timing->phases = {{.name = "forward", .median = {5 * kMs}}, {.name = "backward", .median = {9 * kMs}}};
  const StudyReport report = report_of("answers", {step});
  EXPECT_EQ(header(report.sections[0]), "pass|question|%|answer");
  const std::vector<std::string> all = rows(report.sections[0]);
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(
      all[1],
      "train_step|(a) forward: a trace beside the timer|105.0|5.25 ms on the GPU by the range FORWARD, traced; 5 ms "
      "by the timer's events");
  EXPECT_EQ(
      all[2],
      "train_step|(b) forward's longest kernel|60.0|nvjet_a: 60.0 % of forward's time on the GPU, 10 calls a step; "
      "backward's is another: softmax_bw; of forward and backward it has 50.0 %");
  EXPECT_EQ(all[3], "train_step|(c) forward's time besides matrix products|20.0|softmax_forward 16.0 % (12 calls)");
  EXPECT_EQ(
      all[4],
      "train_step|(d) matrix products: the step beside forward|47.5|83.3 % of the kernels' time in forward, 47.5 % "
      "in the whole step: -35.9 percentage points");
  EXPECT_EQ(
      all[5],
      "train_step|(e) softmax beside attention's matrix products|200.0|0.8 ms against 0.4 ms: 200.0 % of the time "
      "for 2.0 % of the FLOP, 102 times the time a FLOP");
}

TEST(Answers, WithoutRangesAndASecondPhaseAreFewer) {
  const StudyReport report = report_of("answers", {inferred()});
  const std::vector<std::string> all = rows(report.sections[0]);
  ASSERT_EQ(all.size(), 3U);  // two, and how to measure the training step
  EXPECT_THAT(all[0], HasSubstr("(b) forward's longest kernel|90.0|nvjet_a: 90.0 % of forward's time"));
  EXPECT_THAT(all[1], HasSubstr("(c) forward's time besides matrix products|10.0|softmax_forward 10.0 %"));
}

TEST(ProfilerOverhead, SetsTheTracedStepBesideTheOther) {
  Record step = ranged();
  step.timing->phases = {{.name = "forward", .median = {5.5 * kMs}}, {.name = "backward", .median = {9 * kMs}}};
  const StudyReport report = report_of("profiler_overhead", {step});
  EXPECT_EQ(header(report.sections[0]),
            "pass|untraced ms|traced ms|traced % of untraced|forward: events ms|range, host ms|range, GPU ms");
  EXPECT_EQ(rows(report.sections[0]).at(1), "train_step|20.00|17.50|87.5|5.500|6.000|5.250");
}

TEST(Memory, ByPhaseAndByRange) {
  constexpr std::int64_t kMebi = 1 << 20;
  Record step = trained();
  step.memory = MemoryUse{.allocated_peak = 1000 * kMebi,
                          .requested_peak = {},
                          .reserved_peak = 2000 * kMebi,
                          .device_used = {},
                          .split = {{"activations", 900 * kMebi}}};
  step.memory->phases = {{.phase = "forward", .allocated_peak = 900 * kMebi, .held = 850 * kMebi},
                         {.phase = "backward", .allocated_peak = 1000 * kMebi, .held = 100 * kMebi}};
  step.memory->peak_ranges = {{.range = "FORWARD/layer.*", .bytes = 700 * kMebi, .allocations = 24},
                              {.range = "", .bytes = 10 * kMebi, .allocations = 1}};
  step.memory->largest = {{.range = "FORWARD/layer.3", .bytes = 50 * kMebi}};
  const StudyReport report = report_of("memory", {step});
  ASSERT_EQ(report.sections.size(), 4U);
  const auto ends_with = [](const StudySection& section) {
    std::vector<std::string> ends;
    for (const std::string& row : rows(section)) {
      if (row.starts_with("train_step|")) ends.push_back(row.substr(row.find('|') + 1));
    }
    return ends;
  };
  EXPECT_THAT(ends_with(report.sections[1]), ElementsAre("forward|900|850", "backward|1,000|100"));
  EXPECT_THAT(ends_with(report.sections[2]), ElementsAre("FORWARD/layer.*|700.0|70.00|24", "(no range)|10.00|1.000|1"));
  EXPECT_THAT(ends_with(report.sections[3]), ElementsAre("FORWARD/layer.3|50.00"));
}

}  // namespace
}  // namespace tbench::studies
