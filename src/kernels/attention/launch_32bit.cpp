// The two precisions of float32 storage behind one set of functions.
#include "launch_32bit.hpp"

#include "plan_32bit.hpp"

namespace tbench::kernels {

void forward_32bit(const AttentionProblem& problem, const AttentionForward& arguments, cudaStream_t stream) {
  (problem.precision == Precision::kTf32 ? &forward_tf32 : &forward_fp32)(problem, arguments, stream);
}

void backward_32bit(const AttentionProblem& problem, const AttentionBackward& arguments, cudaStream_t stream) {
  (problem.precision == Precision::kTf32 ? &backward_tf32 : &backward_fp32)(problem, arguments, stream);
}

std::size_t backward_32bit_workspace_bytes(const AttentionProblem& problem, const DeviceLimits& limits) {
  return backward_32bit_delta_bytes(problem, limits);
}

}  // namespace tbench::kernels
