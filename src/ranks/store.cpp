#include "tbench/ranks/store.hpp"

#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <netdb.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "ranks/torch_store.hpp"

namespace tbench::ranks {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kAskInterval{100};
constexpr std::chrono::seconds kLookUpInterval{1};
/// The time by which c10d may exceed its limit: it overruns if a server accepts the connection but does not answer.
constexpr std::chrono::seconds kOverrun{5};

std::chrono::milliseconds milliseconds_of(Seconds time) {
  return std::chrono::milliseconds{static_cast<std::int64_t>(to_milliseconds(time))};
}

class TorchStore final : public Store {
 public:
  explicit TorchStore(c10::intrusive_ptr<c10d::Store> store) : store_{std::move(store)} {}

  void set(const std::string& key, const std::string& value) override {
    try {
      store_->set(key, std::vector<std::uint8_t>{value.begin(), value.end()});
    } catch (const std::exception& error) {
      throw lost(error);
    }
  }
  bool has(const std::string& key) override {
    try {
      return store_->check({key});
    } catch (const std::exception& error) {
      throw lost(error);
    }
  }
  std::string get(const std::string& key) override {
    try {
      const std::vector<std::uint8_t> value = store_->get(key);
      return {value.begin(), value.end()};
    } catch (const std::exception& error) {
      throw lost(error);
    }
  }

 private:
  static std::runtime_error lost(const std::exception& error) {
    return std::runtime_error{
        fmt::format("the store of the ranks does not answer, its process may have ended: {}", message_of(error))};
  }

  c10::intrusive_ptr<c10d::Store> store_;
};

/// Silences c10d, which logs every attempt to connect, and failures with their backtraces; final failures are reported
/// as exceptions. Also disables its flight recorder, which keeps a process's last operations for the diagnosis of a job
/// that hung: it takes host time in every operation, and two groups used by two threads write to it without a lock.
void quiet_c10d() {
  static std::once_flag once;
  std::call_once(once, [] {
    constexpr int kKeep = 0;
    ::setenv("TORCH_CPP_LOG_LEVEL", "FATAL", kKeep);
    ::setenv("TORCH_FR_BUFFER_SIZE", "0", kKeep);
    c10::initLogging();
  });
}

/// Runs a task that may take long and cannot be interrupted in a thread of its own, for which nothing has to wait.
template <class Task>
std::future<std::invoke_result_t<Task>> in_own_thread(Task task) {
  std::packaged_task<std::invoke_result_t<Task>()> packaged{std::move(task)};
  auto result = packaged.get_future();
  std::thread{std::move(packaged)}.detach();
  return result;
}

/// Returns why a host name does not resolve; empty if it does.
std::string address_problem(const std::string& host) {
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, nullptr, &found);
  if (found != nullptr) ::freeaddrinfo(found);
  return error == 0 ? "" : ::gai_strerror(error);
}

/// Returns once the address of the store resolves. While a cluster starts, a name may become known late.
void wait_for_address(const Launch& launch, const std::string& what, Clock::time_point end, const Waiting& waiting) {
  Wait wait{.what = what};
  for (;;) {
    auto problem = in_own_thread([host = launch.address] { return address_problem(host); });
    while (problem.wait_for(kAskInterval) != std::future_status::ready) waiting(wait);
    const std::string why = problem.get();
    if (why.empty()) return;
    wait.what = fmt::format("{}: '{}' has no address ({})", what, launch.address, why);
    wait.is_suspicious = true;
    if (Clock::now() >= end) {
      throw std::runtime_error{fmt::format("rank {} of {} waited in vain {}", launch.rank, launch.size, wait.what)};
    }
    for (const auto again = Clock::now() + kLookUpInterval; Clock::now() < again;) {
      waiting(wait);
      std::this_thread::sleep_for(kAskInterval);
    }
  }
}

}  // namespace

std::string message_of(const std::exception& error) {
  const auto* const of_torch = dynamic_cast<const c10::Error*>(&error);
  const std::string message = of_torch == nullptr ? error.what() : of_torch->what_without_backtrace();
  return message.substr(0, message.find('\n'));
}

c10::intrusive_ptr<c10d::Store> open_torch_store(const Launch& launch, bool may_serve, Seconds limit) {
  quiet_c10d();
  c10d::TCPStoreOptions options;
  options.port = launch.port;
  options.isServer = may_serve && launch.serves_store();
  options.waitWorkers = false;
  options.timeout = milliseconds_of(limit);
  try {
    auto store = c10::make_intrusive<c10d::TCPStore>(launch.address, options);
    return c10::make_intrusive<c10d::PrefixStore>("transformer_bench/" + launch.attempt, std::move(store));
  } catch (const std::exception& error) {
    throw std::runtime_error{
        fmt::format("rank {} of {} cannot {} the ranks' store at {}:{} (MASTER_ADDR, MASTER_PORT): {}", launch.rank,
                    launch.size, options.isServer ? "serve" : "reach", launch.address, launch.port, message_of(error))};
  }
}

std::unique_ptr<Store> open_store(const Launch& launch, bool may_serve, Seconds limit, const Waiting& waiting) {
  if (!waiting) return std::make_unique<TorchStore>(open_torch_store(launch, may_serve, limit));
  const Clock::time_point end = Clock::now() + milliseconds_of(limit);
  const bool serves = may_serve && launch.serves_store();
  const std::string what = fmt::format("for {} the ranks' store at {}:{} (MASTER_ADDR, MASTER_PORT)",
                                       serves                   ? "itself to serve"
                                       : launch.has_agent_store ? "torchrun's agent to serve"
                                                                : "rank 0 to serve",
                                       launch.address, launch.port);
  wait_for_address(launch, what, end, waiting);
  quiet_c10d();
  auto opened = in_own_thread([=] { return open_torch_store(launch, may_serve, limit); });
  while (opened.wait_for(kAskInterval) != std::future_status::ready) {
    waiting({.what = what});
    if (Clock::now() < end + kOverrun) continue;
    throw std::runtime_error{
        fmt::format("rank {} of {} waited in vain {}: whoever listens there does not answer as a store does",
                    launch.rank, launch.size, what)};
  }
  return std::make_unique<TorchStore>(opened.get());
}

}  // namespace tbench::ranks
