// Distinguishes a rank that waits for another rank from the rank that hangs. On a GPU neither makes progress: the
// waiting rank is blocked in the driver, in a collective operation that only its supervisor can end.
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

/// A rank's progress: equal at the same point of every rank's program, and never decreasing.
using Position = std::function<std::int64_t()>;

struct StallOptions {
  std::string group;  // name of the ranks' group: equal for all its ranks, and different for every case
  int rank{};
  int size{};
  /// The time without progress after which a rank counts as stalled. The others then have half of it to report that
  /// they are stalled, too.
  Seconds limit;
};

/// Finds the rank that hangs: a stalled rank writes its position to the store. It waits for another rank if that rank's
/// position is behind or missing.
class StallCheck {
 public:
  /// Begins to watch the position of this rank.
  /// @param store  store that outlives the check
  StallCheck(StallOptions options, Position position, ranks::Store& store);

  /// Updates the state; call it periodically.
  /// @return  whether this rank waits for another rank: true only once per stall
  /// @throws  the exceptions of the store
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

/// Runs a StallCheck in its own thread.
class StallWatchdog {
 public:
  /// Starts the thread.
  /// @param position  progress of this rank; called in that thread
  /// @param open      opens the store in that thread; if it throws, nothing is watched
  /// @param waits     called in that thread, once each time that this rank waits for another
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
