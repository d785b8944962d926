// Times a chunk of back-to-back steps, or of separate bursts of launches. Two implementations measure by themselves:
// CUDA events (cuda_event_timer.hpp), and a steady clock for cases on the CPU, whose steps have run when launch()
// returns. agreed_timer.hpp wraps one of them for a case of several processes.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tbench/core/case.hpp"
#include "tbench/core/units.hpp"

namespace tbench::measure {

/// Times of one chunk of n steps, or of n bursts, with p phases each.
struct Chunk {
  /// Device time from the previous mark to this one, [n, p], row-major. For a burst: the mean over its launches.
  std::vector<double> phase_seconds;
  std::size_t phases{};
  std::size_t launches{1};  // launches per burst
  Seconds wall;             // host time from before the first step until the device has finished
  Seconds enqueue;  // host time from before the first step until the last is enqueued; for bursts: of the launches only
  Seconds cpu;      // processor time of the process during `wall`; for bursts: during `enqueue`
  /// Device time from the last mark until the device was idle, i.e. work that the marks do not enclose. For bursts: the
  /// longest such time of any burst.
  Seconds escaped;
  /// For bursts: whether the device reached a launch before it was fully enqueued, despite the longest spin.
  bool exposed{};
  /// SM clock cycles, and the time over which they were counted: the steps and a moment before and after them. 0 if not
  /// counted, as for bursts, between which the device rests.
  double cycles{};
  Seconds counted{};
  /// Numbers of those calls of a burst's `launch` that were repeated because the device reached them too early. They
  /// are not in any row.
  std::vector<std::size_t> made_again;

  [[nodiscard]] std::size_t steps() const { return phases == 0 ? 0 : phase_seconds.size() / phases; }
  [[nodiscard]] double step_seconds(std::size_t step) const;
};

using Step = std::function<void(PhaseMarker&)>;

/// The settings that the bursts of a case share.
struct BurstSetup {
  std::size_t phases{1};
  bool flush_l2{};           // before every launch
  LaunchChecker* checker{};  // checks every launch and outlives the bursts; null: no check

  /// Whether untimed work lies between two launches.
  [[nodiscard]] bool has_launches_apart() const { return flush_l2 || checker != nullptr; }
};

class Timer {
 public:
  virtual ~Timer() = default;

  /// Creates everything that time_steps() needs for up to `max_steps` steps of `phases` phases, so that nothing is
  /// created inside a timed region.
  virtual void prepare(std::size_t max_steps, std::size_t phases) = 0;

  /// Runs `step` `count` times back to back, without synchronising in between, and waits until all steps have finished.
  /// @param while_busy  called after everything is enqueued and before waiting: the moment to read clocks
  /// @throws  std::logic_error  if a step does not mark each of its phases exactly once
  [[nodiscard]] virtual Chunk time_steps(std::size_t count, const Step& step,
                                         const std::function<void()>& while_busy) = 0;

  /// Whether bursts can start with a cold L2 cache. If not, caches are left as they are.
  [[nodiscard]] virtual bool can_flush_l2() const = 0;
  /// Prepares for bursts: loads kernels and allocates the memory that a flush writes. Synchronises.
  virtual void begin_bursts(const BurstSetup& setup) = 0;
  /// Runs `count` bursts of `launches` calls of `launch` and waits for the end of each burst.
  /// @param while_busy  called after the last burst is enqueued and before waiting for it
  /// @throws  std::logic_error  if begin_bursts() was not called, `launches` is 0, or a launch does not mark each of
  ///                            its phases exactly once
  [[nodiscard]] virtual Chunk time_bursts(std::size_t count, std::size_t launches, const Step& launch,
                                          const std::function<void()>& while_busy) = 0;
  /// Frees the memory that begin_bursts() allocated. Does nothing if begin_bursts() was not called.
  virtual void end_bursts() noexcept = 0;

  /// Host time from an arbitrary origin.
  [[nodiscard]] virtual Seconds now() const = 0;
  /// Whether now() advances between chunks, so that it can time the work done there.
  [[nodiscard]] virtual bool is_continuous() const { return true; }
  /// Waits on the host, e.g. for a hot device to cool.
  virtual void wait(Seconds duration) = 0;
};

/// Keeps a timer prepared for bursts until the end of the scope.
class BurstScope {
 public:
  BurstScope(Timer& timer, const BurstSetup& setup) : timer_{timer} { timer_.begin_bursts(setup); }
  ~BurstScope() { timer_.end_bursts(); }
  BurstScope(const BurstScope&) = delete;
  BurstScope& operator=(const BurstScope&) = delete;

 private:
  Timer& timer_;
};

/// Times steps on the CPU. There is no queue: `enqueue` is 0, the drain is all of `wall`, and nothing can escape.
/// `while_busy` is called after the last step, outside the times. Work that a step hands to other threads must have
/// ended when launch() returns. A launch needs no hiding either: a burst is simply that many steps, and caches stay as
/// they are.
class SteadyClockTimer final : public Timer {
 public:
  void prepare(std::size_t max_steps, std::size_t phases) override;
  [[nodiscard]] Chunk time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) override;
  [[nodiscard]] bool can_flush_l2() const override { return false; }
  /// Prepares for bursts without flushes.
  /// @throws  std::logic_error  if a flush is requested
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
  BurstSetup bursts_{.phases = 0};      // 0 phases outside begin_bursts() and end_bursts()
  std::vector<double> marks_;           // times of the marks, kept so that nothing is allocated inside the timed region
  std::vector<double> watched_begins_;  // times at which launches with a checker began
};

}  // namespace tbench::measure
