// Instances of the backward kernels for float32 storage with float32 accuracy.
#include "backward_32bit_launch.cuh"
#include "launch_32bit.hpp"

namespace tbench::kernels {

void backward_fp32(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream) {
  launch_backward_32bit<true>(problem, arguments, stream);
}

}  // namespace tbench::kernels
