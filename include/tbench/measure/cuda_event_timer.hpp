// Times steps on a GPU with events chained between them, and notices work that the events do not enclose.
#pragma once

#include <cuda_runtime_api.h>

#include "tbench/cuda/handle.hpp"
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
class CudaEventTimer final : public Timer {
 public:
  /// @param stream  the steps' stream; null is the legacy default stream. Not owned.
  explicit CudaEventTimer(cudaStream_t stream = nullptr);

  /// @throws  CudaError
  void prepare(std::size_t max_steps, std::size_t phases) override;
  /// Synchronises the device before and after.
  /// @throws  CudaError; std::logic_error also if prepare() was for fewer steps
  [[nodiscard]] Chunk time_steps(std::size_t count, const Step& step, const std::function<void()>& while_busy) override;
  [[nodiscard]] Seconds now() const override;
  void wait(Seconds duration) override;

 private:
  struct HostTimes;
  [[nodiscard]] HostTimes run(std::size_t count, const Step& step, const std::function<void()>& while_busy);
  [[nodiscard]] Seconds between(std::size_t first, std::size_t last) const;

  cudaStream_t stream_;
  std::size_t phases_{};
  std::vector<cuda::Event> events_;
};

}  // namespace tbench::measure
