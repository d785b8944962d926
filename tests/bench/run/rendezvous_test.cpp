// Tests the rendezvous of ranks. The ranks are threads, and their store is in this process.
#include "bench/run/rendezvous.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "shared_store.hpp"
#include "support/sample_results.hpp"
#include "tbench/core/error.hpp"

namespace tbench::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ranks::Launch launch_of(int rank) { return {.rank = rank, .size = 2, .local_rank = rank, .address = "x", .port = 1}; }

RankHello hello(const std::string& argument) {
  return {.refusal = {}, .arguments = {argument}, .environment = support::cpu_environment()};
}

bool never() { return false; }
void tell_nobody(const std::string&) {}

const Patience kShort{.limit = Seconds{0.2}, .stop = never, .tell = tell_nobody};
const Patience kLong{.limit = Seconds{20.0}, .stop = never, .tell = tell_nobody};

TEST(Rendezvous, RoundsGoFromRankZeroToTheOthersAndTheirReportsBack) {
  SharedStore store;
  std::thread other{[&] {
    Rendezvous rendezvous{launch_of(1), store.opener(), kLong};
    static_cast<void>(rendezvous.meet(hello("--x")));
    for (;;) {
      const RankRequest call = rendezvous.next_call([] { return false; });
      if (call.name.empty()) return;
      Record record;
      record.id = CaseId::parse(call.name);
      record.status = Status::kOom;
      record.reason = call.needs_fresh ? "fresh" : "used";
      rendezvous.report(std::vector{record});
    }
  }};
  {
    Rendezvous rendezvous{launch_of(0), store.opener(), kLong};
    static_cast<void>(rendezvous.meet(hello("--x")));
    for (const bool fresh : {false, true}) {
      rendezvous.call({.name = "Family/key:1", .needs_fresh = fresh});
      EXPECT_EQ(group_of_round(*store.view()), fresh ? "group/2" : "group/1");
      const std::vector<Record> records = rendezvous.report_of(1, "Family/key:1", kLong.limit, {});
      ASSERT_EQ(records.size(), 1U);
      EXPECT_EQ(records[0].id.name(), "Family/key:1");
      EXPECT_EQ(records[0].reason, fresh ? "fresh" : "used");
    }
  }  // ends the run
  other.join();
}

TEST(Rendezvous, ALostRoundIsLostForAllAndTheNextOneIsNot) {
  SharedStore store;
  Rendezvous first{launch_of(0), store.opener(), kShort}, second{launch_of(1), store.opener(), kShort};
  first.call({.name = "Family/key:1"});
  static_cast<void>(second.next_call([] { return false; }));
  EXPECT_FALSE(first.is_lost());
  second.lose();
  EXPECT_TRUE(first.is_lost());
  EXPECT_TRUE(second.is_lost());
  first.call({.name = "Family/key:2"});
  EXPECT_FALSE(first.is_lost());
}

TEST(Rendezvous, ThatCannotBeFailsOnEveryRankAlike) {
  SharedStore store;
  std::string said[2];
  bool tells[2]{};
  const auto take_part = [&](int rank) {
    Rendezvous rendezvous{launch_of(rank), store.opener(), kLong};
    try {
      static_cast<void>(rendezvous.meet(hello(rank == 0 ? "--tb_seed=1" : "--tb_seed=2")));
    } catch (const UsageError& error) {
      said[rank] = error.what();
      tells[rank] = rendezvous.refuse(error.what());
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

TEST(Rendezvous, TellsTheOthersOfARankThatRefuses) {
  SharedStore store;
  std::thread other{[&] {
    Rendezvous rendezvous{launch_of(1), store.opener(), kLong};
    EXPECT_FALSE(rendezvous.refuse("there is no such flag"));
  }};
  std::string said;
  {
    Rendezvous rendezvous{launch_of(0), store.opener(), kLong};
    try {
      static_cast<void>(rendezvous.meet(hello("--x")));
    } catch (const UsageError& error) {
      said = error.what();
    }
  }
  other.join();
  EXPECT_EQ(said, "rank 1: there is no such flag");
}

TEST(Rendezvous, NamesARankThatDoesNotCome) {
  SharedStore store;
  Rendezvous rendezvous{launch_of(0), store.opener(), kShort};
  try {
    static_cast<void>(rendezvous.meet(hello("--x")));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1 of 2 did not come to x:1"));
  }
}

/// The lines that one of three ranks reports while it waits, and its state. It stops waiting after `lines` lines.
struct Waiter {
  Patience patience(std::size_t lines) {
    return {.limit = Seconds{20.0},
            .stop = [this, lines] { return told.size() >= lines; },
            .tell = [this](const std::string& line) { told.push_back(line); },
            .quiet = Seconds{0.05}};
  }
  std::vector<std::string> told{};
};

ranks::Launch of_three(int rank) { return {.rank = rank, .size = 3, .local_rank = rank, .address = "x", .port = 1}; }

TEST(Rendezvous, RankZeroTellsWhoIsMissingAndEndsWhereTheUserStopsIt) {
  SharedStore store;
  Waiter waiter;
  {
    Rendezvous rendezvous{of_three(0), store.opener(), waiter.patience(1)};
    EXPECT_FALSE(rendezvous.meet(hello("--x")));
  }  // does not wait for the ranks that never came
  EXPECT_THAT(waiter.told,
              ElementsAre("rank 0 of 3 waits at x:1 (MASTER_ADDR, MASTER_PORT) for ranks 1, 2. It gives up "
                          "after 20 s; Ctrl-C ends it now."));
  EXPECT_EQ(rank_hello_from(store.view()->get("introduction/0")).refusal, "it was stopped");
  // A rank that comes later does not wait for the others, because rank 0 has gone.
  Rendezvous late{of_three(1), store.opener(), kLong};
  EXPECT_FALSE(late.meet(hello("--x")));
}

TEST(Rendezvous, AnotherRankTellsOfRankZeroAlone) {
  SharedStore store;
  Waiter waiter;
  Rendezvous rendezvous{of_three(1), store.opener(), waiter.patience(1)};
  EXPECT_FALSE(rendezvous.meet(hello("--x")));
  EXPECT_THAT(waiter.told, ElementsAre(HasSubstr("for ranks 0, 2.")));

  store.view()->set("introduction/0", to_text(hello("--x")));
  Waiter quiet;
  Patience short_one = quiet.patience(1);
  short_one.limit = Seconds{0.3};
  Rendezvous second{of_three(2), store.opener(), short_one};
  store.view()->set("introduction/1", to_text(hello("--x")));
  EXPECT_TRUE(second.meet(hello("--x")));
  EXPECT_THAT(quiet.told, ElementsAre());
}

TEST(Rendezvous, ReportsASuspiciousMissingStoreAtOnce) {
  int opened = 0;
  const OpenStore open = [&](const ranks::Waiting& waiting) -> std::unique_ptr<ranks::Store> {
    ++opened;
    waiting({.what = "for a store"});
    waiting({.what = "for a store: 'x' has no address", .is_suspicious = true});
    waiting({.what = "for a store: 'x' has no address", .is_suspicious = true});
    throw std::runtime_error{"in vain"};
  };
  Waiter waiter;
  Patience patience = waiter.patience(2);
  patience.quiet = Seconds{10.0};
  Rendezvous rendezvous{launch_of(1), open, patience};
  EXPECT_THROW(static_cast<void>(rendezvous.meet(hello("--x"))), std::runtime_error);
  EXPECT_THAT(waiter.told, ElementsAre("rank 1 of 2 waits for a store: 'x' has no address. It gives up after 20 s; "
                                       "Ctrl-C ends it now."));
  EXPECT_TRUE(rendezvous.refuse("in vain"));
  EXPECT_EQ(opened, 1);
}

TEST(Rendezvous, NamesARankThatDoesNotReport) {
  SharedStore store;
  Rendezvous rendezvous{launch_of(0), store.opener(), kShort};
  rendezvous.call({.name = "Family/key:1"});
  int waits = 0;
  try {
    static_cast<void>(rendezvous.report_of(1, "Family/key:1", kShort.limit, [&] { ++waits; }));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1"));
    EXPECT_THAT(error.what(), HasSubstr("Family/key:1"));
  }
  EXPECT_GT(waits, 0);
}

TEST(Rendezvous, ARankThatCannotReachTheOthersTellsTheUserItself) {
  Rendezvous rendezvous{
      launch_of(1), [](const ranks::Waiting&) -> std::unique_ptr<ranks::Store> { throw std::runtime_error{"nobody"}; },
      kShort};
  EXPECT_TRUE(rendezvous.refuse("there is no such flag"));
}

}  // namespace
}  // namespace tbench::bench
