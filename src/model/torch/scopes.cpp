#include "model/torch/scopes.hpp"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <c10/core/AutogradState.h>

namespace tbench::model {
namespace {

void set_backward_threads(bool enabled) { c10::AutogradState::get_tls_state().set_multithreading_enabled(enabled); }

}  // namespace

at::ScalarType compute_dtype(Precision precision, at::ScalarType parameters) {
  if (precision == Precision::kBf16) return at::kBFloat16;
  if (precision == Precision::kFp16) return at::kHalf;
  return parameters;
}

Tf32Scope::Tf32Scope(Precision precision) : allowed_before_{at::globalContext().allowTF32CuBLAS()} {
  at::globalContext().setAllowTF32CuBLAS(precision == Precision::kTf32);
}

Tf32Scope::~Tf32Scope() { at::globalContext().setAllowTF32CuBLAS(allowed_before_); }

AutocastScope::AutocastScope(Precision precision, at::DeviceType device)
    : active_{precision == Precision::kBf16 || precision == Precision::kFp16}, device_{device} {
  if (!active_) return;
  enabled_before_ = at::autocast::is_autocast_enabled(device_);
  dtype_before_ = at::autocast::get_autocast_dtype(device_);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::set_autocast_dtype(device_, compute_dtype(precision, at::kFloat));
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (!active_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, enabled_before_);
  at::autocast::set_autocast_dtype(device_, dtype_before_);
}

c10::Device torch_device(DeviceKind kind) {
  return kind == DeviceKind::kCpu ? c10::Device{c10::kCPU} : c10::Device{c10::kCUDA, 0};
}

BackwardOnThisThread::BackwardOnThisThread()
    : before_{c10::AutogradState::get_tls_state().get_multithreading_enabled()} {
  set_backward_threads(false);
}

BackwardOnThisThread::~BackwardOnThisThread() { set_backward_threads(before_); }

DeterministicScope::DeterministicScope(bool deterministic)
    : before_{at::globalContext().deterministicAlgorithms()},
      warn_only_before_{at::globalContext().deterministicAlgorithmsWarnOnly()},
      fill_before_{at::globalContext().deterministicFillUninitializedMemory()} {
  at::globalContext().setDeterministicAlgorithms(deterministic, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

DeterministicScope::~DeterministicScope() {
  at::globalContext().setDeterministicAlgorithms(before_, warn_only_before_);
  at::globalContext().setDeterministicFillUninitializedMemory(fill_before_);
}

}  // namespace tbench::model
