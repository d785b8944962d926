#include "model/fused/side_stream.hpp"

#include "tbench/cuda/error.hpp"

namespace tbench::model {
namespace {

cuda::Event make_event() {
  cudaEvent_t event{};
  TBENCH_CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return cuda::Event{event};
}

}  // namespace

SideStream::SideStream()
    : owner_{cuda::make_non_blocking_stream()},
      stream_{c10::cuda::getStreamFromExternal(owner_.get(), c10::cuda::current_device())},
      fork_{make_event()},
      join_{make_event()},
      marks_{make_event(), make_event()} {}

void SideStream::join() {
  record(join_, stream_);
  wait(c10::cuda::getCurrentCUDAStream(), join_);
}

void SideStream::record(const cuda::Event& event, c10::cuda::CUDAStream of) {
  TBENCH_CUDA_CHECK(cudaEventRecord(event.get(), of));
}

void SideStream::wait(c10::cuda::CUDAStream waiting, const cuda::Event& event) {
  TBENCH_CUDA_CHECK(cudaStreamWaitEvent(waiting, event.get(), 0));
}

}  // namespace tbench::model
