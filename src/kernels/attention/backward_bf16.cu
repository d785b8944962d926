// Instances of the backward kernels for bf16.
#include "backward_16bit_launch.cuh"
#include "launch_16bit.hpp"

namespace tbench::kernels {

void backward_bf16(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream) {
  launch_backward<__nv_bfloat16>(problem, arguments, stream);
}

}  // namespace tbench::kernels
