// Tests groups of two ranks in one process, one thread per rank, which gloo permits. With NCCL the test would need two
// GPUs.
#include "tbench/ranks/group.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <latch>
#include <vector>

#include "../support/two_ranks.hpp"

namespace tbench::ranks {
namespace {

using support::as_two_ranks;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Seconds kLimit{20.0};

Launch launch_of(int rank, std::uint16_t port) {
  return {.launcher = Launcher::kTorchrun,
          .rank = rank,
          .size = 2,
          .local_rank = rank,
          .address = "127.0.0.1",
          .port = port,
          .has_agent_store = false};
}

std::vector<float> values_of(const at::Tensor& tensor) {
  const at::Tensor values = tensor.to(at::kFloat);
  return {values.const_data_ptr<float>(), values.const_data_ptr<float>() + values.numel()};
}

TEST(Store, HasWhatAnotherProcessOfTheRanksSet) {
  const std::uint16_t port = support::free_port();
  const std::unique_ptr<Store> server = open_store(launch_of(0, port), /*may_serve=*/true, kLimit);
  const std::unique_ptr<Store> client = open_store(launch_of(1, port), /*may_serve=*/true, kLimit);
  EXPECT_FALSE(server->has("key"));
  client->set("key", "value");
  EXPECT_EQ(server->get("key"), "value");  // get() waits for the key, but has() does not
  EXPECT_TRUE(server->has("key"));
}

TEST(Store, OfAnEarlierStartIsAnother) {
  const std::uint16_t port = support::free_port();
  const std::unique_ptr<Store> server = open_store(launch_of(0, port), /*may_serve=*/true, kLimit);
  Launch again = launch_of(1, port);
  again.attempt = "1";
  server->set("key", "value");
  EXPECT_FALSE(open_store(again, /*may_serve=*/true, kLimit)->has("key"));
}

TEST(Store, ThatNobodyServesIsNamed) {
  const std::uint16_t port = support::free_port();
  try {
    static_cast<void>(open_store(launch_of(1, port), /*may_serve=*/true, Seconds{1.0}));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 1 of 2"), HasSubstr("127.0.0.1:" + std::to_string(port))));
  }
}

TEST(Group, GathersTheNumbersOfEveryRankInTheirOrder) {
  as_two_ranks([](Group& group) {
    const std::array own{1.0 + group.rank(), 0.5};
    EXPECT_EQ(group.gather(own), (std::vector<std::vector<double>>{{1.0, 0.5}, {2.0, 0.5}}));
    EXPECT_EQ(group.backend(), "gloo");
    EXPECT_THROW(static_cast<void>(group.gather({})), std::invalid_argument);
  });
}

/// Rank 0 contributes 0 1 2 3, and rank 1 contributes 10 11 12 13.
TEST(Group, OperationsMoveWhatTheirNamesSay) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    as_two_ranks([&](Group& group) {
      const bool first = group.rank() == 0;
      const auto input = [&] { return at::arange(4, dtype).add_(10 * group.rank()); };
      const auto output = [&](std::int64_t count) { return at::full({count}, -1.0, dtype); };

      at::Tensor data = input();
      group.all_reduce(data);
      EXPECT_THAT(values_of(data), ::testing::ElementsAre(10, 12, 14, 16));

      at::Tensor sent = input(), received = output(8);
      group.all_gather(received, sent);
      EXPECT_THAT(values_of(received), ::testing::ElementsAre(0, 1, 2, 3, 10, 11, 12, 13));

      received = output(2);
      group.reduce_scatter(received, sent);
      EXPECT_EQ(values_of(received), first ? (std::vector<float>{10, 12}) : (std::vector<float>{14, 16}));

      data = input();
      group.broadcast(data);
      EXPECT_THAT(values_of(data), ::testing::ElementsAre(0, 1, 2, 3));

      received = output(4);
      group.all_to_all(received, sent);
      EXPECT_EQ(values_of(received), first ? (std::vector<float>{0, 1, 10, 11}) : (std::vector<float>{2, 3, 12, 13}));

      received = output(4);
      group.send_to_next(received, sent);
      EXPECT_EQ(values_of(received), first ? (std::vector<float>{10, 11, 12, 13}) : (std::vector<float>{0, 1, 2, 3}));
      EXPECT_FALSE(group.has_failed());
    });
  }
}

/// Rank 0 contributes 0 1 2 3, and rank 1 contributes 10 11 12 13.
TEST(Group, MeansAreOfAllRanks) {
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    as_two_ranks([&](Group& group) {
      const auto input = [&] { return at::arange(4, dtype).add_(10 * group.rank()); };
      at::Tensor data = input();
      group.mean(data);
      EXPECT_THAT(values_of(data), ::testing::ElementsAre(5, 6, 7, 8));

      at::Tensor first = input(), second = input().mul_(2);
      Pending one = group.start_mean(first);
      Pending other = group.start_mean(second);
      other.wait();
      one.wait();
      EXPECT_THAT(values_of(first), ::testing::ElementsAre(5, 6, 7, 8));
      EXPECT_THAT(values_of(second), ::testing::ElementsAre(10, 12, 14, 16));

      at::Tensor sent = input(), received = at::full({2}, -1.0, dtype);
      group.mean_scatter(received, sent);
      EXPECT_EQ(values_of(received), group.rank() == 0 ? (std::vector<float>{5, 6}) : (std::vector<float>{7, 8}));
    });
  }
}

/// The input is a part of the output, as when shares of parameters are gathered.
TEST(Group, GathersInPlace) {
  as_two_ranks([](Group& group) {
    at::Tensor whole = at::full({4}, -1.0, at::kFloat);
    at::Tensor share = whole.narrow(0, 2 * group.rank(), 2);
    share.fill_(group.rank() + 1);
    group.all_gather(whole, share);
    EXPECT_THAT(values_of(whole), ::testing::ElementsAre(1, 1, 2, 2));
  });
}

TEST(Group, AFailureInItsGuardIsItsOwn) {
  as_two_ranks([](Group& group) {
    group.guard("nothing", [] {});
    EXPECT_THROW(group.guard("another's call",
                             [] {
                               throw c10::OutOfMemoryError{{}, "none left"};
                             }),
                 c10::OutOfMemoryError);
    EXPECT_FALSE(group.has_failed());
    try {
      group.guard("another's call", [] { throw std::runtime_error{"connection closed"}; });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("in another's call"), HasSubstr("connection closed")));
    }
    EXPECT_TRUE(group.has_failed());
  });
}

TEST(Group, TellsThatAnotherRankIsGone) {
  as_two_ranks([](Group& group) {
    if (group.rank() == 1) return;  // this closes its connections
    try {
      const std::array own{1.0};
      static_cast<void>(group.gather(own));
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr("rank 0 lost the others"));
    }
    EXPECT_TRUE(group.has_failed());
  });
}

TEST(Group, TellsThatAnotherRankHangs) {
  constexpr Seconds kShort{5.0};  // long enough for two busy cores to make the group
  std::latch told{1};
  as_two_ranks(
      [&told](Group& group) {
        if (group.rank() == 1) return told.wait();
        const std::array own{1.0};
        EXPECT_THROW(static_cast<void>(group.gather(own)), std::runtime_error);
        EXPECT_TRUE(group.has_failed());
        told.count_down();
      },
      kShort);
}

}  // namespace
}  // namespace tbench::ranks
