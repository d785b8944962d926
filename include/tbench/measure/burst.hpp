// Hides the enqueuing of a short launch from the device: everything is enqueued behind a kernel that spins, and again
// behind a longer one if the device was there first. Knows the device only as a queue of commands, so that its tests
// simulate one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tbench/core/units.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// The first spin, about what it takes to enqueue a launch and its two events; and the longest one.
inline constexpr Seconds kFirstSpin{20e-6};
inline constexpr Seconds kLongestSpin{50e-3};

/// A device's queue. Everything that is enqueued runs in order, none of it waits for the host.
class BurstQueue {
 public:
  virtual ~BurstQueue() = default;
  /// Enqueues writes over at least twice the L2 cache.
  virtual void flush_l2() = 0;
  /// Enqueues a wait of `duration` that uses no memory.
  virtual void spin(Seconds duration) = 0;
  /// Enqueues the record of event number `event`, in place of an earlier record of it.
  virtual void record(std::size_t event) = 0;
  /// Whether the device has got past the latest record of `event`.
  [[nodiscard]] virtual bool has_passed(std::size_t event) = 0;
  /// Device time between two events. Both have been passed.
  [[nodiscard]] virtual Seconds between(std::size_t first, std::size_t last) const = 0;
};

/// One burst: `launches` launches whose times make one sample.
///
/// With a warm cache the launches follow each other between one event at the begin and one at the end; where a launch
/// has several phases there is one at every mark. With flushes or a checker each launch stands alone, between events of
/// its own and behind a flush and a spin of its own, none of which is in the sum. With a checker the spin comes first
/// and lasts until the launch is enqueued: operands, flush and what is perturbed at last lie between the two, and a
/// launch on a stream that does not wait for the timed one reads the operands of the launch before.
class Burst {
 public:
  /// The cost of the launches for the host, without the launches that were made again.
  struct HostTimes {
    Seconds enqueue;
    Seconds cpu;     // processor time of the process meanwhile
    bool exposed{};  // the longest spin was not enough
  };

  /// Events that a burst uses, numbered from 0.
  [[nodiscard]] static std::size_t events(const BurstSetup& setup, std::size_t launches);

  Burst(BurstSetup setup, std::size_t launches) : setup_{setup}, parts_{parts_of(setup, launches)} {}

  /// Enqueues everything. What the device reached before all of it was enqueued is enqueued again, behind a spin twice
  /// as long, at most kLongestSpin.
  /// @param spin  how long to spin; the longer spin stays for the bursts to come
  /// @throws      std::logic_error  if a launch does not mark each of its phases exactly once
  void enqueue(BurstQueue& queue, Seconds& spin, const Step& launch);
  /// Device time of each phase, [phases], mean over the launches. Everything has been passed.
  void read(const BurstQueue& queue, std::span<double> phase_seconds) const;

  [[nodiscard]] const HostTimes& host() const { return host_; }
  /// Returns the number of calls of `launch` since the begin. made_again() lists, by number, the calls that were made
  /// again, which read() leaves out.
  [[nodiscard]] std::size_t calls() const { return calls_; }
  [[nodiscard]] const std::vector<std::size_t>& made_again() const { return made_again_; }

 private:
  /// Launches that follow each other without a flush in between, and how many such parts there are.
  struct Parts {
    std::size_t count{};
    std::size_t launches{};
    std::size_t events{};  // of each: one at the begin, those after marks, and with a checker one behind the spin
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
