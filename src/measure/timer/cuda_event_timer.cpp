#include "tbench/measure/cuda_event_timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <stdexcept>

#include "measure/timer/host_time.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/cuda/flush_and_spin.hpp"

namespace tbench::measure {

namespace {

/// Records the events of one step in order. Counts further marks without recording them.
class EventMarker final : public PhaseMarker {
 public:
  EventMarker(std::span<const cuda::Event> events, cudaStream_t stream) : events_{events}, stream_{stream} {}
  void mark() override {
    if (marks_ < events_.size()) {
      TBENCH_CUDA_CHECK(cudaEventRecord(events_[marks_].get(), stream_));
    }
    ++marks_;
  }
  [[nodiscard]] std::size_t marks() const { return marks_; }

 private:
  std::span<const cuda::Event> events_;
  cudaStream_t stream_;
  std::size_t marks_{};
};

bool has_completed(const cuda::Event& event) {
  const cudaError_t state = cudaEventQuery(event.get());
  if (state == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  TBENCH_CUDA_CHECK(state);
  return true;
}

bool can_persist_l2() {
  int device{};
  TBENCH_CUDA_CHECK(cudaGetDevice(&device));
  int bytes{};
  TBENCH_CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxPersistingL2CacheSize, device));
  return bytes > 0;
}

}  // namespace

/// Host times of one chunk.
struct CudaEventTimer::HostTimes {
  Seconds begin;        // the first event has been recorded on an idle device
  Seconds enqueued;     // the last step's launch has returned
  Seconds event_done;   // the last event is known to have completed
  Seconds idle;         // the device is known to be idle
  bool end_was_seen{};  // whether the host was waiting when the last event completed, so that event_done is that moment
  Seconds cpu;
};

CudaEventTimer::CudaEventTimer(cudaStream_t stream) : stream_{stream} {}

void CudaEventTimer::prepare(std::size_t max_steps, std::size_t phases) {
  phases_ = phases;
  make_events(max_steps * phases + 1);
  if (!cycles_) cycles_.emplace();
}

void CudaEventTimer::make_events(std::size_t count) {
  while (events_.size() < count) {
    events_.push_back(cuda::make_timing_event());
  }
}

CudaEventTimer::HostTimes CudaEventTimer::run(std::size_t count, const Step& step,
                                              const std::function<void()>& while_busy) {
  const cuda::Event& last = events_[count * phases_];
  TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
  HostTimes times;
  const Seconds cpu_begin = process_cpu_now();
  TBENCH_CUDA_CHECK(cudaEventRecord(events_.front().get(), stream_));
  times.begin = steady_now();
  for (std::size_t i = 0; i < count; ++i) {
    EventMarker marker{std::span{events_}.subspan(1 + i * phases_, phases_), stream_};
    step(marker);
    require_marks(i, marker.marks(), phases_);
  }
  times.enqueued = steady_now();
  if (while_busy) {
    while_busy();
  }
  times.end_was_seen = !has_completed(last);
  TBENCH_CUDA_CHECK(cudaEventSynchronize(last.get()));
  times.event_done = steady_now();
  TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
  times.idle = steady_now();
  times.cpu = process_cpu_now() - cpu_begin;
  return times;
}

Seconds CudaEventTimer::between(std::size_t first, std::size_t last) const {
  float milliseconds{};
  TBENCH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, events_[first].get(), events_[last].get()));
  return {static_cast<double>(milliseconds) * 1e-3};
}

Chunk CudaEventTimer::time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) {
  const std::size_t marks = count * phases_;
  if (marks == 0 || marks + 1 > events_.size()) {
    throw std::logic_error{fmt::format("{} steps of {} phases asked of a timer prepared for {} events: call prepare()",
                                       count, phases_, events_.size())};
  }
  cycles_->begin();
  const HostTimes times = run(count, step, while_busy);
  const auto counted = cycles_->end();

  Chunk chunk;
  chunk.cycles = counted ? counted->cycles : 0.0;
  chunk.counted = counted ? counted->time : Seconds{};
  chunk.phases = phases_;
  chunk.phase_seconds.reserve(marks);
  for (std::size_t i = 0; i < marks; ++i) {
    chunk.phase_seconds.push_back(between(i, i + 1).value);
  }
  // Reading clocks takes the host some milliseconds. If the device finished meanwhile, its end is not the moment at
  // which the host looked, but follows from the events: an idle device passes the first event as soon as it is
  // recorded.
  const Seconds end =
      times.end_was_seen ? times.event_done : std::min(times.begin + between(0, marks), times.event_done);
  chunk.escaped = times.idle - times.event_done;
  chunk.enqueue = times.enqueued - times.begin;
  chunk.wall = std::max(end, times.enqueued) - times.begin + chunk.escaped;
  chunk.cpu = times.cpu;
  return chunk;
}

void CudaEventTimer::begin_bursts(const BurstSetup& setup) {
  end_bursts();
  if (setup.flush_l2) {
    flush_.emplace();
    flush_l2();
  }
  spin_ = kFirstSpin;
  spin({});  // loads the kernel
  TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
  bursts_ = setup;
  resets_persisting_l2_ = setup.checker != nullptr && can_persist_l2();
}

void CudaEventTimer::end_bursts() noexcept {
  bursts_.reset();
  flush_.reset();
}

/// Waits until the device has finished everything enqueued on any stream.
/// @return  host time of this wait after the last event had completed
Seconds CudaEventTimer::wait_for_burst() {
  TBENCH_CUDA_CHECK(cudaStreamSynchronize(stream_));
  const Seconds event_done = steady_now();
  TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
  return steady_now() - event_done;
}

Chunk CudaEventTimer::time_bursts(std::size_t count, std::size_t launches, const Step& launch,
                                  const std::function<void()>& while_busy) {
  const BurstSetup setup = bursts_.value_or(BurstSetup{.phases = 0});
  require_bursts(setup.phases, count, launches);
  make_events(Burst::events(setup, launches));
  Chunk chunk;
  chunk.phases = setup.phases;
  chunk.launches = launches;
  chunk.phase_seconds.resize(count * setup.phases);
  TBENCH_CUDA_CHECK(cudaDeviceSynchronize());
  const Seconds begin = steady_now();
  std::size_t calls = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (resets_persisting_l2_) {
      // A flush does not evict lines that a kernel has made persistent.
      TBENCH_CUDA_CHECK(cudaCtxResetPersistingL2Cache());
    }
    Burst burst{setup, launches};
    burst.enqueue(*this, spin_, launch);
    if (while_busy && i + 1 == count) {
      while_busy();
    }
    chunk.escaped = std::max(chunk.escaped, wait_for_burst());
    const std::span<double> phases = std::span{chunk.phase_seconds}.subspan(i * setup.phases, setup.phases);
    burst.read(*this, phases);
    const double launch_seconds = std::accumulate(phases.begin(), phases.end(), 0.0);
    sleep_for(cuda::rest_after(Seconds{launch_seconds * static_cast<double>(launches)}));
    chunk.enqueue = chunk.enqueue + burst.host().enqueue;
    chunk.cpu = chunk.cpu + burst.host().cpu;
    chunk.exposed = chunk.exposed || burst.host().exposed;
    for (const std::size_t call : burst.made_again()) chunk.made_again.push_back(calls + call);
    calls += burst.calls();
  }
  chunk.wall = steady_now() - begin;
  return chunk;
}

void CudaEventTimer::flush_l2() { flush_.value().enqueue(stream_); }

void CudaEventTimer::spin(Seconds duration) { cuda::launch_spin(duration, stream_); }

void CudaEventTimer::record(std::size_t event) { TBENCH_CUDA_CHECK(cudaEventRecord(events_[event].get(), stream_)); }

bool CudaEventTimer::has_passed(std::size_t event) { return has_completed(events_[event]); }

Seconds CudaEventTimer::now() const { return steady_now(); }

void CudaEventTimer::wait(Seconds duration) { sleep_for(duration); }

}  // namespace tbench::measure
