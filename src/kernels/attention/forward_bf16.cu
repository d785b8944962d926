// Instances of the forward kernel for bf16.
#include "forward_16bit_launch.cuh"
#include "launch_16bit.hpp"

namespace tbench::kernels {

void forward_bf16(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream) {
  launch_forward<__nv_bfloat16>(problem, arguments, stream);
}

}  // namespace tbench::kernels
