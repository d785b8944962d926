// Tests the studies of version 10's traces, phases and timelines, with figures computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernel_study_samples.hpp"

namespace tbench::studies {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

PhaseTrace phase(const std::string& name, double span_ms, double host_ms, double device_ms) {
  return {.phase = name,
          .span = {span_ms * kMs},
          .host_gaps = {host_ms * kMs},
          .device_gaps = {device_ms * kMs},
          .other_gaps = {},
          .api_calls = 20,
          .api = {0.1 * kMs},
          .calls = {{.name = "cudaLaunchKernel_v7000", .calls = 16, .host = {0.08 * kMs}}},
          .copies = {{.name = "Memcpy DtoD", .count = 2, .bytes = 4.0 * 1024 * 1024, .total = {0.2 * kMs}}}};
}

/// Returns the training step with what version 10 adds.
Record of_version_10() {
  Record record = trained();
  TracedRange forward{};
  forward.path = "FORWARD";
  forward.host = {0.5 * kMs};
  forward.gpu_sum = {5 * kMs};
  forward.operations = 20;
  forward.host_gaps = Seconds{0.4 * kMs};
  forward.device_gaps = Seconds{0.1 * kMs};
  TracedRange scores = forward;
  scores.path = "FORWARD/attention.scores";
  record.trace->ranges = {forward, scores};
  record.trace->range_kernels = {{.range = 0, .kernel = 2, .calls = 12, .total = {0.8 * kMs}},
                                 {.range = 1, .kernel = 0, .calls = 4, .total = {1.2 * kMs}},
                                 {.range = 1, .kernel = 1, .calls = 4, .total = {0.4 * kMs}}};
  record.trace->phases = {phase("forward", 6, 0.4, 0.2), phase("", 0, 0, 0)};
  return record;
}

TEST(RangeKernels, HaveCallsMeansAndTheirShareOfTheRange) {
  const StudyReport report = report_of("range_kernels", {inferred(), of_version_10()});
  EXPECT_EQ(header(report.sections.at(0)), "pass|range|class|calls|total ms|mean us|% of range|% of phase|kernel");
  EXPECT_THAT(rows(report.sections[0]),
              ElementsAre("forward|||none|||||",
                          "train_step|FORWARD|softmax_forward|12|0.8000|66.67|100.0|33.3|softmax_fw<float>",
                          "train_step|FORWARD/attention.scores|gemm|4|1.200|300.0|75.0|50.0|nvjet_a<bf16>",
                          "train_step|FORWARD/attention.scores|gemm|4|0.4000|100.0|25.0|16.7|cutlass_b"));
}

TEST(RangeKernels, AddUpTheLaunchesOfOneKernelInARange) {
  Record record = of_version_10();
  record.trace->range_kernels.push_back({.range = 1, .kernel = 1, .calls = 6, .total = {0.2 * kMs}});
  EXPECT_THAT(rows(report_of("range_kernels", {record}).sections[0]),
              Contains("train_step|FORWARD/attention.scores|gemm|10|0.6000|60.00|33.3|23.1|cutlass_b"));
}

TEST(RangeKernels, OfRepetitionsAreMediansOverTheirRecords) {
  Record other = of_version_10();
  other.trace->range_kernels[0].total = {1 * kMs};
  Record third = of_version_10();
  third.trace->range_kernels[0].total = {0.9 * kMs};
  third.trace->range_kernels.pop_back();
  const std::vector<std::string> found = rows(report_of("range_kernels", {of_version_10(), other, third}).sections[0]);
  EXPECT_THAT(found, Contains("train_step|FORWARD|softmax_forward|12|0.9000|75.00|100.0|36.0|softmax_fw<float>"));
  EXPECT_THAT(found, Contains(HasSubstr("cutlass_b")));  // two of three have it
}

TEST(GapsStudy, IsByPhaseAndByRange) {
  const StudyReport report = report_of("gaps", {of_version_10()});
  ASSERT_EQ(report.sections.size(), 2U);
  EXPECT_EQ(header(report.sections[0]), "pass|phase|span ms|host gaps ms|device gaps ms|other gaps ms|gaps %");
  EXPECT_THAT(rows(report.sections[0]), Contains("train_step|forward|6.000|0.4000|0.2000|0|10.0"));
  EXPECT_EQ(header(report.sections[1]),
            "pass|range|operations|GPU ms|host gaps ms|device gaps ms|us an operation|host gap us|device gap us");
  EXPECT_THAT(rows(report.sections[1]), Contains("train_step|FORWARD|20|5.000|0.4000|0.1000|250.0|20.00|5.000"));
}

TEST(ApiCalls, AreByPhaseByFunctionAndByDirection) {
  const StudyReport report = report_of("api_calls", {of_version_10()});
  ASSERT_EQ(report.sections.size(), 3U);
  EXPECT_EQ(header(report.sections[0]), "pass|phase|calls|in calls ms|mean us|host ms|between calls us");
  EXPECT_THAT(rows(report.sections[0]), Contains("train_step|forward|20|0.1000|5.000|0.5000|20.00"));
  EXPECT_THAT(rows(report.sections[0]), Contains("train_step|(no phase)|20|0.1000|5.000||"));
  EXPECT_THAT(rows(report.sections[1]), Contains("train_step|forward|cudaLaunchKernel|16|0.08000|5.000"));
  EXPECT_THAT(rows(report.sections[2]), Contains("train_step|forward|Memcpy DtoD|2|4.000|0.2000|20.97"));
}

TEST(Phases, HaveTheirSpreadAndTheirShare) {
  Record record = trained();
  record.timing->phases = {
      {.name = "forward", .median = {5 * kMs}, .mean = Seconds{5.5 * kMs}, .standard_deviation = Seconds{0.25 * kMs}},
      {.name = "backward", .median = {11 * kMs}}};
  const StudyReport report = report_of("phases", {record});
  EXPECT_EQ(header(report.sections.at(0)), "pass|phase|mean ms|std ms|median ms|% of step|/ forward|GPU ms");
  EXPECT_THAT(rows(report.sections[0]), Contains("train_step|forward|5.500|0.2500|5.000|25.0|1.000|5.000"));
  EXPECT_THAT(rows(report.sections[0]), Contains("train_step|backward|||11.00|55.0|2.200|8.000"));
  EXPECT_THAT(report.notes,
              Contains("In a training step with 512 tokens in bf16, backward takes 2.200 (small) times as "
                       "long as forward."));
  record.timing->phases.pop_back();
  EXPECT_THAT(report_of("phases", {record}).notes, Not(Contains(HasSubstr("backward takes"))));
}

TEST(Phases, ThatTheHostLimitsAreNotQuoted) {
  Record record = support::timed_record(id_of("train_step"), Seconds{20 * kMs});
  record.timing->phases = {{.name = "forward", .median = {5 * kMs}}, {.name = "backward", .median = {11 * kMs}}};
  Record limited = record;
  limited.id = id_of("train_step", "medium");
  limited.timing->phases[1].median = {15 * kMs};
  limited.timing->host_bound = true;
  limited.device.emplace();
  const std::vector<std::string> notes =
      study_report(find_study("phases", "--study"), std::vector{support::gpu_results({record, limited})}, {}).notes;
  EXPECT_THAT(notes, Contains("In a training step with 512 tokens in bf16, backward takes 2.200 (small) times as long "
                              "as forward (without medium: the host limits it)."));
  EXPECT_THAT(report_of("phases", {limited}).notes, Not(Contains(HasSubstr("backward takes"))));
}

TEST(EndToEnd, SaysHowLongTheGpuWorksInStepsThatTheHostLimits) {
  Record limited = trained();  // 20 ms, in which the GPU works for 16
  limited.device.emplace();
  const StudyReport report = report_of("end_to_end", {limited, inferred()});
  EXPECT_THAT(header(report.sections.at(0)), HasSubstr("mean ms|std ms|GPU ms|tokens/s"));
  EXPECT_THAT(report.notes,
              Contains("The host limits 1 of 2 steps (h): their times depend on the machine's host and not on the GPU "
                       "alone. In them the GPU works for 80.00 % (small 512 train_step bf16) of the step; GPU ms is "
                       "this time."));
  EXPECT_THAT(report_of("end_to_end", {inferred()}).notes, Not(Contains(HasSubstr("The host limits"))));
}

Record with_timelines(const std::string& pass) {
  Record record = support::timed_record(
      CaseId::parse("Model/size:small/ctx:512/batch:4/pass:" + pass + "/precision:fp32/impl:eager"), Seconds{6 * kMs});
  record.trace = StepTrace{};
  record.trace->steps = 3;
  record.trace->timeline = StepTimeline{.range = "FORWARD/layer.6",
                                        .names = {"layer.6", "cudaLaunchKernel_v7000", "ns::k<int>"},
                                        .kind = {0, 1, 2, 2},
                                        .name = {0, 1, 2, 2},
                                        .depth = {0, 0, 0, 0},
                                        .start_s = {0, 10e-6, 1e-3, 1.1e-3},
                                        .end_s = {100e-6, 15e-6, 1.05e-3, 1.2e-3}};
  constexpr std::int64_t kMebi = 1 << 20;
  record.memory = MemoryUse{};
  record.memory->timeline = MemoryTimeline{.step = 2,
                                           .events = {1, 7, 9},
                                           .bands = {{.range = "before the step", .bytes = {kMebi, kMebi, kMebi}},
                                                     {.range = "FORWARD", .bytes = {0, 2 * kMebi, 0}}},
                                           .phases = {{.name = "forward", .point = 0}},
                                           .peak = 1};
  return record;
}

StudyReport timelines_of(std::vector<Record> records) {
  const std::vector files{support::gpu_results(std::move(records))};
  return study_report(find_study("timelines", "--study"), files,
                      {.axes = {parse_axis_override("Model.size=small")}, .filter = {}});
}

TEST(Timelines, HaveTablesAndFigures) {
  const StudyReport report = timelines_of({with_timelines("forward"), with_timelines("train_step")});
  ASSERT_EQ(report.sections.size(), 2U);
  EXPECT_THAT(rows(report.sections[0]), Contains("forward|FORWARD/layer.6|1|100.0|2|200.0|1000"));
  EXPECT_THAT(rows(report.sections[1]),
              ElementsAre("forward|begin of forward|1|1.000", "forward|peak|7|3.000", "forward|end|9|1.000",
                          "train_step|begin of forward|1|1.000", "train_step|peak|7|3.000", "train_step|end|9|1.000"));
  ASSERT_EQ(report.sections[1].figures.size(), 4U);
  EXPECT_EQ(report.sections[1].figures[0].title, "small, 512 tokens, forward, fp32");
  EXPECT_TRUE(std::holds_alternative<LayerFigure>(report.sections[1].figures[0].data));
  EXPECT_THAT(std::get<LayerFigure>(report.sections[1].figures[0].data).shown,
              ElementsAre("layer.6", "cudaLaunchKernel", "k"));
  EXPECT_TRUE(std::holds_alternative<MemoryTimeline>(report.sections[1].figures[1].data));
}

TEST(Timelines, OfOtherRecordsThereAreNone) {
  Record record = with_timelines("forward");
  record.trace->timeline.reset();
  record.memory->timeline.reset();
  const StudyReport report = timelines_of({record});
  EXPECT_THAT(rows(report.sections.at(0)), Contains("forward||none||||"));
  EXPECT_THAT(report.sections.back().figures, IsEmpty());
}

}  // namespace
}  // namespace tbench::studies
