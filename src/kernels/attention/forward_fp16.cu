// Instances of the forward kernel for fp16.
#include "forward_16bit_launch.cuh"
#include "launch_16bit.hpp"

namespace tbench::kernels {

void forward_fp16(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream) {
  launch_forward<__half>(problem, arguments, stream);
}

}  // namespace tbench::kernels
