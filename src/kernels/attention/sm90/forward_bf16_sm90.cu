// Instances of Hopper's forward kernel for bf16.
#include "kernels/attention/sm90/forward_launch_sm90.cuh"

namespace tbench::kernels::sm90 {

void forward_bf16(const AttentionProblem& problem, const AttentionForward& arguments, ForwardChoice choice,
                  const DeviceLimits& limits, cudaStream_t stream) {
  launch_forward<__nv_bfloat16>(problem, arguments, choice, limits, stream);
}

}  // namespace tbench::kernels::sm90
