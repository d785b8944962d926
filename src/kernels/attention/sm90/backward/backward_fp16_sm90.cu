// Instances of Hopper's backward kernels for fp16.
#include "kernels/attention/sm90/backward/backward_launch_sm90.cuh"

namespace tbench::kernels::sm90 {

void backward_fp16(const AttentionProblem& problem, const AttentionBackward& arguments, BackwardChoice choice,
                   const DeviceLimits& limits, cudaStream_t stream) {
  launch_backward<__half>(problem, arguments, choice, limits, stream);
}

}  // namespace tbench::kernels::sm90
