// Hopper's backward kernels at every shape, whether or not the dispatch would choose them there.
#pragma once

#include "kernels/attention/sm90/backward/backward_plan_sm90.hpp"
#include "support/attention_run.hpp"
#include "tbench/cuda/device.hpp"

namespace tbench::kernels::sm90 {

inline bool runs_here() {
  if (cuda::device_count() == 0) return false;
  const DeviceLimits limits = current_device_limits();
  return limits.compute_capability_major == 9 && limits.compute_capability_minor == 0;
}

inline BackwardOptions backward_sm90(const AttentionProblem& problem) {
  BackwardOptions options;
  options.launch = BackwardLaunch{problem.precision == Precision::kBf16 ? &backward_bf16 : &backward_fp16,
                                  backward_workspace(problem.shape).bytes()};
  return options;
}

}  // namespace tbench::kernels::sm90
