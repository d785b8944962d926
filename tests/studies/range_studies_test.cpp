// Tests the studies of ranges, of attention's parts and of memory, with figures computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernel_study_samples.hpp"

namespace tbench::studies {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

/// Returns the training step with ranges.
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
  // 12 layers with 12 heads of head_dim 64, and 4 x 512 x 512 scores per head: 0.7550 and 38.65 GFLOP.
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
      "pass|range|calls|host ms|host excl. ms|GPU span ms|GPU ms|GPU excl. ms|GPU % of outer|launches|launches a call|"
      "host mean us|GPU mean us|host min us|host max us|host std us|GPU min us|GPU max us|GPU std us");
  EXPECT_THAT(
      rows(report.sections[0]),
      ElementsAre(
          "forward||none||||||||||||||||",  // its trace has no ranges
          "train_step|FORWARD|1|6.000|3.000|5.250|5.000|1.000|31.2|1|1.000|6000|5000|100.0|200.0|10.00|50.00|80.00|5."
          "000",
          "train_step|FORWARD/"
          "layer.*|12|5.000|2.500|4.250|4.000|4.000|80.0|12|1.000|416.7|333.3|100.0|200.0|10.00|50.00|80.00|5.000",
          "train_step|BACKWARD|1|8.000|4.000|8.250|8.000|8.000|50.0|1|1.000|8000|8000|100.0|200.0|10.00|50.00|80.00|",
          "train_step|FORWARD/(projections)||1.000|||2.000||40.0|24|||||||||"));
}

TEST(Ranges, OfRepetitionsAreMediansOverTheCommonRanges) {
  Record other = ranged();
  other.trace->ranges[0].host = {9 * kMs};
  other.trace->ranges[0].host_max = {900 * kUs};
  Record third = ranged();
  third.trace->ranges[0].host = {7 * kMs};
  third.trace->ranges[0].host_min = {50 * kUs};
  third.trace->ranges.push_back(range("OPTIMIZER", 1, 1, 1, 1));
  const StudyReport report = report_of("ranges", {ranged(), other, third});
  const std::vector<std::string> all = rows(report.sections[0]);
  ASSERT_EQ(all.size(), 5U);  // no range of the forward pass alone was measured
  EXPECT_EQ(
      all[1],
      "train_step|FORWARD|1|7.000|3.000|5.250|5.000|1.000|31.2|1|1.000|7000|5000|50.00|900.0|10.00|50.00|80.00|5.000");
}

TEST(SoftmaxVsMatmul, HasTheTimesOfEachPhase) {
  const StudyReport report = report_of("softmax_vs_matmul", {ranged()});
  EXPECT_EQ(header(report.sections[0]),
            "pass|phase|softmax ms|QK^T ms|context ms|rest ms|softmax % of all|softmax / matmul: time %");
  const std::vector<std::string> all = rows(report.sections[0]);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1], "train_step|forward|0.8000|0.3000|0.1000|0.4000|50.0|200.0");
  EXPECT_EQ(all[2], "train_step|backward|2.000|1.000|1.000|0|50.0|100.0");
}

TEST(Answers, AreSentencesWithTheirNumbers) {
  Record step = ranged();
  step.timing->phases = {{.name = "forward", .median = {5 * kMs}}, {.name = "backward", .median = {9 * kMs}}};
  const StudyReport report = report_of("answers", {inferred(), step});
  EXPECT_EQ(header(report.sections[0]), "pass|question|%|answer");
  const std::vector<std::string> all = rows(report.sections[0]);
  ASSERT_EQ(all.size(), 7U);  // two of them for inference
  EXPECT_EQ(all[2],
            "train_step|(a) forward: a trace beside the timer|105.0|GPU span of the range FORWARD, traced, 5.25 ms, "
            "of which its operations take 5 ms; 5 ms by the timer's events");
  EXPECT_EQ(
      all[3],
      "train_step|(b) forward's longest kernel|60.0|nvjet_a: 60.0 % of forward's time on the GPU, 10 calls per step; "
      "forward and backward together have the same; of both it has 50.0 %");
  EXPECT_EQ(all[4], "train_step|(c) forward's time besides matrix products|20.0|softmax_forward 16.0 % (12 calls)");
  EXPECT_EQ(
      all[5],
      "train_step|(d) matrix products: the step beside inference|47.5|90.0 % of the kernels' time in inference, 47.5 % "
      "in the whole step: -42.5 percentage points");
  EXPECT_EQ(
      all[6],
      "train_step|(e) softmax beside attention's matrix products|200.0|0.8 ms against 0.4 ms: 200.0 % of the time "
      "for 2.0 % of the FLOP, 102 times the time a FLOP");
}

TEST(Answers, RankForwardAndBackwardTogether) {
  Record step = trained();
  step.trace->kernels[4].total = {7 * kMs};  // softmax's backward: 7 of 16 ms
  const std::vector<std::string> all = rows(report_of("answers", {step}).sections[0]);
  ASSERT_EQ(all.size(), 3U) << "how to measure inference, and no answer that needs it";
  EXPECT_THAT(all[1], HasSubstr("; forward and backward together have another: softmax_bw with 43.8 %; of both it has "
                                "40.6 %"));
}

TEST(Answers, WithoutRangesAndASecondPhaseAreFewer) {
  const StudyReport report = report_of("answers", {inferred()});
  const std::vector<std::string> all = rows(report.sections[0]);
  ASSERT_EQ(all.size(), 3U);  // two rows, and a command that measures the training step
  EXPECT_THAT(all[0], HasSubstr("(b) forward's longest kernel|90.0|nvjet_a: 90.0 % of forward's time"));
  EXPECT_THAT(all[1], HasSubstr("(c) forward's time besides matrix products|10.0|softmax_forward 10.0 %"));
}

TEST(ProfilerOverhead, SetsTheTracedStepBesideTheOther) {
  Record step = ranged();
  step.timing->phases = {{.name = "forward", .median = {5.5 * kMs}}, {.name = "backward", .median = {9 * kMs}}};
  const StudyReport report = report_of("profiler_overhead", {step});
  EXPECT_EQ(
      header(report.sections[0]),
      "pass|untraced ms|traced ms|traced % of untraced|forward: events ms|range, host ms|range, GPU span ms|range, GPU "
      "ms");
  EXPECT_EQ(rows(report.sections[0]).at(1), "train_step|20.00|17.50|87.5|5.500|6.000|5.250|5.000");
}

TEST(Memory, ByPhaseAndByRange) {
  constexpr std::int64_t kMebi = 1 << 20;
  Record step = trained();
  step.memory = MemoryUse{.allocated_peak = 1000 * kMebi,
                          .requested_peak = {},
                          .reserved_peak = 2000 * kMebi,
                          .device_used = {},
                          .split = {{"activations", 900 * kMebi}}};
  step.memory->phases = {{.phase = "forward",
                          .allocated_peak = 900 * kMebi,
                          .held = 850 * kMebi,
                          .held_split = {{"casts", 50 * kMebi}, {"activations", 799 * kMebi}, {"inputs", kMebi / 4}}},
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
  EXPECT_THAT(ends_with(report.sections[1]),
              ElementsAre("forward|900|850|activations 799, casts 50", "backward|1,000|100|"));
  EXPECT_THAT(ends_with(report.sections[2]), ElementsAre("FORWARD/layer.*|700.0|70.00|24", "(no range)|10.00|1.000|1"));
  EXPECT_THAT(ends_with(report.sections[3]), ElementsAre("FORWARD/layer.3|50.00"));
}

}  // namespace
}  // namespace tbench::studies
