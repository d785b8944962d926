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

template <BackwardDealing kDealing>
void enqueue_backward(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream) {
  const auto backward = problem.precision == Precision::kBf16 ? &backward_bf16 : &backward_fp16;
  backward(problem, arguments, kDealing, current_device_limits(), stream);
}

inline BackwardOptions backward_sm90(const AttentionProblem& problem,
                                     BackwardDealing dealing = BackwardDealing::kThereAndBack) {
  BackwardOptions options;
  options.launch =
      BackwardLaunch{dealing == BackwardDealing::kThereAndBack ? &enqueue_backward<BackwardDealing::kThereAndBack>
                                                               : &enqueue_backward<BackwardDealing::kBlockEach>,
                     backward_workspace(problem.shape).bytes()};
  return options;
}

}  // namespace tbench::kernels::sm90
