#include "bench/run/rendezvous.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"

namespace tbench::bench {
namespace {

constexpr std::chrono::milliseconds kPollInterval{10};
/// The longest wait of rank 0 for ranks that only have to notice the end of the run.
constexpr Seconds kFarewell{10.0};
constexpr const char* kRound = "round";  // number of the latest round
constexpr const char* kTold = "told";    // set once rank 0 has told the user everything

using Clock = std::chrono::steady_clock;

/// Thrown through a wait when the user asks to stop.
struct Stopped {};

Seconds since(Clock::time_point began) { return {std::chrono::duration<double>(Clock::now() - began).count()}; }

/// "rank 3" or "ranks 1, 3".
std::string named(const std::vector<int>& ranks) {
  return fmt::format("{} {}", agreeing(ranks.size(), "rank", "ranks"), fmt::join(ranks, ", "));
}

std::string introduction_key(int rank) { return fmt::format("introduction/{}", rank); }
std::string farewell_key(int rank) { return fmt::format("farewell/{}", rank); }

}  // namespace

Rendezvous::Rendezvous(const ranks::Launch& launch, OpenStore open, Patience patience)
    : launch_{launch}, open_{std::move(open)}, patience_{std::move(patience)} {}

Rendezvous::~Rendezvous() {
  try {
    if (store_) leave();
  } catch (const std::exception& error) {
    if (is_coordinator()) fmt::print(stderr, "transformer_bench: leaving the other ranks: {}\n", error.what());
  }
}

/// Called repeatedly during every wait. Prints a line if the wait is long or suspicious, and when its subject changes.
void Rendezvous::tell_wait(const ranks::Wait& wait) {
  if (patience_.stop()) throw Stopped{};
  if (wait.what == told_ || (!wait.is_suspicious && since(waits_since_) < patience_.quiet)) return;
  told_ = wait.what;
  waits_since_ = Clock::now();
  patience_.tell(fmt::format("rank {} of {} waits {}. It gives up after {:g} s; Ctrl-C ends it now.{}", launch_.rank,
                             launch_.size, wait.what, patience_.limit.value, errand_));
}

ranks::Store& Rendezvous::store() {
  if (store_) return *store_;
  if (!unreachable_.empty()) throw std::runtime_error{unreachable_};
  waits_since_ = Clock::now();
  try {
    store_ = open_([this](const ranks::Wait& wait) { tell_wait(wait); });
  } catch (const std::exception& error) {
    unreachable_ = error.what();
    throw;
  }
  return *store_;
}

std::string Rendezvous::of_round(const char* what) const { return fmt::format("{}/{}", what, round_); }

/// Waits until a key is set in the store.
/// @return  whether the key is set
bool Rendezvous::wait_for(const std::string& key, Seconds limit, const std::function<void()>& waiting) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit.value);
  while (!store().has(key)) {
    if (std::chrono::steady_clock::now() >= end) return false;
    if (waiting) waiting();
    std::this_thread::sleep_for(kPollInterval);
  }
  return true;
}

bool Rendezvous::meet(const RankHello& own) {
  try {
    store().set(introduction_key(launch_.rank), to_text(own));
    is_introduced_ = true;
    if (!wait_for_hellos()) return false;
  } catch (const Stopped&) {
    take_back_hello();
    return false;
  }
  std::vector<RankHello> all;
  for (int rank = 0; rank < launch_.size; ++rank) {
    all.push_back(rank_hello_from(store().get(introduction_key(rank))));
  }
  if (const auto why = disagreement(all)) throw UsageError{*why};
  return true;
}

/// Tells the ranks that are still waiting that this rank was stopped.
void Rendezvous::take_back_hello() noexcept {
  try {
    if (is_introduced_) store().set(introduction_key(launch_.rank), to_text(RankHello{.refusal = "it was stopped"}));
  } catch (const std::exception&) {  // no process serves the store any more, so that no rank waits
  }
}

/// Waits until all ranks have introduced themselves.
/// @return  false if rank 0 has left
bool Rendezvous::wait_for_hellos() {
  std::vector<int> missing;
  for (int rank = 0; rank < launch_.size; ++rank) missing.push_back(rank);
  const Clock::time_point began = waits_since_ = Clock::now();
  for (;;) {
    std::erase_if(missing, [this](int rank) { return store().has(introduction_key(rank)); });
    if (missing.empty()) return true;
    if (!is_coordinator() && store().has(kTold)) return false;
    if (since(began) >= patience_.limit) {
      throw std::runtime_error{
          fmt::format("{} of {} did not come to {}:{} within {:g} s: do they run, with the same "
                      "WORLD_SIZE, MASTER_ADDR and MASTER_PORT?",
                      named(missing), launch_.size, launch_.address, launch_.port, patience_.limit.value)};
    }
    if (patience_.stop()) throw Stopped{};
    if (is_coordinator() || missing.front() == 0) {
      tell_wait({.what = fmt::format("at {}:{} (MASTER_ADDR, MASTER_PORT) for {}", launch_.address, launch_.port,
                                     named(missing))});
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

bool Rendezvous::refuse(const std::string& why) noexcept {
  try {
    errand_ = " It has to tell the others: " + why;
    if (!is_introduced_) store().set(introduction_key(launch_.rank), to_text(RankHello{.refusal = why}));
    is_introduced_ = true;
    return is_coordinator() || !wait_for(kTold, patience_.limit, [this] {
             if (patience_.stop()) throw Stopped{};
           });
  } catch (const std::exception&) {
    return true;
  } catch (const Stopped&) {
    return true;
  }
}

void Rendezvous::call(const RankRequest& call) {
  ++round_;
  is_over_ = call.name.empty();
  store().set(kRound, fmt::format("{}", round_));
  store().set(of_round("call"), to_text(call));
}

RankRequest Rendezvous::next_call(const std::function<bool()>& stop) {
  ++round_;
  while (!wait_for(of_round("call"), Seconds{0.1})) {
    if (stop()) return {};
  }
  return rank_request_from(store().get(of_round("call")));
}

bool Rendezvous::is_lost() { return store().has(of_round("lost")); }

void Rendezvous::lose() { store().set(of_round("lost"), fmt::format("{}", launch_.rank)); }

void Rendezvous::report(std::span<const Record> records) {
  store().set(fmt::format("{}/{}", of_round("report"), launch_.rank), to_text(records));
}

std::vector<Record> Rendezvous::report_of(int rank, const std::string& name, Seconds limit,
                                          const std::function<void()>& waiting) {
  const std::string key = fmt::format("{}/{}", of_round("report"), rank);
  if (wait_for(key, limit, waiting)) return records_from(store().get(key), name);
  throw std::runtime_error{fmt::format(
      "rank {} has not reported within {:g} s what became of {}: has its process ended?", rank, limit.value, name)};
}

void Rendezvous::leave() {
  if (!is_coordinator()) return store().set(farewell_key(launch_.rank), "");
  store().set(kTold, "");
  if (!is_over_) call({});
  if (!launch_.serves_store()) return;
  const Clock::time_point began = Clock::now();
  for (int rank = 1; rank < launch_.size; ++rank) {
    // A late rank needs the store to learn why it is not needed, but the user need not wait for it.
    if (patience_.stop() && !store().has(introduction_key(rank))) continue;
    const Seconds left{std::max(0.0, std::min(kFarewell, patience_.limit).value - since(began).value)};
    static_cast<void>(wait_for(farewell_key(rank), left));
  }
}

std::string group_of_round(ranks::Store& store) { return "group/" + store.get(kRound); }

}  // namespace tbench::bench
