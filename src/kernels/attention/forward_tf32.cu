// Instances of the forward kernel for float32 storage with products of TF32.
#include "forward_32bit_launch.cuh"
#include "launch_32bit.hpp"

namespace tbench::kernels {

void forward_tf32(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream) {
  launch_forward_32bit<false>(problem, arguments, stream);
}

}  // namespace tbench::kernels
