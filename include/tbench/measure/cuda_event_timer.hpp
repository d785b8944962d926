// Times steps on a GPU with events chained between them, and notices work that the events do not enclose.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>

#include "tbench/cuda/cycle_counter.hpp"
#include "tbench/cuda/flush_and_spin.hpp"
#include "tbench/cuda/handle.hpp"
#include "tbench/measure/burst.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// One event before the first step and one at each mark, all on one stream; a phase lasts from the previous event to
/// its own.
///
/// `escaped` is how long the device was still busy, with whatever stream, after the last event had completed: work on
/// another stream that nobody joined shows here, as far as it outlives the last event; what ends before that lies
/// inside the region. It is the host's time for a second wait, for the whole device, after a first one for the last
/// event, so time for which the operating system keeps the thread from running in between adds to it. It cannot show
/// work that ends while `while_busy` still runs: chunks with an empty `while_busy` are the exact ones.
///
/// Times bursts by a Burst, one at a time: the device is idle between them. With an output checker each begins with no
/// persisting line in the L2 cache.
class CudaEventTimer final : public Timer, private BurstQueue {
 public:
  /// @param stream  the steps' stream; null is the legacy default stream. Not owned.
  explicit CudaEventTimer(cudaStream_t stream = nullptr);

  /// @throws  OutOfMemory, CudaError
  void prepare(std::size_t max_steps, std::size_t phases) override;
  /// Synchronises the device before and after.
  /// @throws  CudaError; std::logic_error also if prepare() was for fewer steps
  [[nodiscard]] Chunk time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) override;
  [[nodiscard]] bool can_flush_l2() const override { return true; }
  /// @throws  OutOfMemory, CudaError
  void begin_bursts(const BurstSetup& setup) override;
  /// Synchronises the device before, after, and between the bursts.
  /// @throws  CudaError; std::logic_error
  [[nodiscard]] Chunk time_bursts(std::size_t count, std::size_t launches, const Step& launch,
                                  const std::function<void()>& while_busy) override;
  void end_bursts() noexcept override;
  [[nodiscard]] Seconds now() const override;
  void wait(Seconds duration) override;

 private:
  struct HostTimes;
  [[nodiscard]] HostTimes run(std::size_t count, const Step& step, const std::function<void()>& while_busy);
  void make_events(std::size_t count);
  [[nodiscard]] Seconds wait_for_burst();

  void flush_l2() override;
  void spin(Seconds duration) override;
  void record(std::size_t event) override;
  [[nodiscard]] bool has_passed(std::size_t event) override;
  [[nodiscard]] Seconds between(std::size_t first, std::size_t last) const override;

  cudaStream_t stream_;
  std::size_t phases_{};
  std::vector<cuda::Event> events_;
  std::optional<cuda::CycleCounter> cycles_;  // from the first prepare() on
  std::optional<BurstSetup> bursts_;          // absent outside begin_bursts() and end_bursts()
  std::optional<cuda::L2Flush> flush_;
  bool resets_persisting_l2_{};  // before every burst
  Seconds spin_{kFirstSpin};     // what has been enough since begin_bursts()
};

}  // namespace tbench::measure
