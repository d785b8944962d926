#include "tbench/ranks/store.hpp"

#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ranks/torch_store.hpp"

namespace tbench::ranks {
namespace {

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

/// c10d tells every attempt to connect, and failures with their backtraces: what fails in the end is an exception. Its
/// flight recorder keeps a process's last operations for whoever looks into a job that hung: it takes the host's time
/// in every operation, and two groups that two threads use write to it without a lock.
void quiet_c10d() {
  static std::once_flag once;
  std::call_once(once, [] {
    constexpr int kKeep = 0;
    ::setenv("TORCH_CPP_LOG_LEVEL", "FATAL", kKeep);
    ::setenv("TORCH_FR_BUFFER_SIZE", "0", kKeep);
    c10::initLogging();
  });
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

std::unique_ptr<Store> open_store(const Launch& launch, bool may_serve, Seconds limit) {
  return std::make_unique<TorchStore>(open_torch_store(launch, may_serve, limit));
}

}  // namespace tbench::ranks
