// A second stream for work that runs at the same time as a chain of dependent operations. Nothing in the chain reads
// its results.
#pragma once

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <array>
#include <cstddef>

#include "tbench/cuda/handle.hpp"

namespace tbench::model {

/// A second stream of the device that was current at construction. Its kernels take the SMs that the chain's kernels
/// leave idle, above all in the last wave of a product. All of its work can be captured, provided that join() is, too.
class SideStream {
 public:
  /// The number of marks that can be waited for.
  static constexpr std::size_t kMarks = 2;

  /// @throws  cuda::CudaError, as everything here
  SideStream();

  /// Runs `work` with the second stream as the current stream. What it enqueues starts after everything that is already
  /// in the caller's stream.
  template <class Work>
  void run(const Work& work) {
    record(fork_, c10::cuda::getCurrentCUDAStream());
    wait(stream_, fork_);
    const c10::cuda::CUDAStreamGuard on_this{stream_};
    work();
  }
  /// Marks all work of this stream so far with a number below kMarks.
  void mark(std::size_t number) { record(marks_.at(number), stream_); }
  /// Makes the current stream wait for the last mark with this number. In a capture, only a mark set since it began
  /// counts.
  void wait_for(std::size_t number) { wait(c10::cuda::getCurrentCUDAStream(), marks_.at(number)); }
  /// Makes the current stream wait for all work of this stream.
  void join();

 private:
  static void record(const cuda::Event& event, c10::cuda::CUDAStream of);
  static void wait(c10::cuda::CUDAStream waiting, const cuda::Event& event);

  cuda::Stream owner_;
  c10::cuda::CUDAStream stream_;
  cuda::Event fork_, join_;
  std::array<cuda::Event, kMarks> marks_;
};

}  // namespace tbench::model
