// Owners of C handles. Every CUDA handle of the program has exactly one owner.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "tbench/cuda/error.hpp"

namespace tbench::cuda {

/// Owns a handle of a C library and destroys it with `Destroy`. A failure of `Destroy` goes to the log_failure() for
/// its result type (found by argument-dependent look-up, or the overload for CUDA). Move-only; null after a move.
template <class Handle, auto Destroy>
class UniqueHandle {
 public:
  UniqueHandle() noexcept = default;
  explicit UniqueHandle(Handle handle) noexcept : handle_{handle} {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_{std::exchange(other.handle_, Handle{})} {}
  UniqueHandle& operator=(UniqueHandle other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~UniqueHandle() {
    if (handle_ != Handle{}) {
      log_failure(Destroy(handle_));
    }
  }
  [[nodiscard]] Handle get() const noexcept { return handle_; }

 private:
  Handle handle_{};
};

using Event = UniqueHandle<cudaEvent_t, &cudaEventDestroy>;
using Stream = UniqueHandle<cudaStream_t, &cudaStreamDestroy>;
/// Device memory from cudaMalloc.
using DeviceMemoryBlock = UniqueHandle<void*, &cudaFree>;

/// Makes an event with timing on the current device. Waiting for it spins, which notices its completion soonest.
/// @throws  CudaError
[[nodiscard]] inline Event make_timing_event() {
  cudaEvent_t event{};
  TBENCH_CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDefault));
  return Event{event};
}

/// Allocates memory on the current device. Synchronises.
/// @throws  OutOfMemory, CudaError
[[nodiscard]] inline DeviceMemoryBlock make_device_memory(std::size_t bytes) {
  void* memory{};
  TBENCH_CUDA_CHECK(cudaMalloc(&memory, bytes));
  return DeviceMemoryBlock{memory};
}

/// Makes a stream that neither waits for the legacy default stream nor makes it wait.
/// @throws  CudaError
[[nodiscard]] inline Stream make_non_blocking_stream() {
  cudaStream_t stream{};
  TBENCH_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream{stream};
}

}  // namespace tbench::cuda
