// Tells a rank that waits for another one from the one that hangs. On a GPU both stand still in the same way: the one
// that waits does so in the driver, for a collective operation that nobody but its supervisor ends.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tbench/core/units.hpp"
#include "tbench/ranks/store.hpp"

namespace tbench::bench {

/// How far a rank has come: equal at the same point of every rank's program, and never less later on.
using Position = std::function<std::int64_t()>;

struct StallOptions {
  std::string group;  // of the ranks, the same for all of them and for no other case
  int rank{};
  int size{};
  Seconds limit;  // so long a rank has not moved when it stands still; the others then have half as long to say so
};

/// Finds the rank that stands still: each rank leaves its position to the others, and waits for them if one of them is
/// behind, or does not even say where it is.
class StallCheck {
 public:
  /// @param store  outlives the check
  StallCheck(StallOptions options, Position position, ranks::Store& store);

  /// To be called again and again.
  /// @return  whether this rank waits for another one: true once, for as long as it does not move
  /// @throws  as the store
  [[nodiscard]] bool waits_for_another(Seconds now);

 private:
  [[nodiscard]] std::string key_of(int rank) const;
  [[nodiscard]] bool another_is_behind();

  enum class State { kMoves, kHasSaidWhere, kIsDone };

  StallOptions options_;
  Position position_;
  ranks::Store& store_;
  State state_{};
  std::int64_t last_{};
  Seconds since_{};
};

/// The check, in a thread of its own.
class StallWatchdog {
 public:
  /// @param position  is called in that thread
  /// @param open      opens the store, in that thread; without one nothing is watched
  /// @param waits     is called there, once each time that this rank waits for another one
  StallWatchdog(StallOptions options, Position position, std::function<std::unique_ptr<ranks::Store>()> open,
                std::function<void()> waits);
  ~StallWatchdog();
  StallWatchdog(const StallWatchdog&) = delete;
  StallWatchdog& operator=(const StallWatchdog&) = delete;

 private:
  void run(const StallOptions& options, const Position& position,
           const std::function<std::unique_ptr<ranks::Store>()>& open, const std::function<void()>& waits);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_{};
  std::thread thread_;
};

}  // namespace tbench::bench
