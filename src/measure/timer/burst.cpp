#include "tbench/measure/burst.hpp"

#include <algorithm>

#include "measure/timer/host_time.hpp"

namespace tbench::measure {

namespace {

/// Records an event at each of the first `events` marks of a launch, and counts all marks.
class BurstMarker final : public PhaseMarker {
 public:
  /// Marks one launch.
  /// @param events  number of events to record, from `first_event` on; 0 for a launch whose end is not timed
  BurstMarker(BurstQueue& queue, std::size_t first_event, std::size_t events)
      : queue_{queue}, first_event_{first_event}, events_{events} {}
  void mark() override {
    if (marks_ < events_) {
      queue_.record(first_event_ + marks_);
    }
    ++marks_;
  }
  [[nodiscard]] std::size_t marks() const { return marks_; }

 private:
  BurstQueue& queue_;
  std::size_t first_event_;
  std::size_t events_;
  std::size_t marks_{};
};

}  // namespace

Burst::Parts Burst::parts_of(const BurstSetup& setup, std::size_t launches) {
  const bool apart = setup.has_launches_apart();
  const std::size_t count = apart ? launches : 1;
  const std::size_t in_each = apart ? 1 : launches;
  // An event between two launches adds to their time, so that there is none unless it is needed.
  const std::size_t marks = setup.phases == 1 ? 1 : in_each * setup.phases;
  const std::size_t guards = setup.checker == nullptr ? 0 : 1;
  return {.count = count, .launches = in_each, .events = 1 + marks + guards};
}

std::size_t Burst::events(const BurstSetup& setup, std::size_t launches) {
  const Parts parts = parts_of(setup, launches);
  return parts.count * parts.events;
}

/// Enqueues the spin, the flush and the checker's work before a launch. With a checker everything else comes after the
/// spin: a launch on a stream that does not wait for the timed stream runs during the spin, and reads the operands as
/// they were before.
void Burst::enqueue_before(BurstQueue& queue, Seconds spin, std::size_t guard) const {
  if (setup_.checker == nullptr) {
    if (setup_.flush_l2) {
      queue.flush_l2();
    }
    queue.spin(spin);
    return;
  }
  queue.spin(spin);
  queue.record(guard);
  setup_.checker->redraw();
  if (setup_.flush_l2) {
    queue.flush_l2();
  }
  setup_.checker->perturb();
}

Burst::HostTimes Burst::enqueue_part(BurstQueue& queue, Seconds spin, const Step& launch, std::size_t begin) {
  const std::size_t guard = begin + parts_.events - 1;  // the event after the spin; recorded only with a checker
  enqueue_before(queue, spin, guard);
  HostTimes times;
  const Seconds cpu_begin = process_cpu_now();
  const Seconds host_begin = steady_now();
  queue.record(begin);
  std::size_t next_event = begin + 1;
  for (std::size_t i = 0; i < parts_.launches; ++i) {
    const bool is_last = i + 1 == parts_.launches;
    const std::size_t events = setup_.phases > 1 || is_last ? setup_.phases : 0;
    BurstMarker marker{queue, next_event, events};
    ++calls_;
    launch(marker);
    require_marks(i, marker.marks(), setup_.phases);
    next_event += events;
  }
  times.enqueue = steady_now() - host_begin;
  times.exposed = queue.has_passed(setup_.checker == nullptr ? begin : guard);
  times.cpu = process_cpu_now() - cpu_begin;
  if (setup_.checker != nullptr) {
    setup_.checker->after();
  }
  return times;
}

void Burst::enqueue(BurstQueue& queue, Seconds& spin, const Step& launch) {
  host_ = {};
  calls_ = 0;
  made_again_.clear();
  for (std::size_t part = 0; part < parts_.count; ++part) {
    const std::size_t begin = part * parts_.events;
    HostTimes times = enqueue_part(queue, spin, launch, begin);
    while (times.exposed && spin < kLongestSpin) {
      spin = std::min(spin * 2.0, kLongestSpin);
      for (std::size_t call = calls_ - parts_.launches; call < calls_; ++call) made_again_.push_back(call);
      times = enqueue_part(queue, spin, launch, begin);
    }
    host_.enqueue = host_.enqueue + times.enqueue;
    host_.cpu = host_.cpu + times.cpu;
    host_.exposed = host_.exposed || times.exposed;
  }
}

void Burst::read(const BurstQueue& queue, std::span<double> phase_seconds) const {
  std::ranges::fill(phase_seconds, 0.0);
  const std::size_t marks = parts_.events - (setup_.checker == nullptr ? 1 : 2);
  for (std::size_t part = 0; part < parts_.count; ++part) {
    const std::size_t begin = part * parts_.events;
    for (std::size_t mark = 0; mark < marks; ++mark) {
      phase_seconds[mark % setup_.phases] += queue.between(begin + mark, begin + mark + 1).value;
    }
  }
  for (double& seconds : phase_seconds) {
    seconds /= static_cast<double>(parts_.count * parts_.launches);
  }
}

}  // namespace tbench::measure
