// Instances of Hopper's backward kernels for bf16.
#include "kernels/attention/sm90/backward/backward_launch_sm90.cuh"

namespace tbench::kernels::sm90 {

void backward_bf16(const AttentionProblem& problem, const AttentionBackward& arguments, BackwardChoice choice,
                   const DeviceLimits& limits, cudaStream_t stream) {
  launch_backward<__nv_bfloat16>(problem, arguments, choice, limits, stream);
}

}  // namespace tbench::kernels::sm90
