// Work beside a chain of operations, of which each waits for the one before: nothing in the chain reads its results.
#pragma once

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <array>
#include <cstddef>

#include "tbench/cuda/handle.hpp"

namespace tbench::model {

/// A second stream of the device that was current when it was made. Its kernels take the multiprocessors that the
/// chain's leave idle, in the last wave of a product above all. All of it can be captured, if join() is.
class SideStream {
 public:
  /// Marks that can be waited for.
  static constexpr std::size_t kMarks = 2;

  /// @throws  cuda::CudaError, as everything here
  SideStream();

  /// `work` enqueues on the current stream, which is the second one here: behind everything that the caller's holds.
  template <class Work>
  void run(const Work& work) {
    record(fork_, c10::cuda::getCurrentCUDAStream());
    wait(stream_, fork_);
    const c10::cuda::CUDAStreamGuard on_this{stream_};
    work();
  }
  /// Everything that runs beside so far has this number, below kMarks.
  void mark(std::size_t number) { record(marks_.at(number), stream_); }
  /// The current stream waits for what was marked last with this number: since a capture began, where one did.
  void wait_for(std::size_t number) { wait(c10::cuda::getCurrentCUDAStream(), marks_.at(number)); }
  /// The current stream waits for everything that runs beside it.
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
