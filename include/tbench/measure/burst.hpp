// Hides the enqueuing of a short launch from the device: a spin kernel keeps the device busy until everything is
// enqueued. If the device finishes the spin too early, the launches are enqueued again after a longer spin. The device
// is only a queue of commands here, so that tests can simulate one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tbench/core/units.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// The first spin, about the time to enqueue a launch and its two events, and the longest spin.
inline constexpr Seconds kFirstSpin{20e-6};
inline constexpr Seconds kLongestSpin{50e-3};

/// A device's queue. Commands run in the order in which they are enqueued, and no call waits for the device.
class BurstQueue {
 public:
  virtual ~BurstQueue() = default;
  /// Enqueues writes over at least twice the L2 cache.
  virtual void flush_l2() = 0;
  /// Enqueues a wait of `duration` that uses no memory.
  virtual void spin(Seconds duration) = 0;
  /// Enqueues a record of event number `event`, which replaces an earlier record of that event.
  virtual void record(std::size_t event) = 0;
  /// Whether the device has got past the latest record of `event`.
  [[nodiscard]] virtual bool has_passed(std::size_t event) = 0;
  /// Device time between two events, both of which the device has passed.
  [[nodiscard]] virtual Seconds between(std::size_t first, std::size_t last) const = 0;
};

/// One burst: `launches` launches whose times make one sample.
///
/// With a warm cache the launches follow each other between one event at the beginning and one at the end; if a launch
/// has several phases, an event is recorded at every mark. With flushes or a checker each launch has its own flush,
/// spin and events, and the time of the flush and the spin does not count. With a checker the spin comes before the
/// flush and lasts until the launch is enqueued; the operands are redrawn, the cache flushed and some operands
/// perturbed between the spin and the launch. A launch on a stream that does not wait for the timed stream thus reads
/// the operands of the previous launch.
class Burst {
 public:
  /// The host's cost of the launches, excluding launches that were repeated later.
  struct HostTimes {
    Seconds enqueue;
    Seconds cpu;     // processor time of the process while enqueuing
    bool exposed{};  // whether the longest spin was too short
  };

  /// Returns the number of events that a burst uses; events are numbered from 0.
  [[nodiscard]] static std::size_t events(const BurstSetup& setup, std::size_t launches);

  Burst(BurstSetup setup, std::size_t launches) : setup_{setup}, parts_{parts_of(setup, launches)} {}

  /// Enqueues the burst. Launches that the device reached too early are enqueued again after a spin twice as long, at
  /// most kLongestSpin.
  /// @param spin  duration of a spin; keeps the longer value for later bursts
  /// @throws  std::logic_error  if a launch does not mark each of its phases exactly once
  void enqueue(BurstQueue& queue, Seconds& spin, const Step& launch);
  /// Writes the device time of each phase, [phases], averaged over the launches. The device must have passed all
  /// events.
  void read(const BurstQueue& queue, std::span<double> phase_seconds) const;

  [[nodiscard]] const HostTimes& host() const { return host_; }
  /// Returns the number of calls of `launch` since the last enqueue() began. made_again() lists, by number, the calls
  /// that were repeated; read() leaves them out.
  [[nodiscard]] std::size_t calls() const { return calls_; }
  [[nodiscard]] const std::vector<std::size_t>& made_again() const { return made_again_; }

 private:
  /// The groups of launches without a flush or checker in between: their number, and the launches and events of each.
  struct Parts {
    std::size_t count{};
    std::size_t launches{};
    std::size_t events{};  // in each part: at the beginning, at marks, and with a checker after the spin
  };
  [[nodiscard]] static Parts parts_of(const BurstSetup& setup, std::size_t launches);
  void enqueue_before(BurstQueue& queue, Seconds spin, std::size_t guard) const;
  [[nodiscard]] HostTimes enqueue_part(BurstQueue& queue, Seconds spin, const Step& launch, std::size_t begin);

  BurstSetup setup_;
  Parts parts_;
  HostTimes host_;
  std::size_t calls_{};
  std::vector<std::size_t> made_again_;
};

}  // namespace tbench::measure
