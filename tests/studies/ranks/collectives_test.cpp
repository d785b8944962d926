// Tests the study of collectives with records of 2 and 8 GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../small_study.hpp"
#include "rank_samples.hpp"

namespace tbench::studies {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using enum CollectiveOp;

constexpr std::int64_t kMebi = std::int64_t{1} << 20;

std::vector<AxisOverride> narrowed() {
  return {parse_axis_override("Collective.op=all_reduce,send_recv"),
          parse_axis_override("Collective.bytes=1024,1048576"), parse_axis_override("Collective.precision=fp32")};
}

/// Returns records of 8 GPUs. At 1 MiB, all_reduce has an algorithm bandwidth of 104.9 GB/s and 1.75 times that on the
/// bus. send_recv, whose bus factor is 1, has 209.7 GB/s.
std::vector<Record> of_eight() {
  return {collective(kAllReduce, 1024, 8, 16), collective(kAllReduce, kMebi, 8, 10), collective(kSendRecv, 1024, 8, 8),
          collective(kSendRecv, kMebi, 8, 5)};
}

TEST(CollectivesStudy, ShowsOperationsSideBySideBySize) {
  const StudyReport report = rank_report("collectives", of_eight(), narrowed());
  ASSERT_EQ(report.sections.size(), 5U);
  EXPECT_THAT(report.commands, IsEmpty());
  const StudySection& bus = section_of(report, "Bus bandwidth GB/s");
  EXPECT_THAT(bus.caption, HasSubstr("Collective precision:fp32 gpus:8. "));
  EXPECT_THAT(headers(bus), ElementsAre("bytes", "op:all_reduce", "op:send_recv"));
  EXPECT_THAT(texts(bus.rows[0]), ElementsAre("1 KiB", "0.1120", "0.1280"));  // 1024 / 16 us * 1.75; 1024 / 8 us
  EXPECT_THAT(texts(bus.rows[1]), ElementsAre("1 MiB", "183.5", "209.7"));
  EXPECT_EQ(bus.rows[1][0].value, 1048576.0);
  EXPECT_THAT(texts(section_of(report, "Algorithm bandwidth GB/s").rows[1]), ElementsAre("1 MiB", "104.9", "209.7"));
  EXPECT_THAT(texts(section_of(report, "Median time us").rows[1]), ElementsAre("1 MiB", "10.00", "5.000"));
}

TEST(CollectivesStudy, TheLinkIsSendRecvsBestOfAsManyGpus) {
  std::vector<Record> records = of_eight();
  records.push_back(collective(kAllReduce, kMebi, 2, 10));  // 104.9 GB/s, factor 1
  records.push_back(collective(kSendRecv, kMebi, 2, 4));    // 262.1 GB/s
  const StudyReport report = rank_report("collectives", records, narrowed());
  const StudySection& share = section_of(report, "Share of the link %");
  EXPECT_THAT(texts(share.rows[0]), ElementsAre("1 KiB", "2", "[1]", "[1]"));
  EXPECT_THAT(texts(share.rows[1]), ElementsAre("1 KiB", "8", "0.05341", "0.06104"));  // 0.112 and 0.128 of 209.7152
  EXPECT_THAT(texts(share.rows[2]), ElementsAre("1 MiB", "2", "40.00", "100.0"));
  EXPECT_THAT(texts(share.rows[3]), ElementsAre("1 MiB", "8", "87.50", "100.0"));
  EXPECT_THAT(report.notes, ElementsAre("The link of 2 GPUs: 262.1 GB/s, of send_recv with 1 MiB fp32.",
                                        "The link of 8 GPUs: 209.7 GB/s, of send_recv with 1 MiB fp32."));
}

TEST(CollectivesStudy, WithoutSendRecvThereIsNoShare) {
  Record unstable = collective(kAllReduce, kMebi, 2, 10);
  unstable.status = Status::kUnstable;
  const StudyReport report = rank_report("collectives", {unstable}, narrowed());
  EXPECT_THAT(texts(section_of(report, "Share of the link %").rows[1]), ElementsAre("1 MiB", "", "[2]"));
  EXPECT_THAT(report.notes, ElementsAre("* unstable or throttled."));  // marks a time
}

TEST(CollectivesStudy, LatencyIsTheSmallestSizes) {
  const StudySection& latency = section_of(rank_report("collectives", of_eight(), narrowed()), "Latency us");
  EXPECT_THAT(latency.caption, HasSubstr("bytes:1 KiB"));
  ASSERT_EQ(latency.rows.size(), 1U);
  EXPECT_THAT(texts(latency.rows[0]), ElementsAre("16.00", "8.000"));
}

TEST(CollectivesStudy, TheCommandForMissingCasesHasTheSameNumberOfRanks) {
  const StudyReport report = rank_report("collectives", of_eight());
  ASSERT_FALSE(report.commands.empty());
  for (const std::string& command : report.commands) {
    EXPECT_THAT(command, HasSubstr("torchrun --no-python --nproc-per-node=8 ./transformer_bench --tb_study=collectives "
                                   "--benchmark_filter="));
  }
  const StudyReport nothing = rank_report("collectives", {});
  EXPECT_THAT(nothing.commands,
              ElementsAre("torchrun --no-python --nproc-per-node=2 ./transformer_bench --tb_study=collectives "
                          "--benchmark_out=collectives_1.json"));
  EXPECT_EQ(nothing.sections[0].rows.size(), 12U * 2);  // 1 KiB to 4 GiB in steps of 4, two precisions
  EXPECT_EQ(nothing.sections[0].rows.front()[0].text, "1 KiB");
  EXPECT_EQ(nothing.sections[0].rows.back()[0].text, "4 GiB");
}

}  // namespace
}  // namespace tbench::studies
