#include "bench/run/rank_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sample_results.hpp"

namespace tbench::bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Records = std::vector<Record>;

const CaseId kCase{"Collective", {{"op", "all_reduce"}, {"gpus", "2"}}};

Record failed(Status status, const std::string& reason) {
  Record record;
  record.id = kCase;
  record.status = status;
  record.reason = reason;
  return record;
}

Record lost() {
  Record record = failed(Status::kCrashed, "lost the others");
  record.labels[kLostRanks] = "while measuring";
  return record;
}

Record timed(double seconds) {
  Record record;
  record.id = kCase;
  record.timing.emplace();
  record.timing->samples_s = {seconds};
  record.timing->median = record.timing->p10 = record.timing->p90 = record.timing->min = record.timing->mean =
      Seconds{seconds};
  return record;
}

RankHello hello() {
  return {.refusal = {}, .arguments = {"--tb_seed=1", "--x"}, .environment = support::golden_file().environment};
}

TEST(RankHello, SurvivesTheStore) {
  const RankHello read = rank_hello_from(to_text(hello()));
  EXPECT_EQ(read.arguments, hello().arguments);
  EXPECT_EQ(read.environment, hello().environment);
  const RankHello refusal = rank_hello_from(to_text(RankHello{.refusal = "no GPU"}));
  EXPECT_EQ(refusal.refusal, "no GPU");
  EXPECT_EQ(refusal.environment, std::nullopt);
  EXPECT_THROW(static_cast<void>(rank_hello_from("{}")), std::runtime_error);
}

TEST(Disagreement, IsNoneBetweenEqualRanksOnDifferentGpus) {
  RankHello second = hello();
  second.environment->gpu->uuid = "GPU-another";
  second.environment->date = "2030-01-01T00:00:00Z";
  EXPECT_EQ(disagreement(std::vector{hello(), second}), std::nullopt);
}

TEST(Disagreement, NamesTheRankAndWhatDiffers) {
  const auto with_second = [](auto change) {
    RankHello second = hello();
    second.environment->gpu->uuid = "GPU-another";
    change(second);
    return disagreement(std::vector{hello(), second}).value_or("nothing");
  };
  EXPECT_THAT(with_second([](RankHello& rank) { rank.environment->sources_digest = "abc"; }),
              AllOf(HasSubstr("rank 1"), HasSubstr("different build"), HasSubstr("abc")));
  EXPECT_THAT(with_second([](RankHello& rank) { rank.environment->gpu->name = "NVIDIA Other"; }),
              AllOf(HasSubstr("rank 1"), HasSubstr("NVIDIA Other")));
  EXPECT_THAT(with_second([](RankHello& rank) { rank.environment->gpu.reset(); }), HasSubstr("different device"));
  EXPECT_THAT(with_second([](RankHello& rank) {
                rank.arguments = {"--tb_seed=2", "--x"};
              }),
              HasSubstr("'--tb_seed=2' against '--tb_seed=1'"));
  EXPECT_THAT(with_second([](RankHello& rank) { rank.arguments.pop_back(); }), HasSubstr("nothing against '--x'"));
  EXPECT_THAT(with_second([](RankHello& rank) { rank = {.refusal = "no such flag"}; }),
              HasSubstr("rank 1: no such flag"));
}

TEST(Disagreement, NamesTwoRanksOnOneGpu) {
  EXPECT_THAT(disagreement(std::vector{hello(), hello()}).value_or("nothing"),
              HasSubstr("ranks 0 and 1 have the same GPU"));
}

TEST(RankRequest, SurvivesTheStore) {
  const RankRequest call{.name = kCase.name(), .needs_fresh = true};
  EXPECT_EQ(rank_request_from(to_text(call)), call);
}

TEST(MergeRanks, TakesRankZerosRecordsWhereAllHaveTimes) {
  const std::vector<Records> ranks{{timed(1.0), timed(2.0)}, {timed(1.0), timed(2.0)}};
  EXPECT_EQ(merge_ranks(ranks), ranks.front());
}

TEST(MergeRanks, NamesTheRankThatIsTheCause) {
  const std::pair<Record, const char*> kCauses[]{{failed(Status::kCrashed, "killed by signal 9"), "crashed"},
                                                 {failed(Status::kTimeout, "no sign of life"), "timeout"},
                                                 {failed(Status::kIncorrect, "output[3]"), "incorrect"},
                                                 {failed(Status::kOom, "no memory"), "oom"}};
  for (const auto& [record, status] : kCauses) {
    for (const Records& other : {Records{lost()}, Records{}, Records{timed(1.0)}}) {
      const Records merged = merge_ranks(std::vector<Records>{other, {record}, other});
      ASSERT_EQ(merged.size(), 1U);
      EXPECT_EQ(to_string(merged[0].status), status);
      EXPECT_EQ(merged[0].reason, "rank 1: " + record.reason);
      EXPECT_FALSE(merged[0].timing.has_value());
    }
  }
}

TEST(MergeRanks, ACrashGoesBeforeWhatCameOfIt) {
  const Records merged =
      merge_ranks(std::vector<Records>{{failed(Status::kTimeout, "waited")}, {failed(Status::kCrashed, "killed")}});
  EXPECT_EQ(merged.at(0).reason, "rank 1: killed");
}

TEST(MergeRanks, ALostConnectionThatNobodyCausedIsACrashOfAll) {
  const Records merged = merge_ranks(std::vector<Records>{{lost()}, {lost()}});
  EXPECT_EQ(merged.at(0).status, Status::kCrashed);
  EXPECT_EQ(merged.at(0).reason, "ranks 0, 1: lost the others");
  EXPECT_TRUE(merged.at(0).labels.empty());
}

TEST(MergeRanks, EachReasonHasItsRanks) {
  const Records merged = merge_ranks(std::vector<Records>{
      {failed(Status::kOom, "of 1 GiB")}, {failed(Status::kOom, "of 2 GiB")}, {failed(Status::kOom, "of 1 GiB")}});
  EXPECT_EQ(merged.at(0).reason, "ranks 0, 2: of 1 GiB; rank 1: of 2 GiB");
}

TEST(MergeRanks, WhatNoRankSupportsNeedsNoName) {
  const Records record{failed(Status::kUnsupported, "bf16 is not for 300 ranks")};
  EXPECT_EQ(merge_ranks(std::vector<Records>{record, record}), record);
}

TEST(MergeRanks, OfAnInterruptedCaseThereIsNothing) {
  EXPECT_TRUE(merge_ranks(std::vector<Records>{{}, {}}).empty());
  EXPECT_TRUE(merge_ranks(std::vector<Records>{{timed(1.0)}, {}}).empty());
}

TEST(MergeRanks, KeepsTheRepetitionsBeforeTheOneThatFailed) {
  const Records merged =
      merge_ranks(std::vector<Records>{{timed(1.0)}, {timed(1.0), failed(Status::kIncorrect, "later")}});
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_TRUE(merged[0].timing.has_value());
  EXPECT_EQ(merged[1].reason, "rank 1: later");
}

}  // namespace
}  // namespace tbench::bench
