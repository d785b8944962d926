// Sets how LibTorch executes during a scope: TF32, autocast, the thread of the backward pass, and deterministic
// algorithms. Also converts Precision and DeviceKind to LibTorch's types.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include "tbench/core/case.hpp"
#include "tbench/core/enums.hpp"
#include "tbench/model/device.hpp"

namespace tbench::model {

/// Returns the dtype that autocast computes in, or `parameters` if the precision does not use autocast.
[[nodiscard]] at::ScalarType compute_dtype(Precision precision, at::ScalarType parameters);

/// Allows TF32 in matrix products for kTf32 and forbids it for other precisions; the destructor restores the previous
/// setting. Covers a whole step, the backward pass included, since its threads read the same switch.
class Tf32Scope {
 public:
  explicit Tf32Scope(Precision precision);
  ~Tf32Scope();
  Tf32Scope(const Tf32Scope&) = delete;
  Tf32Scope& operator=(const Tf32Scope&) = delete;

 private:
  bool allowed_before_;
};

/// Enables autocast on the calling thread for kBf16 and kFp16; does nothing for other precisions. As with
/// torch.autocast, casts of parameters are cached until the outermost scope ends. Use it for the forward pass and the
/// loss.
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

/// Marks the end of a phase of a step, unless `phases` is null.
inline void mark_phase(PhaseMarker* phases) {
  if (phases != nullptr) phases->mark();
}

/// Runs the backward pass on the calling thread. Switching to the autograd engine's own thread and back costs a
/// host-bound step 4 % of its time (small, ctx 128 and 512, bf16, on an H200: geometric mean of the two cells, with the
/// two binaries run in the order ABBA).
class BackwardOnThisThread {
 public:
  BackwardOnThisThread();
  ~BackwardOnThisThread();
  BackwardOnThisThread(const BackwardOnThisThread&) = delete;
  BackwardOnThisThread& operator=(const BackwardOnThisThread&) = delete;

 private:
  bool before_;
};

/// If `deterministic`, makes operations choose deterministic algorithms in the whole process, and fail if they have
/// none. Unlike PyTorch's own switch, this scope does not fill memory that an operation leaves uninitialised, since the
/// filling would be timed.
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
