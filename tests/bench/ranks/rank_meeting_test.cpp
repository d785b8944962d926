// The ranks are threads here, and their store is in this process.
#include "bench/ranks/rank_meeting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "shared_store.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"

namespace tbench::bench {
namespace {

using ::testing::HasSubstr;

ranks::Launch launch_of(int rank) { return {.rank = rank, .size = 2, .local_rank = rank, .address = "x", .port = 1}; }

Introduction introduction(const std::string& argument) {
  return {.refusal = {}, .arguments = {argument}, .environment = support::cpu_environment()};
}

constexpr Seconds kShort{0.2};
constexpr Seconds kLong{20.0};

TEST(RankMeeting, RoundsGoFromRankZeroToTheOthersAndTheirReportsBack) {
  SharedStore store;
  std::thread other{[&] {
    RankMeeting meeting{launch_of(1), store.opener(), kLong};
    meeting.meet(introduction("--x"));
    for (;;) {
      const RoundCall call = meeting.next_call([] { return false; });
      if (call.name.empty()) return;
      Record record;
      record.id = CaseId::parse(call.name);
      record.status = Status::kOom;
      record.reason = call.needs_fresh ? "fresh" : "used";
      meeting.report(std::vector{record});
    }
  }};
  {
    RankMeeting meeting{launch_of(0), store.opener(), kLong};
    meeting.meet(introduction("--x"));
    for (const bool fresh : {false, true}) {
      meeting.call({.name = "Family/key:1", .needs_fresh = fresh});
      EXPECT_EQ(group_of_round(*store.view()), fresh ? "group/2" : "group/1");
      const std::vector<Record> records = meeting.report_of(1, "Family/key:1", kLong, {});
      ASSERT_EQ(records.size(), 1U);
      EXPECT_EQ(records[0].id.name(), "Family/key:1");
      EXPECT_EQ(records[0].reason, fresh ? "fresh" : "used");
    }
  }  // ends the run
  other.join();
}

TEST(RankMeeting, ALostRoundIsLostForAllAndTheNextOneIsNot) {
  SharedStore store;
  RankMeeting first{launch_of(0), store.opener(), kShort}, second{launch_of(1), store.opener(), kShort};
  first.call({.name = "Family/key:1"});
  static_cast<void>(second.next_call([] { return false; }));
  EXPECT_FALSE(first.is_lost());
  second.lose();
  EXPECT_TRUE(first.is_lost());
  EXPECT_TRUE(second.is_lost());
  first.call({.name = "Family/key:2"});
  EXPECT_FALSE(first.is_lost());
}

TEST(RankMeeting, ThatCannotBeFailsOnEveryRankAlike) {
  SharedStore store;
  std::string said[2];
  bool tells[2]{};
  const auto take_part = [&](int rank) {
    RankMeeting meeting{launch_of(rank), store.opener(), kLong};
    try {
      meeting.meet(introduction(rank == 0 ? "--tb_seed=1" : "--tb_seed=2"));
    } catch (const UsageError& error) {
      said[rank] = error.what();
      tells[rank] = meeting.refuse(error.what());
    }
  };
  std::thread other{take_part, 1};
  take_part(0);
  other.join();
  EXPECT_THAT(said[0], HasSubstr("'--tb_seed=2' against '--tb_seed=1'"));
  EXPECT_EQ(said[1], said[0]);
  EXPECT_TRUE(tells[0]);
  EXPECT_FALSE(tells[1]);
}

TEST(RankMeeting, TellsTheOthersOfARankThatRefuses) {
  SharedStore store;
  std::thread other{[&] {
    RankMeeting meeting{launch_of(1), store.opener(), kLong};
    EXPECT_FALSE(meeting.refuse("there is no such flag"));
  }};
  std::string said;
  {
    RankMeeting meeting{launch_of(0), store.opener(), kLong};
    try {
      meeting.meet(introduction("--x"));
    } catch (const UsageError& error) {
      said = error.what();
    }
  }
  other.join();
  EXPECT_EQ(said, "rank 1: there is no such flag");
}

TEST(RankMeeting, NamesARankThatDoesNotCome) {
  SharedStore store;
  RankMeeting meeting{launch_of(0), store.opener(), kShort};
  try {
    meeting.meet(introduction("--x"));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1 of 2"));
  }
}

TEST(RankMeeting, NamesARankThatDoesNotReport) {
  SharedStore store;
  RankMeeting meeting{launch_of(0), store.opener(), kShort};
  meeting.call({.name = "Family/key:1"});
  int waits = 0;
  try {
    static_cast<void>(meeting.report_of(1, "Family/key:1", kShort, [&] { ++waits; }));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1"));
    EXPECT_THAT(error.what(), HasSubstr("Family/key:1"));
  }
  EXPECT_GT(waits, 0);
}

TEST(RankMeeting, ARankThatCannotReachTheOthersTellsTheUserItself) {
  RankMeeting meeting{launch_of(1), []() -> std::unique_ptr<ranks::Store> { throw std::runtime_error{"nobody"}; },
                      kShort};
  EXPECT_TRUE(meeting.refuse("there is no such flag"));
}

}  // namespace
}  // namespace tbench::bench
