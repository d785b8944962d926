// Tests the tables of the study of precision for traced cases, with figures computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kernel_study_samples.hpp"

namespace tbench::studies {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Record forward_in(const std::string& precision, double ms) {
  CaseId id{"Model",
            {{"size", "small"},
             {"ctx", "512"},
             {"batch", "4"},
             {"pass", "forward"},
             {"precision", precision},
             {"impl", "eager"}}};
  return support::timed_record(std::move(id), Seconds{ms * kMs});
}

/// Adds a trace with the scores of two layers in forward and of one in backward, and a softmax that does not count. A
/// quarter of the GPU's time is casts.
Record traced(Record record, double scores_ms) {
  record.trace = StepTrace{};
  const auto range = [&](const std::string& path, double gpu_ms) {
    TracedRange made{};
    made.path = path;
    made.gpu_sum = {gpu_ms * kMs};
    record.trace->ranges.push_back(made);
  };
  range("FORWARD", 10);
  range("FORWARD/layer.*/attention/attention.scores", 0.75 * scores_ms);
  range("FORWARD/layer.0/attention/attention.scores", 0.25 * scores_ms);
  range("FORWARD/layer.*/attention/attention.softmax", 2);
  range("BACKWARD/layer.*/attention/attention.scores", 4);
  record.trace->kernels = {kernel("forward", "gemm", "nvjet", 1, 3), kernel("forward", "cast", "to_bf16", 1, 1)};
  return record;
}

StudyReport precision_report(std::vector<Record> records) {
  results::NamedResults file{.label = "a.json", .file = {}};
  file.file.environment = support::gpu_environment();
  file.file.records = std::move(records);
  return study_report(find_study("precision", "--study"), std::vector{file},
                      {.axes = {{"Model", {"size", {"small"}}},
                                {"Model", {"ctx", {"512"}}},
                                {"Model", {"pass", {"forward"}}},
                                {"Model", {"precision", {"fp32", "bf16"}}}},
                       .filter = {}});
}

TEST(PrecisionStudy, HasTimesAloneWithoutATrace) {
  EXPECT_EQ(precision_report({forward_in("fp32", 8), forward_in("bf16", 4)}).sections.size(), 1U);
}

TEST(PrecisionStudy, ATraceAddsScoresAndCasts) {
  const StudyReport report = precision_report({traced(forward_in("fp32", 8), 3), traced(forward_in("bf16", 4), 1.5)});
  ASSERT_EQ(report.sections.size(), 3U);
  EXPECT_THAT(report.sections[1].caption, HasSubstr("Attention's scores alone"));
  EXPECT_EQ(header(report.sections[1]), "precision:fp32|precision:bf16|precision:bf16 scores speed-up");
  EXPECT_THAT(rows(report.sections[1]), ElementsAre("3.000|1.500|2.000"));
  EXPECT_EQ(header(report.sections[2]), "precision:fp32|precision:bf16");
  EXPECT_THAT(rows(report.sections[2]), ElementsAre("25.0|25.0"));
}

}  // namespace
}  // namespace tbench::studies
