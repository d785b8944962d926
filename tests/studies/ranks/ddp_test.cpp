// Tests the study of data-parallel steps. On one GPU, `small` takes 50 ms: 30 ms are backward and 5 ms are the
// optimizer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../small_study.hpp"
#include "rank_samples.hpp"

namespace tbench::studies {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kParameters = 128'625'408;  // parameters of `small`
constexpr std::int64_t kKibi = 1024;
constexpr std::int64_t kFourGibi = std::int64_t{1} << 32;

Record alone() {
  Record record = parallel(parallel_id("none"), 50);
  record.timing->phases = {{"forward", Seconds{0.015}}, {"backward", Seconds{0.030}}, {"optimizer", Seconds{0.005}}};
  return record;
}

MemoryUse peak_of(std::int64_t bytes) {
  MemoryUse memory;
  memory.allocated_peak = bytes;
  return memory;
}

/// Adds collectives: all_reduce takes 10 ms for all float32 gradients of `small`, the other two take half as long, and
/// other sizes take proportional times.
void add_collectives(std::vector<Record>& records) {
  for (const std::int64_t bytes : {kKibi, kFourGibi}) {
    const double microseconds = 10'000 * static_cast<double>(bytes) / (4 * kParameters);
    records.push_back(collective(CollectiveOp::kAllReduce, bytes, 2, microseconds));
    records.push_back(collective(CollectiveOp::kReduceScatter, bytes, 2, microseconds / 2));
    records.push_back(collective(CollectiveOp::kAllGather, bytes, 2, microseconds / 2));
  }
}

StudyReport ddp_report(std::vector<Record> records) {
  return rank_report("ddp", std::move(records),
                     {parse_axis_override("DataParallel.size=small"), parse_axis_override("DataParallel.bucket_mib=25"),
                      parse_axis_override("Collective.bytes=1024,4294967296")});
}

/// Returns the row of the predictions for a strategy and a number of GPUs, from the column `predicted ms` on.
std::vector<std::string> predicted(const StudyReport& report, const std::string& strategy, const std::string& gpus) {
  const StudySection& section = section_of(report, "predicted from one GPU's");
  for (const auto& row : section.rows) {
    std::vector<std::string> cells = texts(row);
    if (cells[0] == strategy && cells[2] == gpus) return {cells.begin() + 3, cells.end()};
  }
  return {};
}

std::vector<std::string> step_row(const StudyReport& report, const std::string& strategy) {
  for (const auto& row : section_of(report, "A step of each GPU's own batch").rows) {
    if (row[0].text == strategy) return texts(row);
  }
  return {};
}

TEST(DdpStudy, HoldsStrategiesAgainstOneGpuAndTheReducer) {
  std::vector<Record> records{alone(), parallel(parallel_id("flat"), 80),
                              parallel(parallel_id("reducer", "2", "25"), 64),
                              parallel(parallel_id("overlapped", "2", "25"), 62.5)};
  records[3].counters = {{"communication_ms", 20}, {"exposed_communication_ms", 5}};
  records[3].memory = peak_of(std::int64_t{3} << 30);
  const StudyReport report = ddp_report(records);
  EXPECT_THAT(headers(section_of(report, "A step of each GPU's own batch")),
              ElementsAre("strategy", "bucket_mib", "step ms", "tokens/s of all", "efficiency %", "time / reducer's",
                          "communication ms", "exposed ms", "exposed %", "peak MiB"));
  // 2 GPUs process 4 * 512 tokens each in 50 ms; 50 / 64 = 0.7812.
  EXPECT_THAT(step_row(report, "none"), ElementsAre("none", "", "50.00", "81,920", "100.0", "0.7812", "", "", "", ""));
  EXPECT_THAT(step_row(report, "flat"), ElementsAre("flat", "", "80.00", "51,200", "62.50", "1.250", "", "", "", ""));
  EXPECT_THAT(step_row(report, "overlapped"), ElementsAre("overlapped", "25", "62.50", "65,536", "80.00", "0.9766",
                                                          "20.00", "5.000", "25.00", "3,072"));
  EXPECT_THAT(step_row(report, "naive"), ElementsAre("naive", "", "[1]", "", "", "", "", "", "", ""));
  EXPECT_THAT(report.commands[0],
              HasSubstr("torchrun --no-python --nproc-per-node=2 ./transformer_bench --tb_study=ddp"));
  EXPECT_TRUE(section_of(report, "Step ms by strategy").has_bars);
}

TEST(DdpStudy, BucketsAreHeldAgainstTheReducersOfTheirSize) {
  const StudyReport report = rank_report(
      "ddp",
      {alone(), parallel(parallel_id("reducer", "2", "1"), 40), parallel(parallel_id("reducer", "2", "25"), 50),
       parallel(parallel_id("bucketed", "2", "25"), 60), parallel(parallel_id("flat"), 80)},
      {parse_axis_override("DataParallel.size=small")});
  const StudySection& steps = section_of(report, "A step of each GPU's own batch");
  const auto row =
      std::ranges::find_if(steps.rows, [](const auto& r) { return r[0].text == "bucketed" && r[1].text == "25"; });
  ASSERT_NE(row, steps.rows.end());
  EXPECT_EQ(texts(*row)[5], "1.200");
  EXPECT_EQ(steps.rows[2][0].text, "flat");
  EXPECT_EQ(texts(steps.rows[2])[5], "2.000") << "without buckets: against the fastest";
}

TEST(DdpStudy, ASizesStrategiesStandTogether) {
  const StudyReport report = rank_report(
      "ddp", {},
      {parse_axis_override("DataParallel.size=small,xl"), parse_axis_override("DataParallel.bucket_mib=25")});
  std::vector<std::string> rows;
  for (const auto& row : section_of(report, "A step of each GPU's own batch").rows) {
    rows.push_back(row[0].text + " " + row[1].text);
  }
  EXPECT_THAT(rows, ElementsAre("small none", "small naive", "small flat", "small bucketed", "small overlapped",
                                "small reducer", "small sharded_optimizer", "xl none", "xl naive", "xl flat",
                                "xl bucketed", "xl overlapped", "xl reducer", "xl sharded_optimizer"));
}

TEST(DdpStudy, ShardingIsHeldAgainstItsCount) {
  std::vector<Record> records{alone(), parallel(parallel_id("sharded_optimizer"), 60)};
  records[0].memory = peak_of(std::int64_t{3000} << 20);
  records[1].memory = peak_of(std::int64_t{2600} << 20);
  // 8 bytes * 128,625,408 * (1 - 1 / 2) = 490.7 MiB
  EXPECT_THAT(texts(section_of(ddp_report(records), "What sharding").rows[0]),
              ElementsAre("2,600", "3,000", "400", "491"));
}

TEST(DdpStudy, PredictsEveryStrategyFromTheIsolatedStep) {
  std::vector<Record> records{alone(), parallel(parallel_id("naive"), 62.5), parallel(parallel_id("flat"), 75),
                              parallel(parallel_id("sharded_optimizer"), 57.5)};
  add_collectives(records);
  const StudyReport report = ddp_report(records);
  EXPECT_THAT(predicted(report, "naive", "2"),
              ElementsAre("60.00", "62.50", "-4.000", "10.00", "10.00", "83.33", "measured"));
  EXPECT_THAT(predicted(report, "flat", "2"),
              ElementsAre("60.00", "75.00", "-20.00", "10.00", "10.00", "83.33", "measured"));
  // The step takes 50 - 5 + 2.5 + 5 + 5 ms.
  EXPECT_EQ(predicted(report, "sharded_optimizer", "2")[0], "57.50");
  // The last bucket contains the embedding's 7,680,000 gradients, which are ready when backward ends. It takes at least
  // 0.597 ms.
  EXPECT_THAT(predicted(report, "overlapped", "2")[4], ::testing::MatchesRegex("0[.](59|[6-9]).*|[12][.].*"));
  EXPECT_EQ(predicted(report, "none", "2"), std::vector<std::string>{});
  // All-reduce takes 10 ms * 1.75. The sharded optimizer takes 10 ms * 0.875 / 0.5 and an eighth of the optimizer's
  // time.
  EXPECT_THAT(predicted(report, "flat", "8"),
              ElementsAre("67.50", "", "", "17.50", "17.50", "74.07", "prediction alone; extrapolated"));
  EXPECT_EQ(predicted(report, "sharded_optimizer", "8")[0], "63.12");  // 50 - 5 + 0.625 + 17.5
  EXPECT_EQ(predicted(report, "flat", "4")[0], "65.00");
  EXPECT_THAT(report.notes,
              ElementsAre("Predicted with measured collectives, of 3 steps: the median error is 4.0 %, the "
                          "largest 20.0 % (" +
                          parallel_id("flat").name() + ")."));
}

TEST(DdpStudy, AnExtrapolationIsHeldAgainstWhatWasMeasuredThere) {
  std::vector<Record> records{alone(), parallel(parallel_id("flat", "8"), 75)};
  add_collectives(records);
  const StudyReport report = ddp_report(records);
  const StudySection& section = section_of(report, "predicted from one GPU's");
  std::vector<std::string> row;
  for (const auto& cells : section.rows) {
    if (cells[1].text == "flat" && cells[3].text == "8") row = texts(cells);
  }
  EXPECT_THAT(row,
              ElementsAre("2", "flat", "", "8", "67.50", "75.00", "-10.00", "17.50", "17.50", "74.07", "extrapolated"));
  EXPECT_THAT(report.notes,
              ElementsAre(HasSubstr("Predicted with extrapolated collectives, of 1 step: the median error "
                                    "is 10.0 %, the largest 10.0 % (DataParallel/")));
}

TEST(DdpStudy, GradientsHaveTheBytesThatWereExchanged) {
  std::vector<Record> records{alone(), parallel(parallel_id("flat"), 60)};
  records[1].counters["communication_bytes"] = 2 * kParameters;
  add_collectives(records);
  EXPECT_EQ(predicted(ddp_report(records), "naive", "2")[0], "55.00");
}

TEST(DdpStudy, CopiesIntoBuffersTakeTheRateOfACeilingInTheFiles) {
  std::vector<Record> records{alone()};
  add_collectives(records);
  Record copy = support::timed_record({"Ceiling", {{"what", "copy"}, {"regime", "burst"}}}, Seconds{0.001});
  copy.work = Work{.bytes = static_cast<std::int64_t>(4 * kParameters)};  // the bytes of all gradients in 1 ms
  records.push_back(copy);
  const StudyReport report = ddp_report(records);
  EXPECT_EQ(predicted(report, "flat", "2")[0], "64.00");  // copied in and out; each copy reads and writes
  EXPECT_EQ(predicted(report, "naive", "2")[0], "60.00");
  for (const std::string& command : report.commands) EXPECT_THAT(command, Not(HasSubstr("Ceiling")));
}

/// A bucket of 100 MiB is further from 25 MiB than 16 MiB is, and fp32 products are another case.
TEST(DdpStudy, OverlapCostsWhatWasMeasuredNearestToTheBucket) {
  std::vector<Record> records{alone(), parallel(parallel_id("overlapped", "2", "25"), 55)};
  add_collectives(records);
  const double without = std::stod(predicted(ddp_report(records), "overlapped", "2")[0]);
  records.push_back(overlap(26'214'400, "bf16", 4, 1, 4.5));
  records.push_back(overlap(104'857'600, "bf16", 4, 1, 5));
  records.push_back(overlap(26'214'400, "fp32", 4, 1, 5));
  const StudyReport report = ddp_report(records);
  const std::vector<std::string> row = predicted(report, "overlapped", "2");
  const double hidden = std::stod(row[3]) - std::stod(row[4]);
  EXPECT_NEAR(std::stod(row[0]), without + hidden / 2, 0.02);
  EXPECT_THAT(texts(section_of(report, "beside matrix products").rows[1])[4], "0.5000");
}

TEST(DdpStudy, StepsThatTheHostLimitsCountAsNoError) {
  std::vector<Record> records{alone(), parallel(parallel_id("naive"), 62.5), parallel(parallel_id("flat"), 75)};
  records[2].timing->host_bound = true;
  add_collectives(records);
  const StudyReport report = ddp_report(records);
  EXPECT_EQ(predicted(report, "flat", "2").back(), "measured; the host limits it");
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("of 1 step: the median error is 4.0 %"),
                                        "1 measured step that the host limits is left out of the errors."));
  records[0].timing->host_bound = true;
  EXPECT_THAT(ddp_report(records).notes,
              ElementsAre("2 measured steps that the host limits are left out of the errors."));
}

/// The file is older than the mark for host-bound ranks.
TEST(DdpStudy, AHostBoundMeasurementIsNoPredictionError) {
  std::vector<Record> records{alone(), parallel(parallel_id("naive"), 62.5), parallel(parallel_id("flat"), 75)};
  records[2].timing->drain = records[2].timing->median * 0.04;
  StepTrace trace;
  trace.device = records[2].timing->median;
  trace.kernels.emplace_back().kernel_class = "collective";
  records[2].trace = trace;
  add_collectives(records);
  EXPECT_EQ(predicted(ddp_report(records), "flat", "2").back(), "measured; the host limits it");
}

TEST(DdpStudy, CollectivesOfAsManyGpusAreMissed) {
  const StudyReport report = ddp_report({parallel(parallel_id("flat", "4"), 60)});
  for (const std::string& command : report.commands) EXPECT_THAT(command, HasSubstr("--nproc-per-node=4 "));
}

TEST(DdpStudy, WithoutCollectivesOrPhasesThereIsNoPrediction) {
  const StudyReport no_collectives = ddp_report({alone(), parallel(parallel_id("flat"), 60)});
  EXPECT_THAT(texts(section_of(no_collectives, "predicted from").rows[0]),
              ElementsAre("", "", "", "none", "", "", "", "", "", ""));
  EXPECT_THAT(no_collectives.notes, IsEmpty());
  Record no_phases = alone();
  no_phases.timing->phases.clear();
  std::vector<Record> records{no_phases, parallel(parallel_id("flat"), 60)};
  add_collectives(records);
  EXPECT_THAT(ddp_report(records).notes, IsEmpty());
}

}  // namespace
}  // namespace tbench::studies
