// How LibTorch executes, for the length of a scope: the thread of the backward pass, deterministic algorithms. And what
// a DeviceKind is to it.
#pragma once

#include <c10/core/Device.h>

#include "tbench/model/device.hpp"

namespace tbench::model {

[[nodiscard]] c10::Device torch_device(DeviceKind kind);

/// Backward on the calling thread: handing over to the autograd engine's own thread and back costs a host-bound step 4
/// % (small, ctx 128 and 512, bf16, on an H200: geometric mean of two cells, the two binaries run ABBA).
class BackwardOnThisThread {
 public:
  BackwardOnThisThread();
  ~BackwardOnThisThread();
  BackwardOnThisThread(const BackwardOnThisThread&) = delete;
  BackwardOnThisThread& operator=(const BackwardOnThisThread&) = delete;

 private:
  bool before_;
};

/// Makes operations choose deterministic algorithms in the whole process, and fail where they have none. Memory that an
/// operation leaves uninitialised is not filled, as PyTorch's own switch would: that would be timed.
class DeterministicScope {
 public:
  explicit DeterministicScope(bool deterministic);
  ~DeterministicScope();
  DeterministicScope(const DeterministicScope&) = delete;
  DeterministicScope& operator=(const DeterministicScope&) = delete;

 private:
  bool before_, warn_only_before_, fill_before_;
};

}  // namespace tbench::model
