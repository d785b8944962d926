// Tests how a rank waits for the store of the others: what it reports while it waits, and that the wait can be ended.
#include "tbench/ranks/store.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../support/free_port.hpp"

namespace tbench::ranks {
namespace {

using ::testing::HasSubstr;

constexpr Seconds kAmple{60.0};

struct Enough {};

/// Returns a host without an address. The resolver reports that at once, even if no name server answers.
std::string host_without_address() {
  support::make_resolver_impatient();
  return "nosuchhost.invalid";
}

Launch launch_of(int rank, const std::string& address, std::uint16_t port) {
  return {
      .launcher = Launcher::kTorchrun, .rank = rank, .size = 2, .local_rank = rank, .address = address, .port = port};
}

/// Returns the waits that a rank reports, until there are `count` of them or one is suspicious.
std::vector<Wait> waits_of(const Launch& launch, std::size_t count) {
  std::vector<Wait> waits;
  try {
    static_cast<void>(open_store(launch, /*may_serve=*/true, kAmple, [&](const Wait& wait) {
      waits.push_back(wait);
      if (waits.size() >= count || wait.is_suspicious) throw Enough{};
    }));
    ADD_FAILURE() << "there is no store";
  } catch (const Enough&) {
  }
  return waits;
}

/// A port that accepts connections and never answers.
class SilentServer {
 public:
  SilentServer() : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}, port_{support::free_port()} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port_);
    if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || ::listen(socket_, 8) != 0) {
      throw std::runtime_error{"cannot listen"};
    }
  }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  ~SilentServer() { ::close(socket_); }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  int socket_;
  std::uint16_t port_;
};

TEST(StoreWait, AHostWithoutAnAddressIsToldAtOnce) {
  const std::vector<Wait> waits = waits_of(launch_of(1, host_without_address(), 29512), 600);
  EXPECT_TRUE(waits.back().is_suspicious);
  EXPECT_THAT(waits.back().what,
              HasSubstr("for rank 0 to serve the ranks' store at nosuchhost.invalid:29512 (MASTER_ADDR, "
                        "MASTER_PORT): 'nosuchhost.invalid' has no address ("));
}

TEST(StoreWait, WhereNobodyListensTheWaitGoesOnAndCanBeEnded) {
  const std::uint16_t port = support::free_port();
  const auto began = std::chrono::steady_clock::now();
  const std::vector<Wait> waits = waits_of(launch_of(1, "127.0.0.1", port), 20);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{30});
  EXPECT_FALSE(waits.back().is_suspicious);
  EXPECT_EQ(waits.back().what, "for rank 0 to serve the ranks' store at 127.0.0.1:" + std::to_string(port) +
                                   " (MASTER_ADDR, MASTER_PORT)");
}

TEST(StoreWait, AServerThatIsNoStoreIsWaitedForLikewise) {
  const SilentServer server;
  const auto began = std::chrono::steady_clock::now();
  const std::vector<Wait> waits = waits_of(launch_of(1, "127.0.0.1", server.port()), 20);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{30});
  EXPECT_EQ(waits.size(), 20U);
}

TEST(StoreWait, APortThatIsTakenIsNotWaitedFor) {
  const SilentServer server;
  try {
    static_cast<void>(open_store(launch_of(0, "127.0.0.1", server.port()), /*may_serve=*/true, kAmple,
                                 [](const Wait&) { throw std::logic_error{"it waits"}; }));
    FAIL() << "the port is taken";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 0 of 2 cannot serve the ranks' store at 127.0.0.1:"));
  }
}

TEST(StoreWait, IsFoundOnceItIsServed) {
  const std::uint16_t port = support::free_port();
  std::unique_ptr<Store> served;
  const std::unique_ptr<Store> found =
      open_store(launch_of(1, "localhost", port), /*may_serve=*/true, kAmple, [&](const Wait& wait) {
        EXPECT_THAT(wait.what, HasSubstr("localhost"));
        if (!served) served = open_store(launch_of(0, "localhost", port), true, kAmple);
      });
  ASSERT_TRUE(served);
  served->set("key", "value");
  EXPECT_EQ(found->get("key"), "value");  // waits for the value, which set() only sends
  EXPECT_TRUE(found->has("key"));
}

TEST(StoreWait, TheLimitEndsTheWait) {
  const auto ignore = [](const Wait&) {};
  EXPECT_THROW(
      static_cast<void>(open_store(launch_of(1, "127.0.0.1", support::free_port()), true, Seconds{0.5}, ignore)),
      std::runtime_error);
  EXPECT_THROW(static_cast<void>(open_store(launch_of(1, host_without_address(), 1), true, Seconds{0.0}, ignore)),
               std::runtime_error);
}

}  // namespace
}  // namespace tbench::ranks
