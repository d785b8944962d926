#include "bench/ranks/rank_meeting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tbench/core/error.hpp"

namespace tbench::bench {
namespace {

constexpr std::chrono::milliseconds kPollInterval{10};
/// For those that have only to see that rank 0 is done.
constexpr Seconds kFarewell{10.0};
constexpr const char* kRound = "round";  // the number of the round that was called last
constexpr const char* kTold = "told";    // rank 0 has told the user what there was to tell

std::string introduction_key(int rank) { return fmt::format("introduction/{}", rank); }
std::string farewell_key(int rank) { return fmt::format("farewell/{}", rank); }

}  // namespace

RankMeeting::RankMeeting(const ranks::Launch& launch, OpenStore open, Seconds limit)
    : launch_{launch}, open_{std::move(open)}, limit_{limit} {}

RankMeeting::~RankMeeting() {
  try {
    if (store_) leave();
  } catch (const std::exception& error) {
    if (leads()) fmt::print(stderr, "transformer_bench: leaving the other ranks: {}\n", error.what());
  }
}

ranks::Store& RankMeeting::store() {
  if (!store_) store_ = open_();
  return *store_;
}

std::string RankMeeting::of_round(const char* what) const { return fmt::format("{}/{}", what, round_); }

/// @return  whether the key is there
bool RankMeeting::wait_for(const std::string& key, Seconds limit, const std::function<void()>& waiting) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit.value);
  while (!store().has(key)) {
    if (std::chrono::steady_clock::now() >= end) return false;
    if (waiting) waiting();
    std::this_thread::sleep_for(kPollInterval);
  }
  return true;
}

void RankMeeting::meet(const Introduction& own) {
  store().set(introduction_key(launch_.rank), to_text(own));
  is_introduced_ = true;
  std::vector<Introduction> all;
  for (int rank = 0; rank < launch_.size; ++rank) {
    if (!wait_for(introduction_key(rank), limit_)) {
      throw std::runtime_error{
          fmt::format("rank {} of {} did not introduce itself within {:g} s: does it run, with the same WORLD_SIZE and "
                      "MASTER_ADDR?",
                      rank, launch_.size, limit_.value)};
    }
    all.push_back(introduction_from(store().get(introduction_key(rank))));
  }
  if (const auto why = disagreement(all)) throw UsageError{*why};
}

bool RankMeeting::refuse(const std::string& why) noexcept {
  try {
    if (!is_introduced_) store().set(introduction_key(launch_.rank), to_text(Introduction{.refusal = why}));
    is_introduced_ = true;
    return leads() || !wait_for(kTold, limit_);
  } catch (const std::exception&) {
    return true;
  }
}

void RankMeeting::call(const RoundCall& call) {
  ++round_;
  is_over_ = call.name.empty();
  store().set(kRound, fmt::format("{}", round_));
  store().set(of_round("call"), to_text(call));
}

RoundCall RankMeeting::next_call(const std::function<bool()>& stop) {
  ++round_;
  while (!wait_for(of_round("call"), Seconds{0.1})) {
    if (stop()) return {};
  }
  return round_call_from(store().get(of_round("call")));
}

bool RankMeeting::is_lost() { return store().has(of_round("lost")); }

void RankMeeting::lose() { store().set(of_round("lost"), fmt::format("{}", launch_.rank)); }

void RankMeeting::report(std::span<const Record> records) {
  store().set(fmt::format("{}/{}", of_round("report"), launch_.rank), to_text(records));
}

std::vector<Record> RankMeeting::report_of(int rank, const std::string& name, Seconds limit,
                                           const std::function<void()>& waiting) {
  const std::string key = fmt::format("{}/{}", of_round("report"), rank);
  if (wait_for(key, limit, waiting)) return records_from(store().get(key), name);
  throw std::runtime_error{fmt::format("rank {} has not told within {:g} s what became of {}: has its process ended?",
                                       rank, limit.value, name)};
}

void RankMeeting::leave() {
  if (!leads()) return store().set(farewell_key(launch_.rank), "");
  store().set(kTold, "");
  if (!is_over_) call({});
  if (!launch_.serves_store()) return;
  for (int rank = 1; rank < launch_.size; ++rank)
    static_cast<void>(wait_for(farewell_key(rank), std::min(kFarewell, limit_)));
}

std::string group_of_round(ranks::Store& store) { return "group/" + store.get(kRound); }

}  // namespace tbench::bench
