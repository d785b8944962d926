#include "tbench/model/execution_scope.hpp"

#include <ATen/Context.h>
#include <c10/core/AutogradState.h>

namespace tbench::model {
namespace {

void set_backward_threads(bool enabled) { c10::AutogradState::get_tls_state().set_multithreading_enabled(enabled); }

}  // namespace

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
