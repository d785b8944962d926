// Tests speed-ups if hosts, two GPUs or two optimizers make times incomparable, and which points a fit leaves out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "small_study.hpp"
#include "studies/engine/studies.hpp"
#include "tbench/core/text.hpp"

namespace tbench::studies {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Returns a step in which the GPU works for `device_ms`.
Record traced(const std::string& ctx, const std::string& precision, double ms, double device_ms) {
  Record record = timed("small", ctx, precision, ms);
  record.device.emplace();
  record.trace.emplace();
  record.trace->device = Seconds{device_ms * 1e-3};
  return record;
}

StudyReport speed_ups(std::vector<Record> base, std::vector<Record> own, const std::string& uuid_of_own = "GPU-a") {
  StudyTable table = spread_over({"precision"}, {step_time_column()});
  table.speed_up = StudySpeedUp{.base = {{"precision", "fp32"}}};
  table.only = {{"size", "small"}, {"ctx", "128"}};
  results::NamedResults one = results_of(std::move(base)), other = results_of(std::move(own));
  one.file.environment.gpu->uuid = "GPU-a";
  other.file.environment.gpu->uuid = uuid_of_own;
  return report_of(study_of(table), {one, other});
}

TEST(SpeedUp, DividesTimesWhereTheGpuLimitsBoth) {
  const StudyReport report = speed_ups({traced("128", "fp32", 8, 8)}, {traced("128", "bf16", 4, 3.95)});
  EXPECT_THAT(texts(report.sections[0].rows[0]), ElementsAre("8.000", "4.000", "2.000"));
}

/// Such a case was medium in TF32 on a slow host: the speed-up was 0.47 by time, but 2.18 by the GPU's own time.
TEST(SpeedUp, DividesDeviceTimesWhereTheHostLimitsASide) {
  const StudyReport report = speed_ups({traced("128", "fp32", 8, 7.9)}, {traced("128", "bf16", 16, 4)});
  EXPECT_THAT(texts(report.sections[0].rows[0]), ElementsAre("8.000", "16.00", "1.975", "bf16 hd"));
  EXPECT_THAT(join(report.notes, " "), HasSubstr("d computed from the GPU's own times"));
}

TEST(SpeedUp, DividesDeviceTimesOfTwoGpus) {
  const StudyReport report = speed_ups({traced("128", "fp32", 8, 7.9)}, {traced("128", "bf16", 4, 3.95)}, "GPU-b");
  EXPECT_THAT(texts(report.sections[0].rows[0]), ElementsAre("8.000", "4.000", "2.000", "bf16 d"));
}

TEST(SpeedUp, DividesTimesWhereNoTraceTellsTheGpusOwn) {
  Record own = timed("small", "128", "bf16", 16);
  own.device.emplace();
  own.timing->host_bound = true;
  const StudyReport report = speed_ups({traced("128", "fp32", 8, 7.9)}, {own});
  EXPECT_THAT(texts(report.sections[0].rows[0]), ElementsAre("8.000", "16.00", "0.500", "bf16 h"));
}

TEST(SpeedUp, IsRefusedBetweenTwoOptimizers) {
  Record base = traced("128", "fp32", 8, 7.9), own = traced("128", "bf16", 4, 3.95);
  base.work = Work{.flop = {1}, .tokens = 1, .optimizer = "adamw_foreach"};
  own.work = Work{.flop = {1}, .tokens = 1, .optimizer = "adamw_fused"};
  const StudyReport report = speed_ups({base}, {own});
  EXPECT_THAT(texts(report.sections[0].rows[0]), ElementsAre("8.000", "4.000", "", "bf16 o"));
  EXPECT_THAT(join(report.notes, " "), HasSubstr("o not compared: two optimizers"));
  own.work->optimizer = base.work->optimizer;
  EXPECT_EQ(speed_ups({base}, {own}).sections[0].rows[0][2].text, "2.000");
}

/// Returns the exponent and the marks of a fit over three contexts, of which the host limits the first if the GPU works
/// for less than 8 ms.
std::vector<std::string> fit_of(Record first, const StudyColumn& quantity) {
  StudyTable table = spread_over({"ctx"}, {quantity});
  table.fit = StudyFit{.of = "ctx", .x = [](const std::string& value, std::span<const ModelSize>) {
                         return static_cast<double>(parse_integer(value).value());
                       }};
  table.only = {{"size", "small"}, {"precision", "bf16"}};
  const StudyReport report = report_of(
      study_of(table), {results_of({std::move(first), traced("256", "bf16", 16, 16), traced("512", "bf16", 32, 32)})});
  const std::vector<std::string> row = texts(report.sections[0].rows[0]);
  return {row.at(3), row.size() > 5 ? row.at(5) : ""};
}

TEST(Fit, TakesTheStepsTimesUnlessTheHostLimitsACase) {
  EXPECT_THAT(fit_of(traced("128", "bf16", 8, 8), step_time_column()), ElementsAre("1.000", ""));
}

TEST(Fit, TakesTheGpusOwnTimesWhereTheHostLimitsACase) {
  // The GPU's own times, 4, 16 and 32 ms, grow by 8 over a factor of 4.
  EXPECT_THAT(fit_of(traced("128", "bf16", 8, 4), step_time_column()), ElementsAre("1.500", HasSubstr("d")));
}

TEST(Fit, LeavesOutCasesThatTheHostLimitsWhereATimeOfTheGpuIsUnknown) {
  EXPECT_EQ(fit_of(traced("128", "bf16", 8, 4), kMilliseconds).at(0), "") << "two points are left";
  Record untraced = timed("small", "128", "bf16", 8);
  untraced.device.emplace();
  untraced.timing->host_bound = true;
  EXPECT_EQ(fit_of(untraced, step_time_column()).at(0), "") << "two points are left";
}

}  // namespace
}  // namespace tbench::studies
