// Two ranks of one process, each in a thread: gloo does not mind. What NCCL does takes two GPUs.
#include "tbench/ranks/group.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "../support/free_port.hpp"
#include "tbench/ranks/store.hpp"

namespace tbench::ranks {
namespace {

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

/// Runs `body` as both ranks, each with a group.
void as_two_ranks(const std::function<void(Group&)>& body, Seconds limit = kLimit) {
  const std::uint16_t port = support::free_port();
  const std::unique_ptr<Store> served = open_store(launch_of(0, port), /*may_serve=*/true, kLimit);
  const auto take_part = [&](int rank) {
    Group group{launch_of(rank, port), "test", /*on_gpu=*/false, limit};
    body(group);
  };
  std::thread other{take_part, 1};
  take_part(0);
  other.join();
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
  EXPECT_TRUE(server->has("key"));
  EXPECT_EQ(server->get("key"), "value");
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

/// With rank 0 bringing 0 1 2 3 and rank 1 bringing 10 11 12 13.
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

TEST(Group, TellsThatAnotherRankIsGone) {
  as_two_ranks([](Group& group) {
    if (group.rank() == 1) return;  // and its connections are closed
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
  constexpr Seconds kShort{1.0};
  as_two_ranks(
      [](Group& group) {
        if (group.rank() == 1) return std::this_thread::sleep_for(std::chrono::seconds{3});
        const std::array own{1.0};
        EXPECT_THROW(static_cast<void>(group.gather(own)), std::runtime_error);
        EXPECT_TRUE(group.has_failed());
      },
      kShort);
}

}  // namespace
}  // namespace tbench::ranks
