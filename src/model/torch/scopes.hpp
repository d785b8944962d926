// How LibTorch executes, for the length of a scope: TF32, autocast, the thread of the backward pass, deterministic
// algorithms. And what a Precision and a DeviceKind are to it.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

/// The dtype that autocast computes in, or `parameters` where the precision knows no autocast.
[[nodiscard]] at::ScalarType compute_dtype(Precision precision, at::ScalarType parameters);

/// Allows TF32 in matrix products exactly for kTf32; restores what was set before. Covers a whole step, the backward
/// pass included: its threads read the same switch.
class Tf32Scope {
 public:
  explicit Tf32Scope(Precision precision);
  ~Tf32Scope();
  Tf32Scope(const Tf32Scope&) = delete;
  Tf32Scope& operator=(const Tf32Scope&) = delete;

 private:
  bool allowed_before_;
};

/// Autocast of the calling thread for kBf16 and kFp16, as torch.autocast does it: the casts of parameters are kept
/// until the outermost scope ends. Nothing for the other precisions. Covers the forward pass and the loss.
class AutocastScope {
 public:
  AutocastScope(Precision precision, at::DeviceType device);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  bool active_;
  at::DeviceType device_;
  bool enabled_before_{};
  at::ScalarType dtype_before_{};
};

[[nodiscard]] c10::Device torch_device(DeviceKind kind);

/// Marks the end of a phase of a step, if anyone asked for marks.
inline void mark_phase(PhaseMarker* phases) {
  if (phases != nullptr) phases->mark();
}

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
