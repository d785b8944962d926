// Times a chunk of back-to-back steps, or of bursts of launches apart from each other. Two implementations: CUDA events
// (cuda_event_timer.hpp), and a steady clock where there is no GPU: a step has run when its launch returns.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/core/units.hpp"

namespace tbench::measure {

/// Times of one chunk of n steps, or of n bursts, with p phases each.
struct Chunk {
  /// [n, p], row by row: from the previous mark to this one. For a burst: the mean over its launches.
  std::vector<double> phase_seconds;
  std::size_t phases{};
  std::size_t launches{1};  // of a burst, in each row
  Seconds wall;             // host: from before the first step to the device's end
  Seconds enqueue;  // host: from before the first step to after the last was enqueued; of bursts: launches alone
  Seconds cpu;      // processor time of the process over `wall`; of bursts: over `enqueue`
  /// Device time that passed after the last mark before the device was idle: work that the marks do not enclose. For
  /// bursts: after the one for which it was longest.
  Seconds escaped;
  bool exposed{};  // of bursts: the device reached a launch before all of it was enqueued, in spite of the longest spin
  /// Cycles of the multiprocessors' clock, and the time for which they were counted: the steps, and a moment before and
  /// behind them. 0: not counted, which is so for bursts, between which the device rests.
  double cycles{};
  Seconds counted{};
  /// Calls of `launch` of a burst, by number, that were made again because the device reached them too early. No row
  /// has them.
  std::vector<std::size_t> made_again;

  [[nodiscard]] std::size_t steps() const { return phases == 0 ? 0 : phase_seconds.size() / phases; }
  [[nodiscard]] double step_seconds(std::size_t step) const;
};

using Step = std::function<void(PhaseMarker&)>;

/// The settings that the bursts of a case share.
struct BurstSetup {
  std::size_t phases{1};
  bool flush_l2{};           // before every launch
  LaunchChecker* checker{};  // of every launch, outlives the bursts; null: none

  /// Whether something comes between two launches that is not timed.
  [[nodiscard]] bool has_launches_apart() const { return flush_l2 || checker != nullptr; }
};

class Timer {
 public:
  virtual ~Timer() = default;

  /// Makes whatever time_steps() needs for up to `max_steps` steps of `phases` phases, so that nothing is created
  /// inside a timed region.
  virtual void prepare(std::size_t max_steps, std::size_t phases) = 0;

  /// Runs `step` `count` times back to back, without synchronising in between, and waits for the end.
  /// @param while_busy  called once everything is enqueued, before waiting: the moment to read clocks
  /// @throws  std::logic_error  if a step does not mark each of its phases exactly once
  [[nodiscard]] virtual Chunk time_steps(std::size_t count, const Step& step,
                                         const std::function<void()>& while_busy) = 0;

  /// Whether bursts can meet a cold L2 cache; without that caches are left as they are.
  [[nodiscard]] virtual bool can_flush_l2() const = 0;
  /// Makes what bursts need: loads kernels, allocates the memory that a flush writes. Synchronises.
  virtual void begin_bursts(const BurstSetup& setup) = 0;
  /// Runs `count` bursts of `launches` calls of `launch`, and waits for the end of each.
  /// @param while_busy  called once the last burst is enqueued, before waiting for it
  /// @throws  std::logic_error  without begin_bursts(), for no launches, or if a launch does not mark each of its
  ///                            phases exactly once
  [[nodiscard]] virtual Chunk time_bursts(std::size_t count, std::size_t launches, const Step& launch,
                                          const std::function<void()>& while_busy) = 0;
  /// Gives back the memory of begin_bursts(). Does nothing without one.
  virtual void end_bursts() noexcept = 0;

  /// Host time from an arbitrary origin.
  [[nodiscard]] virtual Seconds now() const = 0;
  /// Whether now() goes on between chunks, so that it can time what is done there.
  [[nodiscard]] virtual bool is_continuous() const { return true; }
  /// Waits on the host, e.g. for a hot device to cool.
  virtual void wait(Seconds duration) = 0;
};

/// The timer made ready for bursts, until the end of a scope.
class BurstScope {
 public:
  BurstScope(Timer& timer, const BurstSetup& setup) : timer_{timer} { timer_.begin_bursts(setup); }
  ~BurstScope() { timer_.end_bursts(); }
  BurstScope(const BurstScope&) = delete;
  BurstScope& operator=(const BurstScope&) = delete;

 private:
  Timer& timer_;
};

/// There is no queue here: `enqueue` is 0, `wall` is all drain, and nothing can escape. `while_busy` is called after
/// the last step, outside the times. Work that a step hands to other threads must have ended when its launch returns.
/// There is nothing to hide a launch from either: bursts are so many steps, and caches stay as they are.
class SteadyClockTimer final : public Timer {
 public:
  void prepare(std::size_t max_steps, std::size_t phases) override;
  [[nodiscard]] Chunk time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) override;
  [[nodiscard]] bool can_flush_l2() const override { return false; }
  /// @throws  std::logic_error  if a flush is asked for
  void begin_bursts(const BurstSetup& setup) override;
  [[nodiscard]] Chunk time_bursts(std::size_t count, std::size_t launches, const Step& launch,
                                  const std::function<void()>& while_busy) override;
  void end_bursts() noexcept override { bursts_ = {.phases = 0}; }
  [[nodiscard]] Seconds now() const override;
  void wait(Seconds duration) override;

 private:
  [[nodiscard]] Chunk run(std::size_t count, const BurstSetup& setup, const Step& step,
                          const std::function<void()>& while_busy);

  std::size_t phases_{};
  BurstSetup bursts_{.phases = 0};      // no phases outside begin_bursts() and end_bursts()
  std::vector<double> marks_;           // moments of the marks, kept to allocate nothing inside the timed region
  std::vector<double> watched_begins_;  // moments at which launches with a checker began
};

}  // namespace tbench::measure
