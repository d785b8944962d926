// What a Precision means to LibTorch: the TF32 switch of the whole process, and autocast of the calling thread.
#pragma once

#include <ATen/core/Tensor.h>

#include "tbench/core/precision.hpp"

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

}  // namespace tbench::model
