#include "bench/run/stall_watchdog.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <utility>

namespace tbench::bench {
namespace {

constexpr std::chrono::milliseconds kInterval{250};

Seconds steady_now() {
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

}  // namespace

StallCheck::StallCheck(StallOptions options, Position position, ranks::Store& store)
    : options_{std::move(options)}, position_{std::move(position)}, store_{store} {}

bool StallCheck::waits_for_another(Seconds now) {
  const std::int64_t position = position_();
  if (since_ == Seconds{} || position != last_) {
    last_ = position;
    since_ = now;
    state_ = State::kMoves;
    return false;
  }
  if (state_ == State::kMoves && now - since_ >= options_.limit) {
    store_.set(key_of(options_.rank), std::to_string(last_));
    state_ = State::kHasSaidWhere;
  }
  if (state_ != State::kHasSaidWhere || now - since_ < options_.limit * 1.5) return false;
  state_ = State::kIsDone;
  return another_is_behind();
}

std::string StallCheck::key_of(int rank) const { return fmt::format("stall/{}/{}", options_.group, rank); }

bool StallCheck::another_is_behind() {
  for (int rank = 0; rank < options_.size; ++rank) {
    if (rank == options_.rank) continue;
    if (!store_.has(key_of(rank)) || std::stoll(store_.get(key_of(rank))) < last_) return true;
  }
  return false;
}

StallWatchdog::StallWatchdog(StallOptions options, Position position,
                             std::function<std::unique_ptr<ranks::Store>()> open, std::function<void()> waits)
    : thread_{[this, options = std::move(options), position = std::move(position), open = std::move(open),
               waits = std::move(waits)] {
        try {
          run(options, position, open, waits);
        } catch (const std::exception&) {  // the store is gone: the supervisors notice that, too
        }
      }} {}

StallWatchdog::~StallWatchdog() {
  {
    const std::lock_guard lock{mutex_};
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void StallWatchdog::run(const StallOptions& options, const Position& position,
                        const std::function<std::unique_ptr<ranks::Store>()>& open,
                        const std::function<void()>& waits) {
  const std::unique_ptr<ranks::Store> store = open();
  StallCheck check{options, position, *store};
  std::unique_lock lock{mutex_};
  while (!changed_.wait_for(lock, kInterval, [&] { return is_over_; })) {
    lock.unlock();
    if (check.waits_for_another(steady_now())) waits();
    lock.lock();
  }
}

}  // namespace tbench::bench
