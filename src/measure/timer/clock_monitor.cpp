#include "tbench/measure/clock_monitor.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "measure/timer/host_time.hpp"

namespace tbench::measure {

/// The polling thread and its readings. NVML allows calls from several threads at once.
class NvmlClockMonitor::Poller {
 public:
  explicit Poller(const cuda::NvmlDevice& device)
      : device_{device}, thread_{[this](const std::stop_token& stop) { run(stop); }} {}

  std::vector<PolledClock> finish() {
    thread_.request_stop();
    thread_.join();
    return std::move(noted_);
  }

 private:
  void run(const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock{mutex};
    std::condition_variable_any wake;
    while (!stop.stop_requested()) {
      const Seconds now = steady_now();
      if (const std::optional<Hertz> clock = device_.sm_clock()) {
        noted_.push_back({.at = now, .sm_clock = *clock, .power = device_.power()});
      }
      wake.wait_for(lock, stop, std::chrono::duration<double>(kPollInterval.value), [] { return false; });
    }
  }

  const cuda::NvmlDevice& device_;
  std::vector<PolledClock> noted_;  // owned by the thread until it ends
  std::jthread thread_;             // the last member, because the thread uses the others
};

NvmlClockMonitor::NvmlClockMonitor(cuda::NvmlDevice device) : device_{std::move(device)} {}

NvmlClockMonitor::~NvmlClockMonitor() = default;

void NvmlClockMonitor::start_polling() {
  if (device_.is_known()) poller_ = std::make_unique<Poller>(device_);
}

std::vector<PolledClock> NvmlClockMonitor::stop_polling() {
  if (!poller_) return {};
  std::vector<PolledClock> noted = poller_->finish();
  poller_.reset();
  return noted;
}

ClockReading NvmlClockMonitor::read() {
  ClockReading reading;
  // Read the clock first, because the other queries take time, in which a short chunk may end.
  reading.sm_clock = device_.sm_clock();
  if (const auto reasons = device_.clock_event_reasons()) {
    reading.throttle_reasons = cuda::clock_event_reason_names(*reasons);
    std::erase(reading.throttle_reasons, "gpu_idle");
    reading.invalidates = cuda::makes_times_invalid(*reasons);
  }
  reading.power = device_.power();
  reading.temperature_c = device_.temperature_c();
  return reading;
}

std::optional<Joules> NvmlClockMonitor::total_energy() { return device_.total_energy(); }

}  // namespace tbench::measure
