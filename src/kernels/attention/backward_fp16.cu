// Instances of the backward kernels for fp16.
#include "backward_16bit_launch.cuh"
#include "launch_16bit.hpp"

namespace tbench::kernels {

void backward_fp16(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream) {
  launch_backward<__half>(problem, arguments, stream);
}

}  // namespace tbench::kernels
