// Times steps on a GPU with events recorded between them, and detects work that the events do not enclose.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>

#include "tbench/cuda/cycle_counter.hpp"
#include "tbench/cuda/flush_and_spin.hpp"
#include "tbench/cuda/handle.hpp"
#include "tbench/measure/burst.hpp"
#include "tbench/measure/timer.hpp"

namespace tbench::measure {

/// Records one event before the first step and one at each mark, all on one stream. A phase lasts from the previous
/// event to the event at its own mark.
///
/// `escaped` is the time for which the device was still busy, on any stream, after the last event had completed. It
/// shows work on another stream that nobody joined, as far as that work outlives the last event; work that ends earlier
/// lies inside the timed region. It is host time: how long a wait for the whole device takes after the wait for the
/// last event, including any time for which the operating system suspends the thread in between. Work that ends while
/// `while_busy` still runs goes unseen, so that only chunks with an empty `while_busy` are exact.
///
/// Times bursts with a Burst, one at a time; the device is idle between two bursts. With an output checker each burst
/// begins with no persisting lines in the L2 cache.
class CudaEventTimer final : public Timer, private BurstQueue {
 public:
  /// Makes a timer for steps on one stream.
  /// @param stream  the steps' stream; null selects the legacy default stream. Not owned.
  explicit CudaEventTimer(cudaStream_t stream = nullptr);

  /// Creates the events and loads the cycle counter.
  /// @throws  OutOfMemory, CudaError
  void prepare(std::size_t max_steps, std::size_t phases) override;
  /// Synchronises the device before and after.
  /// @throws  CudaError; std::logic_error  for wrong marks, or if prepare() was called for fewer steps
  [[nodiscard]] Chunk time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) override;
  [[nodiscard]] bool can_flush_l2() const override { return true; }
  /// Allocates the memory of the flush and loads the kernels of bursts.
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
  std::optional<cuda::CycleCounter> cycles_;  // made by the first prepare()
  std::optional<BurstSetup> bursts_;          // absent except between begin_bursts() and end_bursts()
  std::optional<cuda::L2Flush> flush_;
  bool resets_persisting_l2_{};  // whether to reset them before every burst
  Seconds spin_{kFirstSpin};     // the spin that has been long enough since begin_bursts()
};

}  // namespace tbench::measure
